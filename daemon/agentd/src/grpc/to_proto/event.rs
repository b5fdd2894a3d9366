//! Events.

use agentd_domain::{
    AssistantMessage, AttemptRestarted, EffortChanged, Event, EventBody, MemoriesExtracted,
    MemoriesTold, MessageAccepted, MessageExpired, MessageWithdrawn, MessagesDelivered,
    ModelChanged, Notice, PermissionModeChanged, PermissionRuleRevoked, QuestionAnswered,
    SessionCreated, SessionRenamed, ToldMemory, TurnCompleted, TurnFailed, TurnInterrupted,
    TurnResumed, TurnStarted, TurnSuspended, UnknownEvent, UsageRecorded, WorkModeChanged,
};
use agentd_engine::{Delta, DeltaSource, Participant};
use agentd_proto::v1;
use v1::event::Body;

use super::session::participant;
use super::{context, item, permission, plan, todo, tool};

pub(crate) fn event(event: &Event) -> v1::Event {
    let Event { seq, at, turn_id, body } = event;
    v1::Event {
        seq: seq.0,
        at_ms: at.0,
        turn_id: turn_id.map(|id| id.to_string()).unwrap_or_default(),
        body: Some(self::body(body)),
    }
}

/// An event that extends an item.
pub(crate) fn delta(delta: &Delta, at_ms: i64) -> v1::Event {
    let Delta { source, offset, text } = delta;
    let (item_id, channel) = match source {
        DeltaSource::Reasoning(item_id) => (item_id.to_string(), v1::DeltaChannel::Reasoning),
        DeltaSource::Text(item_id) => (item_id.to_string(), v1::DeltaChannel::Text),
        DeltaSource::Output(call_id) => (call_id.to_string(), v1::DeltaChannel::ToolOutput),
    };
    ephemeral(
        at_ms,
        Body::ItemDelta(v1::ItemDelta {
            item_id,
            channel: channel.into(),
            offset: super::count(*offset),
            text: text.clone(),
        }),
    )
}

/// An event that says who is attached.
pub(crate) fn presence(participants: &[Participant], at_ms: i64) -> v1::Event {
    let participants = participants.iter().map(participant).collect();
    ephemeral(at_ms, Body::Presence(v1::Presence { participants }))
}

fn ephemeral(at_ms: i64, body: Body) -> v1::Event {
    v1::Event { seq: 0, at_ms, turn_id: String::new(), body: Some(body) }
}

fn body(body: &EventBody) -> Body {
    match body {
        EventBody::SessionCreated(SessionCreated {
            workspace,
            title,
            model,
            origin,
            effort,
            permission_mode,
            work_mode,
            further_roots,
        }) => Body::SessionCreated(v1::SessionCreated {
            workspace: workspace.clone(),
            title: title.clone(),
            model: model.clone(),
            origin: origin.as_ref().map(item::fork_origin),
            effort: item::effort(*effort).into(),
            permission_mode: permission::mode(*permission_mode).into(),
            work_mode: permission::work_mode(*work_mode).into(),
            further_roots: further_roots.clone(),
        }),
        EventBody::SessionRenamed(SessionRenamed { title, source, by }) => {
            Body::SessionRenamed(v1::SessionRenamed {
                title: title.clone(),
                source: item::title_source(*source).into(),
                by: by.as_ref().map(item::author),
            })
        }
        EventBody::ModelChanged(ModelChanged { model, by }) => {
            Body::ModelChanged(v1::ModelChanged {
                model: model.clone(),
                by: by.as_ref().map(item::author),
            })
        }
        EventBody::EffortChanged(EffortChanged { effort, by }) => {
            Body::EffortChanged(v1::EffortChanged {
                effort: item::effort(*effort).into(),
                by: by.as_ref().map(item::author),
            })
        }
        EventBody::PermissionModeChanged(PermissionModeChanged { mode, by }) => {
            Body::PermissionModeChanged(v1::PermissionModeChanged {
                mode: permission::mode(*mode).into(),
                by: by.as_ref().map(item::author),
            })
        }
        EventBody::WorkModeChanged(WorkModeChanged { mode, by }) => {
            Body::WorkModeChanged(v1::WorkModeChanged {
                mode: permission::work_mode(*mode).into(),
                by: by.as_ref().map(item::author),
            })
        }
        EventBody::PermissionRuleRevoked(PermissionRuleRevoked { rule_id, by }) => {
            Body::PermissionRuleRevoked(v1::PermissionRuleRevoked {
                rule_id: rule_id.clone(),
                by: Some(item::author(by)),
            })
        }
        EventBody::ApprovalRequested(requested) => {
            Body::ApprovalRequested(permission::requested(requested))
        }
        EventBody::ApprovalResolved(resolved) => {
            Body::ApprovalResolved(permission::resolved(resolved))
        }
        EventBody::MessageExpired(MessageExpired { item_id }) => {
            Body::MessageExpired(v1::MessageExpired { item_id: item_id.to_string() })
        }
        EventBody::MessageAccepted(MessageAccepted {
            item_id,
            client_message_id,
            text,
            delivery,
            author,
            priority,
            expires_at,
            unattended,
        }) => Body::MessageAccepted(v1::MessageAccepted {
            item_id: item_id.to_string(),
            client_message_id: client_message_id.to_string(),
            text: text.clone(),
            delivery: item::delivery(*delivery).into(),
            author: Some(item::author(author)),
            priority: item::priority(*priority).into(),
            expires_at_ms: expires_at.map_or(0, |at| at.0),
            unattended: *unattended,
        }),
        EventBody::MessageWithdrawn(MessageWithdrawn { item_id, by }) => {
            Body::MessageWithdrawn(v1::MessageWithdrawn {
                item_id: item_id.to_string(),
                by: Some(item::author(by)),
            })
        }
        EventBody::MessagesDelivered(MessagesDelivered { item_ids }) => {
            Body::MessagesDelivered(v1::MessagesDelivered { item_ids: texts(item_ids) })
        }
        EventBody::TurnStarted(TurnStarted { item_ids, provider, model, effort, reminder }) => {
            Body::TurnStarted(v1::TurnStarted {
                reminder: reminder.clone(),
                item_ids: texts(item_ids),
                provider: provider.clone(),
                model: model.clone(),
                effort_requested: item::effort(effort.map(|effort| effort.requested)).into(),
                effort_effective: item::effort(effort.and_then(|effort| effort.effective)).into(),
            })
        }
        EventBody::TurnSuspended(TurnSuspended { reason }) => {
            Body::TurnSuspended(v1::TurnSuspended { reason: item::suspend_reason(*reason).into() })
        }
        EventBody::TurnResumed(TurnResumed { by }) => {
            Body::TurnResumed(v1::TurnResumed { by: by.as_ref().map(item::author) })
        }
        EventBody::TurnCompleted(TurnCompleted { end, rounds, usage, elapsed_ms }) => {
            Body::TurnCompleted(v1::TurnCompleted {
                end: item::turn_end(*end).into(),
                rounds: *rounds,
                usage: Some(item::usage(usage)),
                elapsed_ms: *elapsed_ms,
            })
        }
        EventBody::TurnFailed(TurnFailed { error, usage }) => Body::TurnFailed(v1::TurnFailed {
            error: Some(item::error_report(error)),
            usage: Some(item::usage(usage)),
        }),
        EventBody::TurnInterrupted(TurnInterrupted { reason, by, usage }) => {
            Body::TurnInterrupted(v1::TurnInterrupted {
                reason: item::interrupt_reason(*reason).into(),
                by: by.as_ref().map(item::author),
                usage: Some(item::usage(usage)),
            })
        }
        EventBody::AssistantMessage(AssistantMessage {
            item_id,
            reasoning,
            text,
            tool_calls,
            completeness,
            native: _,
        }) => Body::AssistantMessage(v1::AssistantMessage {
            item_id: item_id.to_string(),
            reasoning: reasoning.clone(),
            text: text.clone(),
            tool_calls: tool_calls.iter().map(item::tool_call).collect(),
            completeness: item::completeness(*completeness).into(),
        }),
        EventBody::AttemptRestarted(AttemptRestarted { discarded_item_id, attempt, error }) => {
            Body::AttemptRestarted(v1::AttemptRestarted {
                discarded_item_id: discarded_item_id.to_string(),
                attempt: *attempt,
                error: Some(item::error_report(error)),
            })
        }
        EventBody::ToolCallStarted(started) => Body::ToolCallStarted(tool::started(started)),
        EventBody::ToolCallFinished(finished) => Body::ToolCallFinished(tool::finished(finished)),
        EventBody::PlanChanged(changed) => {
            Body::PlanChanged(v1::PlanChanged { plan: Some(plan(&changed.plan)) })
        }
        EventBody::MemoriesExtracted(MemoriesExtracted {
            through,
            turns_left: _,
            added,
            waiting,
        }) => Body::MemoriesExtracted(v1::MemoriesExtracted {
            through_seq: through.0,
            added: added.iter().map(ToString::to_string).collect(),
            waiting: waiting.iter().map(ToString::to_string).collect(),
        }),
        EventBody::MemoriesTold(MemoriesTold { told, withdrawn, known, text }) => {
            Body::MemoriesTold(v1::MemoriesTold {
                told: told
                    .iter()
                    .map(|ToldMemory { id, revision }| v1::ToldMemory {
                        memory_id: id.to_string(),
                        revision: *revision,
                    })
                    .collect(),
                withdrawn: withdrawn.iter().map(ToString::to_string).collect(),
                known: *known,
                text: text.clone(),
            })
        }
        EventBody::TodoListChanged(changed) => {
            Body::TodoListChanged(v1::TodoListChanged { list: Some(todo::list(&changed.list)) })
        }
        EventBody::QuestionAsked(asked) => Body::QuestionAsked(item::question_asked(asked)),
        EventBody::QuestionAnswered(QuestionAnswered { question_id, choice, by }) => {
            Body::QuestionAnswered(v1::QuestionAnswered {
                question_id: question_id.to_string(),
                choice: choice.clone(),
                by: by.as_ref().map(item::author),
            })
        }
        EventBody::UsageRecorded(UsageRecorded {
            purpose,
            provider,
            model,
            usage,
            first_byte_ms,
            elapsed_ms,
            cost,
        }) => Body::UsageRecorded(v1::UsageRecorded {
            purpose: item::usage_purpose(*purpose).into(),
            provider: provider.clone(),
            model: model.clone(),
            usage: Some(item::usage(usage)),
            first_byte_ms: *first_byte_ms,
            elapsed_ms: *elapsed_ms,
            cost: Some(item::cost(cost)),
        }),
        EventBody::ContextTrimmed(trimmed) => Body::ContextTrimmed(context::trimmed(trimmed)),
        EventBody::ContextCompacted(compacted) => {
            Body::ContextCompacted(context::compacted(compacted))
        }
        EventBody::TurnsRecalled(recalled) => Body::TurnsRecalled(context::recalled(recalled)),
        EventBody::PinsChanged(changed) => Body::PinsChanged(context::pins(changed)),
        EventBody::ProjectDocumentChanged(changed) => {
            Body::ProjectDocumentChanged(context::document(changed))
        }
        EventBody::Notice(Notice { level, text }) => Body::Notice(v1::Notice {
            level: item::notice_level(*level).into(),
            text: text.clone(),
        }),
        EventBody::Unknown(UnknownEvent { kind, record_json }) => {
            Body::Unknown(v1::UnknownEvent { kind: kind.clone(), record_json: record_json.clone() })
        }
    }
}

fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

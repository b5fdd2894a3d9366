//! Folds durable events.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;

use super::{
    Answer, AssistantItem, Change, Item, MessageState, Question, ToolCallItem, ToolCallState,
    Transcript, TurnMarker, TurnState, UserMessage,
};

impl Transcript {
    pub(super) fn apply_durable(&mut self, event: &v1::Event, body: &Body) -> Change {
        match body {
            Body::SessionCreated(created) => self.session_created(created),
            Body::SessionRenamed(renamed) => {
                self.title.clone_from(&renamed.title);
                self.title_source = renamed.source();
                self.note_of(event, body);
                Change::Session
            }
            Body::ModelChanged(changed) => {
                self.model.clone_from(&changed.model);
                self.note_of(event, body);
                Change::Session
            }
            Body::EffortChanged(changed) => {
                self.effort = changed.effort();
                self.note_of(event, body);
                Change::Session
            }
            Body::PermissionModeChanged(changed) => {
                self.permission_mode = changed.mode();
                self.note_of(event, body);
                Change::Session
            }
            Body::WorkModeChanged(changed) => {
                self.work_mode = changed.mode();
                self.note_of(event, body);
                Change::Session
            }
            Body::TodoListChanged(_)
            | Body::PlanChanged(_)
            | Body::MemoriesExtracted(_)
            | Body::MemoriesTold(_)
            | Body::PermissionRuleRevoked(_)
            | Body::PinsChanged(_) => {
                self.note_of(event, body);
                Change::Session
            }
            Body::ApprovalRequested(requested) => {
                self.approvals.push((event.turn_id.clone(), requested.clone()));
                Change::Approval { approval_id: requested.approval_id.clone() }
            }
            Body::ApprovalResolved(resolved) => {
                self.approvals.retain(|(_, open)| open.approval_id != resolved.approval_id);
                Change::Approval { approval_id: resolved.approval_id.clone() }
            }
            Body::MessageExpired(expired) => {
                self.set_message(&expired.item_id, MessageState::Expired);
                Change::MessagesChanged { item_ids: vec![expired.item_id.clone()] }
            }
            Body::MessageAccepted(accepted) => self.message_accepted(event, accepted),
            Body::MessageWithdrawn(withdrawn) => {
                let by = withdrawn.by.clone();
                self.set_message(&withdrawn.item_id, MessageState::Withdrawn { by });
                Change::MessagesChanged { item_ids: vec![withdrawn.item_id.clone()] }
            }
            Body::MessagesDelivered(delivered) => {
                self.deliver(&delivered.item_ids);
                Change::MessagesChanged { item_ids: delivered.item_ids.clone() }
            }
            Body::TurnStarted(started) => self.turn_started(event, started),
            Body::TurnSuspended(suspended) => {
                // A stopped daemon lost what it had not made durable.
                self.drop_live_of(&event.turn_id);
                self.set_turn(event, TurnState::Suspended(suspended.reason()))
            }
            Body::TurnResumed(_) => self.set_turn(event, TurnState::Running),
            Body::TurnCompleted(completed) => self.end_turn(
                event,
                TurnState::Completed {
                    end: completed.end(),
                    rounds: completed.rounds,
                    usage: completed.usage.unwrap_or_default(),
                    elapsed_ms: completed.elapsed_ms,
                },
            ),
            Body::TurnFailed(failed) => self.end_turn(
                event,
                TurnState::Failed {
                    error: failed.error.clone().unwrap_or_default(),
                    usage: failed.usage.unwrap_or_default(),
                },
            ),
            Body::TurnInterrupted(interrupted) => self.end_turn(
                event,
                TurnState::Interrupted {
                    reason: interrupted.reason(),
                    by: interrupted.by.clone(),
                    usage: interrupted.usage.unwrap_or_default(),
                },
            ),
            Body::AssistantMessage(message) => self.assistant_message(event, message),
            Body::AttemptRestarted(restarted) => {
                self.end_live(&restarted.discarded_item_id);
                self.note_of(event, body);
                Change::Discarded { item_id: restarted.discarded_item_id.clone() }
            }
            Body::ToolCallStarted(started) => self.tool_call_started(event, started),
            Body::ToolCallFinished(finished) => self.tool_call_finished(event, finished),
            Body::QuestionAsked(asked) => self.question_asked(event, asked),
            Body::QuestionAnswered(answered) => self.question_answered(answered),
            Body::UsageRecorded(recorded) => self.usage_recorded(event, recorded),
            Body::ContextTrimmed(_)
            | Body::ContextCompacted(_)
            | Body::TurnsRecalled(_)
            | Body::ProjectDocumentChanged(_)
            | Body::Notice(_)
            | Body::Unknown(_) => self.note_of(event, body),
            // Ephemeral: not folded here.
            Body::ItemDelta(_) | Body::Presence(_) => Change::Nothing,
        }
    }

    fn session_created(&mut self, created: &v1::SessionCreated) -> Change {
        self.workspace.clone_from(&created.workspace);
        self.model.clone_from(&created.model);
        self.effort = created.effort();
        self.permission_mode = created.permission_mode();
        self.work_mode = created.work_mode();
        self.origin.clone_from(&created.origin);
        if !created.title.is_empty() {
            self.title.clone_from(&created.title);
            self.title_source = v1::TitleSource::Manual;
        }
        Change::Session
    }

    fn message_accepted(&mut self, event: &v1::Event, accepted: &v1::MessageAccepted) -> Change {
        self.items.push(Item::User(UserMessage {
            item_id: accepted.item_id.clone(),
            client_message_id: accepted.client_message_id.clone(),
            seq: event.seq,
            at_ms: event.at_ms,
            author: accepted.author.clone().unwrap_or_default(),
            text: accepted.text.clone(),
            delivery: accepted.delivery(),
            priority: accepted.priority(),
            expires_at_ms: accepted.expires_at_ms,
            state: MessageState::Queued,
        }));
        self.waiting_messages += 1;
        Change::MessageAdded { item_id: accepted.item_id.clone() }
    }

    fn set_message(&mut self, item_id: &str, state: MessageState) {
        let message = self.items.iter_mut().rev().find_map(|item| match item {
            Item::User(message) if message.item_id == item_id => Some(message),
            _ => None,
        });
        if let Some(message) = message {
            if message.state == MessageState::Queued && state != MessageState::Queued {
                self.waiting_messages -= 1;
            }
            message.state = state;
        }
    }

    /// Marks messages as delivered and moves them to the end, where the answer will follow.
    fn deliver(&mut self, item_ids: &[String]) {
        for item_id in item_ids {
            let at = self.items.iter().rposition(
                |item| matches!(item, Item::User(message) if message.item_id == *item_id),
            );
            if let Some(at) = at {
                let message = self.items.remove(at);
                self.items.push(message);
            }
            self.set_message(item_id, MessageState::Delivered);
        }
    }

    fn turn_started(&mut self, event: &v1::Event, started: &v1::TurnStarted) -> Change {
        self.deliver(&started.item_ids);
        self.items.push(Item::Turn(TurnMarker {
            turn_id: event.turn_id.clone(),
            seq: event.seq,
            started_at_ms: event.at_ms,
            item_ids: started.item_ids.clone(),
            provider: started.provider.clone(),
            model: started.model.clone(),
            effort_requested: started.effort_requested(),
            effort_effective: started.effort_effective(),
            cost: v1::Cost::default(),
            state: TurnState::Running,
        }));
        Change::Turn { turn_id: event.turn_id.clone() }
    }

    fn set_turn(&mut self, event: &v1::Event, state: TurnState) -> Change {
        let at = self
            .items
            .iter()
            .rposition(|item| matches!(item, Item::Turn(turn) if turn.turn_id == event.turn_id));
        match at.map(|at| self.items.remove(at)) {
            // It stands where it came to this, as for a reader who comes after its start.
            Some(Item::Turn(turn)) => self.items.push(Item::Turn(TurnMarker { state, ..turn })),
            Some(other) => self.items.push(other),
            // Its start lies before the first event that was read.
            None => self.items.push(Item::Turn(TurnMarker {
                turn_id: event.turn_id.clone(),
                seq: event.seq,
                started_at_ms: event.at_ms,
                item_ids: Vec::new(),
                provider: String::new(),
                model: String::new(),
                effort_requested: v1::Effort::Unspecified,
                effort_effective: v1::Effort::Unspecified,
                cost: v1::Cost::default(),
                state,
            })),
        }
        Change::Turn { turn_id: event.turn_id.clone() }
    }

    fn end_turn(&mut self, event: &v1::Event, state: TurnState) -> Change {
        self.drop_live_of(&event.turn_id);
        if self.live.is_empty() {
            self.void.clear();
        }
        self.set_turn(event, state)
    }

    fn assistant_message(&mut self, event: &v1::Event, message: &v1::AssistantMessage) -> Change {
        self.end_live(&message.item_id);
        let tool_calls = message.tool_calls.iter().map(|call| ToolCallItem {
            call_id: call.call_id.clone(),
            name: call.name.clone(),
            arguments_json: call.arguments_json.clone(),
            ..ToolCallItem::default()
        });
        self.items.push(Item::Assistant(AssistantItem {
            item_id: message.item_id.clone(),
            turn_id: event.turn_id.clone(),
            seq: event.seq,
            at_ms: event.at_ms,
            reasoning: message.reasoning.clone(),
            text: message.text.clone(),
            tool_calls: tool_calls.collect(),
            completeness: Some(message.completeness()),
        }));
        Change::AssistantFinal { item_id: message.item_id.clone() }
    }

    fn tool_call_started(&mut self, event: &v1::Event, started: &v1::ToolCallStarted) -> Change {
        self.add_missing_call(event, &started.call_id, &started.name);
        if let Some(call) = self.tool_call_mut(&started.call_id) {
            // The model may have used another name for the tool that runs.
            call.name.clone_from(&started.name);
            call.arguments_json.clone_from(&started.arguments_json);
            call.effect = Some(started.effect());
            call.state = ToolCallState::Running;
            call.started_at_ms = event.at_ms;
            call.output.clear();
        }
        Change::ToolCall { call_id: started.call_id.clone() }
    }

    fn tool_call_finished(&mut self, event: &v1::Event, finished: &v1::ToolCallFinished) -> Change {
        self.close_gap(&finished.call_id);
        self.add_missing_call(event, &finished.call_id, &finished.name);
        if let Some(call) = self.tool_call_mut(&finished.call_id) {
            call.state = ToolCallState::Finished(finished.status());
            call.output.clone_from(&finished.output);
            call.output_bytes = finished.output_bytes;
            call.error_code.clone_from(&finished.error_code);
            call.elapsed_ms = finished.elapsed_ms;
            call.diff.clone_from(&finished.diff);
            call.exit_code = finished.exit_code;
            call.source = finished.metrics.unwrap_or_default().source();
        }
        Change::ToolCall { call_id: finished.call_id.clone() }
    }

    /// A call whose message lies before the first event that was read gets a message of its own.
    fn add_missing_call(&mut self, event: &v1::Event, call_id: &str, name: &str) {
        if self.tool_call(call_id).is_some() {
            return;
        }
        let call = ToolCallItem {
            call_id: call_id.to_owned(),
            name: name.to_owned(),
            ..ToolCallItem::default()
        };
        self.items.push(Item::Assistant(AssistantItem {
            turn_id: event.turn_id.clone(),
            seq: event.seq,
            at_ms: event.at_ms,
            tool_calls: vec![call],
            completeness: Some(v1::MessageCompleteness::Unspecified),
            ..AssistantItem::default()
        }));
    }

    fn question_asked(&mut self, event: &v1::Event, asked: &v1::QuestionAsked) -> Change {
        self.items.push(Item::Question(Question {
            question_id: asked.question_id.clone(),
            turn_id: event.turn_id.clone(),
            seq: event.seq,
            kind: asked.kind(),
            prompt: asked.prompt.clone(),
            choices: asked.choices.clone(),
            free_text: asked.free_text,
            answer: None,
        }));
        self.open_questions += 1;
        Change::Question { question_id: asked.question_id.clone() }
    }

    fn question_answered(&mut self, answered: &v1::QuestionAnswered) -> Change {
        let question = self.items.iter_mut().rev().find_map(|item| match item {
            Item::Question(question) if question.question_id == answered.question_id => {
                Some(question)
            }
            _ => None,
        });
        // The first durable answer counts.
        if let Some(question) = question
            && question.answer.is_none()
        {
            question.answer =
                Some(Answer { choice: answered.choice.clone(), by: answered.by.clone() });
            self.open_questions -= 1;
        }
        Change::Question { question_id: answered.question_id.clone() }
    }

    fn usage_recorded(&mut self, event: &v1::Event, recorded: &v1::UsageRecorded) -> Change {
        let Some(usage) = &recorded.usage else { return Change::Nothing };
        let sum = &mut self.usage;
        sum.prompt_tokens = sum.prompt_tokens.saturating_add(usage.prompt_tokens);
        sum.completion_tokens = sum.completion_tokens.saturating_add(usage.completion_tokens);
        sum.reasoning_tokens = sum.reasoning_tokens.saturating_add(usage.reasoning_tokens);
        sum.cached_prompt_tokens =
            sum.cached_prompt_tokens.saturating_add(usage.cached_prompt_tokens);
        sum.cache_write_tokens = sum.cache_write_tokens.saturating_add(usage.cache_write_tokens);
        sum.estimated |= usage.estimated;
        if let Some(cost) = &recorded.cost {
            add_cost(&mut self.cost, cost);
            let turn = self.items.iter_mut().rev().find_map(|item| match item {
                Item::Turn(turn) if turn.turn_id == event.turn_id => Some(turn),
                _ => None,
            });
            if let Some(turn) = turn {
                add_cost(&mut turn.cost, cost);
            }
        }
        Change::Usage
    }
}

fn add_cost(sum: &mut v1::Cost, cost: &v1::Cost) {
    sum.nano_usd = sum.nano_usd.saturating_add(cost.nano_usd);
    sum.estimated_nano_usd = sum.estimated_nano_usd.saturating_add(cost.estimated_nano_usd);
    sum.unpriced_requests = sum.unpriced_requests.saturating_add(cost.unpriced_requests);
}

//! The state of a session: a fold over its log.

use std::cmp::Reverse;
use std::sync::Arc;

use agentd_domain::{
    ApprovalId, ApprovalRequested, ApprovalResolved, ApprovalScope, Author, ClientMessageId,
    Completeness, Cost, Delivery, Event, EventBody, ItemId, PermissionRule, Plan, Priority,
    QuestionAsked, QuestionId, RuleEffect, RuleScope, Seq, SessionId, SessionRecord, SessionStatus,
    SuspendReason, TimestampMs, Title, TitleSource, TodoList, ToolCall, ToolEffect, Trial, TurnId,
    UnfinishedWork, Usage,
};
use serde::{Deserialize, Serialize};

use super::plans;

/// What the log says about a session, without the conversation itself. Small, so that thousands of
/// sessions fit in memory; requests read the conversation from the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionState {
    /// The index entry.
    pub(crate) record: SessionRecord,
    /// Messages that no turn has used yet, in order of acceptance.
    pub(crate) queue: Vec<QueuedMessage>,
    /// The turn that runs or stands still.
    pub(crate) turn: Option<OpenTurn>,
    /// First event that requests are made from.
    pub(crate) context_from: Seq,
    /// The question that was answered last, so that a second answer learns that it came late.
    #[serde(default)]
    pub(crate) last_answered: Option<QuestionId>,
    /// What it has set out to do.
    #[serde(default)]
    pub(crate) todo: TodoList,
    /// Its plan.
    #[serde(default)]
    pub(crate) plan: Plan,
    /// The last call of the turn that could have proven the plan's current step.
    #[serde(default)]
    pub(crate) trial: Option<Trial>,
    /// A call has brought in text that others may have written.
    #[serde(default)]
    pub(crate) outside_text: bool,
    /// The event through which it was looked through for memories.
    #[serde(default)]
    pub(crate) extracted: Seq,
    /// Turns that have ended since.
    #[serde(default)]
    pub(crate) unextracted_turns: u32,
    /// Approvals that were resolved last and who did so, so that a late answer learns it.
    #[serde(default)]
    pub(crate) resolved: Vec<(ApprovalId, Option<Author>)>,
    /// Rules that hold in the session, the oldest first.
    #[serde(default)]
    pub(crate) rules: Vec<PermissionRule>,
    /// First event of the folded turns that may be recalled word by word. Before anything was folded
    /// there is none such, and it may be any position up to `context_from`.
    #[serde(default)]
    pub(crate) recall_from: Seq,
    /// The event that the summary of folded turns is from; none: nothing was folded.
    #[serde(default)]
    pub(crate) summary: Option<Seq>,
    /// What users want the model to keep to whatever is folded, the oldest first.
    #[serde(default)]
    pub(crate) pins: Vec<String>,
    /// Path of the workspace's document that requests hold; empty: none.
    #[serde(default)]
    pub(crate) project_document: String,
    /// See [`agentd_domain::ProjectDocumentChanged::sha256`].
    #[serde(default)]
    pub(crate) project_sha256: String,
}

/// Resolved approvals that are remembered.
const MAX_RESOLVED: usize = 32;

/// Rules of one session. The oldest go: what they allowed is asked for again.
const MAX_RULES: usize = 256;

/// A message that waits for a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueuedMessage {
    /// The message.
    pub item_id: ItemId,
    /// The client's id for it.
    pub client_message_id: ClientMessageId,
    /// Its text.
    pub text: Arc<str>,
    /// How it was asked to be delivered.
    pub delivery: Delivery,
    /// Who sent it.
    pub author: Author,
    /// When it was accepted.
    pub accepted_at: TimestampMs,
    /// Its MessageAccepted event.
    pub seq: Seq,
    /// How important it is.
    #[serde(default)]
    pub priority: Priority,
    /// When it is too late to begin; none: never.
    #[serde(default)]
    pub expires_at: Option<TimestampMs>,
    /// A script sent it.
    #[serde(default)]
    pub unattended: bool,
}

impl QueuedMessage {
    /// Where it stands in the queue: those that interrupt first, then the more important, then the older.
    fn rank(&self) -> (bool, Reverse<Priority>, Seq) {
        (self.delivery != Delivery::Interrupt, Reverse(self.priority), self.seq)
    }

    /// True when it is too late to begin.
    pub(crate) fn is_expired(&self, now: TimestampMs) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// A turn without an end in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenTurn {
    /// The turn.
    pub(crate) turn_id: TurnId,
    /// When it began, or was last resumed.
    pub(crate) active_since: TimestampMs,
    /// Milliseconds that it was active before that.
    pub(crate) active_ms: u64,
    /// Model rounds so far.
    pub(crate) rounds: u32,
    /// Rounds at the last time that users said to go on.
    pub(crate) rounds_granted_at: u32,
    /// How often the daemon stopped since its last whole round.
    #[serde(default)]
    pub(crate) stops: u32,
    /// How important the message is that it answers.
    #[serde(default)]
    pub(crate) priority: Priority,
    /// Why it stands still.
    pub(crate) suspended: Option<SuspendReason>,
    /// What it waits for.
    pub(crate) question: Option<QuestionAsked>,
    /// Tokens so far.
    pub(crate) usage: Usage,
    /// What they cost.
    #[serde(default)]
    pub(crate) cost: Cost,
    /// Tool calls without a result, in order.
    pub(crate) open_calls: Vec<OpenCall>,
    /// Calls that wait until somebody says whether they may run.
    #[serde(default)]
    pub(crate) approvals: Vec<ApprovalRequested>,
    /// The script whose message it answers; none when a person sent it.
    #[serde(default)]
    pub(crate) script: Option<Author>,
}

/// A tool call without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    /// The call.
    pub(crate) call: ToolCall,
    /// Its effect, once it has started.
    pub(crate) started: Option<ToolEffect>,
    /// True when the provider cut the message: the arguments may be a part of what was meant.
    #[serde(default)]
    pub(crate) cut: bool,
}

impl SessionState {
    /// The state before the first event.
    pub(crate) fn new(session_id: SessionId) -> Self {
        Self {
            record: SessionRecord::new(session_id),
            queue: Vec::new(),
            turn: None,
            context_from: Seq(1),
            last_answered: None,
            todo: TodoList::default(),
            plan: Plan::default(),
            trial: None,
            outside_text: false,
            extracted: Seq::ZERO,
            unextracted_turns: 0,
            resolved: Vec::new(),
            rules: Vec::new(),
            recall_from: Seq::ZERO,
            summary: None,
            pins: Vec::new(),
            project_document: String::new(),
            project_sha256: String::new(),
        }
    }

    /// Folds one event in. Events come in order; what does not fit is passed over, because a log
    /// written by another version must never keep a session from loading.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.record.last_seq = event.seq;
        if is_use(&event.body) {
            self.record.updated_at = event.at;
        }
        match &event.body {
            EventBody::SessionCreated(created) => {
                self.record.created_at = event.at;
                self.record.workspace.clone_from(&created.workspace);
                self.record.further_roots.clone_from(&created.further_roots);
                self.record.model.clone_from(&created.model);
                self.record.effort = created.effort;
                self.record.origin = created.origin;
                self.record.permission_mode = created.permission_mode;
                self.record.work_mode = created.work_mode;
                if !created.title.is_empty() {
                    self.record.title.clone_from(&created.title);
                    self.record.title_source = Some(TitleSource::Manual);
                }
            }
            EventBody::SessionRenamed(renamed) => {
                self.record.title.clone_from(&renamed.title);
                self.record.title_source = Some(renamed.source);
            }
            EventBody::ModelChanged(changed) => self.record.model.clone_from(&changed.model),
            EventBody::EffortChanged(changed) => self.record.effort = changed.effort,
            EventBody::PermissionModeChanged(changed) => self.record.permission_mode = changed.mode,
            EventBody::WorkModeChanged(changed) => self.record.work_mode = changed.mode,
            EventBody::ApprovalRequested(requested) => {
                if let Some(turn) = &mut self.turn {
                    turn.approvals.push(requested.clone());
                }
            }
            EventBody::ApprovalResolved(resolved) => self.approval_resolved(resolved, event),
            EventBody::PermissionRuleRevoked(revoked) => {
                self.rules.retain(|rule| rule.rule_id != revoked.rule_id);
            }
            EventBody::MessageExpired(expired) => {
                self.queue.retain(|queued| queued.item_id != expired.item_id);
            }
            EventBody::MessageAccepted(accepted) => self.queue.push(QueuedMessage {
                item_id: accepted.item_id,
                client_message_id: accepted.client_message_id.clone(),
                text: accepted.text.as_str().into(),
                delivery: accepted.delivery,
                author: accepted.author.clone(),
                accepted_at: event.at,
                seq: event.seq,
                priority: accepted.priority,
                expires_at: accepted.expires_at,
                unattended: accepted.unattended,
            }),
            EventBody::MessageWithdrawn(withdrawn) => {
                self.queue.retain(|queued| queued.item_id != withdrawn.item_id);
            }
            EventBody::MessagesDelivered(delivered) => {
                self.queue.retain(|queued| !delivered.item_ids.contains(&queued.item_id));
            }
            EventBody::TurnStarted(started) => {
                self.trial = None;
                let answered =
                    self.queue.iter().filter(|queued| started.item_ids.contains(&queued.item_id));
                let (mut priority, mut script) = (None, None);
                for queued in answered {
                    priority = priority.max(Some(queued.priority));
                    script = queued.unattended.then(|| queued.author.clone());
                }
                let priority = priority.unwrap_or_default();
                self.queue.retain(|queued| !started.item_ids.contains(&queued.item_id));
                self.record.turns += 1;
                self.turn = event.turn_id.map(|turn_id| OpenTurn {
                    script,
                    ..OpenTurn::new(turn_id, event.at, priority)
                });
            }
            EventBody::TurnSuspended(suspended) => {
                if let Some(turn) = &mut self.turn {
                    turn.active_ms += event.at.since(turn.active_since);
                    turn.suspended = Some(suspended.reason);
                    if suspended.reason == SuspendReason::DaemonStopped {
                        turn.stops += 1;
                    }
                }
            }
            EventBody::TurnResumed(_) => {
                if let Some(turn) = &mut self.turn {
                    if turn.suspended == Some(SuspendReason::RoundsLimit) {
                        turn.rounds_granted_at = turn.rounds;
                    }
                    turn.active_since = event.at;
                    turn.suspended = None;
                    turn.question = None;
                }
            }
            EventBody::TurnCompleted(_) => {
                self.turn = None;
                self.unextracted_turns = self.unextracted_turns.saturating_add(1);
            }
            EventBody::TurnFailed(_) | EventBody::TurnInterrupted(_) => self.turn = None,
            EventBody::AssistantMessage(message) => {
                if let Some(turn) = &mut self.turn
                    && message.completeness != Completeness::Incomplete
                {
                    turn.rounds += 1;
                    turn.stops = 0;
                    turn.open_calls = message
                        .tool_calls
                        .iter()
                        .map(|call| OpenCall {
                            call: call.clone(),
                            started: None,
                            cut: message.completeness == Completeness::Cut,
                        })
                        .collect();
                }
            }
            EventBody::ToolCallStarted(started) => {
                self.outside_text |= brings_outside_text(&started.name, started.effect);
                if let Some(open) = self.open_call(&started.call_id) {
                    open.started = Some(started.effect);
                }
            }
            EventBody::ToolCallFinished(finished) => {
                plans::tried(self, finished);
                if let Some(turn) = &mut self.turn {
                    turn.open_calls.retain(|open| open.call.call_id != finished.call_id);
                }
            }
            EventBody::QuestionAsked(asked) => {
                if let Some(turn) = &mut self.turn {
                    turn.question = Some(asked.clone());
                }
            }
            EventBody::QuestionAnswered(answered) => {
                self.last_answered = Some(answered.question_id);
                if let Some(turn) = &mut self.turn {
                    turn.question = None;
                }
            }
            EventBody::UsageRecorded(recorded) => {
                self.record.add_request(&recorded.usage, &recorded.cost);
                if let Some(turn) = &mut self.turn
                    && event.turn_id == Some(turn.turn_id)
                {
                    turn.usage.add(&recorded.usage);
                    turn.cost.add(&recorded.cost);
                }
            }
            EventBody::TodoListChanged(changed) => self.todo.clone_from(&changed.list),
            EventBody::PlanChanged(changed) => plans::changed(self, &changed.plan),
            EventBody::MemoriesExtracted(extracted) => {
                self.extracted = extracted.through;
                self.unextracted_turns = extracted.turns_left;
            }
            EventBody::ContextTrimmed(trimmed) => self.context_from = trimmed.first_kept_seq,
            EventBody::ContextCompacted(compacted) => {
                self.context_from = compacted.first_kept_seq;
                self.recall_from = compacted.recall_from_seq;
                self.summary = Some(event.seq);
            }
            EventBody::PinsChanged(changed) => self.pins.clone_from(&changed.pins),
            EventBody::ProjectDocumentChanged(changed) => {
                self.project_document.clone_from(&changed.path);
                self.project_sha256.clone_from(&changed.sha256);
                // What a repository says is not in the user's words.
                self.outside_text |= !changed.path.is_empty();
            }
            EventBody::AttemptRestarted(_)
            | EventBody::TurnsRecalled(_)
            | EventBody::MemoriesTold(_)
            | EventBody::Notice(_)
            | EventBody::Unknown(_) => {}
        }
        self.record.queued_messages = u32::try_from(self.queue.len()).unwrap_or(u32::MAX);
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.record.unfinished = UnfinishedWork {
            todo_items: small(self.todo.unfinished().count()),
            plan_steps: small(self.plan.left().count()),
        };
        self.record.unextracted_turns = self.unextracted_turns;
        let (approvals, questions) = self.turn.as_ref().map_or((0, 0), |turn| {
            (small(turn.approvals.len()), u32::from(turn.question.is_some()))
        });
        self.record.asks.set(approvals, questions, event.at);
        // What a copy took along was seen in the original.
        let copied = self.record.origin.map_or(Seq::ZERO, |origin| origin.seq);
        if event.seq > copied && self.is_news(&event.body) {
            self.record.news_seq = event.seq;
        }
        self.record.status = match &self.turn {
            None => SessionStatus::Idle,
            Some(OpenTurn { suspended: Some(_), .. }) => SessionStatus::Waiting,
            Some(_) => SessionStatus::Running,
        };
    }

    /// True for what somebody who was away wants to know of: that a turn has ended, that a message was
    /// never answered, and what was said outside of turns, such as a reminder. What waits for an answer
    /// is counted by itself, and what the daemon notes for its own use is no news.
    fn is_news(&self, event: &EventBody) -> bool {
        match event {
            EventBody::TurnCompleted(_)
            | EventBody::TurnFailed(_)
            | EventBody::TurnInterrupted(_)
            | EventBody::MessageExpired(_) => true,
            EventBody::Notice(_) => self.turn.is_none(),
            _ => false,
        }
    }

    fn approval_resolved(&mut self, resolved: &ApprovalResolved, event: &Event) {
        let ApprovalResolved { approval_id, decision: _, scope, reason: _, by, rules } = resolved;
        if let Some(turn) = &mut self.turn {
            turn.approvals.retain(|open| open.approval_id != *approval_id);
        }
        self.resolved.push((*approval_id, by.clone()));
        self.resolved.drain(..self.resolved.len().saturating_sub(MAX_RESOLVED));
        match scope {
            // Those of a workspace are stored beside the sessions.
            ApprovalScope::Once | ApprovalScope::Workspace => {}
            ApprovalScope::Session => {
                let session_id = self.record.session_id;
                self.rules.extend(rules.iter().enumerate().map(|(number, matcher)| {
                    PermissionRule {
                        rule_id: format!("{approval_id}-{number}"),
                        effect: RuleEffect::Allow,
                        matcher: matcher.clone(),
                        scope: RuleScope::Session { session_id },
                        by: by.clone(),
                        at: event.at,
                    }
                }));
                self.rules.drain(..self.rules.len().saturating_sub(MAX_RULES));
            }
        }
    }

    fn open_call(&mut self, call_id: &agentd_domain::CallId) -> Option<&mut OpenCall> {
        self.turn.as_mut()?.open_calls.iter_mut().find(|open| open.call.call_id == *call_id)
    }

    /// True when `event` changes what a list of sessions shows, so that the index entry is written
    /// with it. Within a turn it is not: the turn's end brings it up to date.
    pub(crate) fn changes_index(event: &EventBody) -> bool {
        if let EventBody::UsageRecorded(recorded) = event {
            return recorded.purpose.is_background();
        }
        !matches!(
            event,
            EventBody::AssistantMessage(_)
                | EventBody::ToolCallStarted(_)
                | EventBody::ToolCallFinished(_)
                | EventBody::AttemptRestarted(_)
                | EventBody::UsageRecorded(_)
                | EventBody::MessagesDelivered(_)
                | EventBody::ContextTrimmed(_)
                | EventBody::ContextCompacted(_)
                | EventBody::TurnsRecalled(_)
                | EventBody::ProjectDocumentChanged(_)
                | EventBody::TodoListChanged(_)
                | EventBody::PlanChanged(_)
                | EventBody::MemoriesTold(_)
                | EventBody::Notice(_)
                | EventBody::ApprovalRequested(_)
                | EventBody::ApprovalResolved(_)
                | EventBody::PermissionRuleRevoked(_)
        )
    }

    /// The message that the next turn answers.
    pub(crate) fn next_message(&self) -> Option<&QueuedMessage> {
        self.queue.iter().min_by_key(|queued| queued.rank())
    }

    /// The queue in the order in which it will run.
    pub(crate) fn queue_in_order(&self) -> impl Iterator<Item = &QueuedMessage> {
        let mut queue: Vec<&QueuedMessage> = self.queue.iter().collect();
        queue.sort_by_key(|queued| queued.rank());
        queue.into_iter()
    }

    /// When the next of the waiting messages, approvals and questions expires.
    pub(crate) fn next_expiry(&self) -> Option<TimestampMs> {
        let approvals = self.turn.iter().flat_map(|turn| &turn.approvals);
        let approvals = approvals.map(|open| open.expires_at);
        let question = super::questions::expiry(self);
        let queued = self.queue.iter().filter_map(|queued| queued.expires_at);
        queued.chain(approvals).chain(question).min()
    }

    /// True when a running or queued piece of work must be found again after a crash.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.turn.is_some() || !self.queue.is_empty()
    }

    /// True when an automatic title may still replace the current one.
    pub(crate) fn wants_title(&self, source: TitleSource) -> bool {
        match self.record.title_source {
            None => true,
            Some(TitleSource::FirstMessage) => source == TitleSource::Model,
            Some(TitleSource::Model | TitleSource::Manual) => false,
        }
    }
}

impl OpenTurn {
    fn new(turn_id: TurnId, at: TimestampMs, priority: Priority) -> Self {
        Self {
            turn_id,
            active_since: at,
            active_ms: 0,
            rounds: 0,
            rounds_granted_at: 0,
            stops: 0,
            priority,
            suspended: None,
            question: None,
            usage: Usage::default(),
            cost: Cost::default(),
            open_calls: Vec::new(),
            approvals: Vec::new(),
            script: None,
        }
    }

    /// Milliseconds of activity up to `now`, without the time it stood still.
    pub(crate) fn elapsed_ms(&self, now: TimestampMs) -> u64 {
        let running = if self.suspended.is_some() { 0 } else { now.since(self.active_since) };
        self.active_ms + running
    }
}

/// True when a call brings text into a session that others may have written: from files, programs and the
/// network, and from other sessions, which may have read a page.
pub(crate) fn brings_outside_text(name: &str, effect: ToolEffect) -> bool {
    effect != ToolEffect::Pure || tells_of_sessions(name)
}

fn tells_of_sessions(name: &str) -> bool {
    matches!(name, "manage_goals" | "history_query")
}

/// True for what is done in a session. What the daemon does with it afterwards, in its own time, does not
/// make it look as if it had just been used.
fn is_use(event: &EventBody) -> bool {
    match event {
        EventBody::MemoriesExtracted(_) => false,
        EventBody::UsageRecorded(recorded) => !recorded.purpose.is_background(),
        _ => true,
    }
}

/// Cuts the title of a session from its first message.
pub(crate) fn title_from_message(text: &str) -> Option<Title> {
    /// Characters that fit a line of a list.
    const TITLE_CHARS: usize = 60;
    agentd_domain::cut_line(text, TITLE_CHARS).parse().ok()
}

#[cfg(test)]
mod tests;

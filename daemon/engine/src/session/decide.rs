//! What a command or a report means in a given state: pure functions from the state to new events.
//!
//! Nothing here writes or waits. The actor commits what these return and then folds it in.

use std::time::Duration;

use agentd_context::OUTCOME_UNKNOWN;
use agentd_domain::{
    AssistantMessage, Author, CHOICE_CONTINUE, CHOICE_STOP, ClientMessageId, Completeness,
    Delivery, Effort, EffortChanged, EffortChoice, EventBody, InterruptReason, ItemId,
    MessageAccepted, MessageExpired, MessageWithdrawn, MessagesDelivered, ModelChanged, Priority,
    QuestionAnswered, QuestionAsked, QuestionId, QuestionKind, SessionRenamed, SuspendReason,
    TimestampMs, Title, TitleSource, TodoList, ToolCallFinished, ToolResult, ToolStatus,
    TurnCompleted, TurnEnd, TurnId, TurnInterrupted, TurnResumed, TurnStarted, TurnSuspended,
};
use agentd_store::PartialMessage;

use super::state::{SessionState, title_from_message};
use super::{approvals, plans, questions};
use crate::config::AutoResume;
use crate::error::CommandError;

/// An event before it has a position and a time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(crate) turn_id: Option<TurnId>,
    pub(crate) body: EventBody,
}

impl Draft {
    /// An event outside turns.
    pub(crate) fn plain(body: impl Into<EventBody>) -> Self {
        Self { turn_id: None, body: body.into() }
    }

    /// An event of a turn.
    pub(crate) fn of(turn_id: TurnId, body: impl Into<EventBody>) -> Self {
        Self { turn_id: Some(turn_id), body: body.into() }
    }
}

/// A user message as a client sends it.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The client's id for it.
    pub client_message_id: ClientMessageId,
    /// Its text.
    pub text: String,
    /// What happens when a turn is running.
    pub delivery: Delivery,
    /// Who sends it.
    pub author: Author,
    /// How important it is.
    pub priority: Priority,
    /// How long after it is too late to begin; none: never.
    pub ttl: Option<Duration>,
    /// A script sends it: nobody is known to look at what comes of it.
    pub unattended: bool,
}

/// Accepts a message. A turn that stands still makes way for it.
pub(crate) fn submit(
    state: &SessionState,
    submission: Submission,
    item_id: ItemId,
    now: TimestampMs,
    limits: (usize, usize),
) -> Result<Vec<Draft>, CommandError> {
    let (queue_limit, message_max_bytes) = limits;
    let Submission { client_message_id, text, delivery, author, priority, ttl, unattended } =
        submission;
    if text.trim().is_empty() {
        return Err(CommandError::EmptyMessage);
    }
    if text.len() > message_max_bytes {
        return Err(CommandError::MessageTooLong { bytes: text.len(), max: message_max_bytes });
    }
    if state.queue.len() >= queue_limit {
        return Err(CommandError::QueueFull { limit: queue_limit });
    }
    let mut drafts = Vec::new();
    if state.turn.as_ref().is_some_and(|turn| turn.suspended.is_some()) {
        drafts.extend(close_turn(state, InterruptReason::NewMessage, Some(&author)));
    }
    let title =
        state.wants_title(TitleSource::FirstMessage).then(|| title_from_message(&text)).flatten();
    drafts.push(Draft::plain(MessageAccepted {
        item_id,
        client_message_id,
        text,
        delivery,
        author,
        priority,
        expires_at: ttl.map(|ttl| now.plus(ttl)),
        unattended,
    }));
    drafts.extend(title.map(|title| renamed(&title, TitleSource::FirstMessage, None)));
    Ok(drafts)
}

/// Takes back a message that no turn has used yet.
pub(crate) fn withdraw(
    state: &SessionState,
    item_id: ItemId,
    by: Author,
) -> Result<Vec<Draft>, CommandError> {
    if !state.queue.iter().any(|queued| queued.item_id == item_id) {
        return Err(CommandError::NoQueuedMessage(item_id));
    }
    Ok(vec![Draft::plain(MessageWithdrawn { item_id, by })])
}

/// Takes out the waiting messages for which it is too late.
pub(crate) fn expire(state: &SessionState, now: TimestampMs) -> Vec<Draft> {
    state
        .queue
        .iter()
        .filter(|queued| queued.is_expired(now))
        .map(|queued| Draft::plain(MessageExpired { item_id: queued.item_id }))
        .collect()
}

/// Renames the session.
pub(crate) fn renamed(title: &Title, source: TitleSource, by: Option<Author>) -> Draft {
    Draft::plain(SessionRenamed { title: title.as_str().to_owned(), source, by })
}

/// Lets another model answer from the next turn on.
pub(crate) fn change_model(
    state: &SessionState,
    model: String,
    by: Option<Author>,
) -> Result<Vec<Draft>, CommandError> {
    check_model_name(&model)?;
    if state.record.model == model {
        return Ok(Vec::new());
    }
    Ok(vec![Draft::plain(ModelChanged { model, by })])
}

/// Lets the model reason more or less from the next turn on.
pub(crate) fn change_effort(
    state: &SessionState,
    effort: Option<Effort>,
    by: Option<Author>,
) -> Option<Draft> {
    (state.record.effort != effort).then(|| Draft::plain(EffortChanged { effort, by }))
}

/// Checks a model name. An empty one means the default.
pub(crate) fn check_model_name(model: &str) -> Result<(), CommandError> {
    const MAX_BYTES: usize = 256;
    if model.len() > MAX_BYTES || model.chars().any(char::is_control) {
        return Err(CommandError::ModelName { bytes: model.len(), max: MAX_BYTES });
    }
    Ok(())
}

/// Starts the turn of the next message; none when nothing waits any more. `news` are clauses that the
/// model is told of what went on since the last turn.
pub(crate) fn start_turn(
    state: &SessionState,
    turn_id: TurnId,
    provider: &str,
    model: &str,
    effort: Option<EffortChoice>,
    news: &[String],
) -> Option<Draft> {
    let next = state.next_message()?;
    let notes = [unfinished_work(&state.todo), plans::reminder(&state.plan), what_went_on(news)];
    let notes: Vec<&str> =
        notes.iter().map(String::as_str).filter(|note| !note.is_empty()).collect();
    Some(Draft::of(
        turn_id,
        TurnStarted {
            item_ids: vec![next.item_id],
            provider: provider.to_owned(),
            model: model.to_owned(),
            effort,
            reminder: notes.join("\n"),
        },
    ))
}

/// What the model is told at the start of a turn of what went on without it.
fn what_went_on(news: &[String]) -> String {
    if news.is_empty() {
        return String::new();
    }
    format!("[note from agentd, not from the user: {}.]", news.join("; "))
}

/// What the model is told at the start of a turn when the list of an earlier one is not through.
fn unfinished_work(todo: &TodoList) -> String {
    /// Steps that are named.
    const NAMED: usize = 10;
    let left = todo.unfinished().count();
    if left == 0 {
        return String::new();
    }
    let note = format!(
        "[note from agentd, not from the user: the todo list of an earlier turn has {left} of {} \
         steps left. Go on with them only if that is what the user wants now.",
        todo.items.len()
    );
    let steps = todo.unfinished().take(NAMED).map(|item| format!("- {}", item.label));
    let more = left.checked_sub(NAMED).filter(|more| *more > 0);
    let more = more.map(|more| format!("- and {more} more"));
    let lines: Vec<String> = std::iter::once(note).chain(steps).chain(more).collect();
    format!("{}]", lines.join("\n"))
}

/// Hands the waiting steering messages to the running turn.
pub(crate) fn deliver_steering(state: &SessionState) -> Option<Draft> {
    let turn = state.turn.as_ref()?;
    let item_ids: Vec<ItemId> = state
        .queue
        .iter()
        .filter(|queued| queued.delivery == Delivery::Steer)
        .map(|queued| queued.item_id)
        .collect();
    (!item_ids.is_empty()).then(|| Draft::of(turn.turn_id, MessagesDelivered { item_ids }))
}

/// Answers the open question.
pub(crate) fn answer(
    state: &SessionState,
    question_id: QuestionId,
    choice: &str,
    by: &Author,
    now: TimestampMs,
) -> Result<Vec<Draft>, CommandError> {
    if state.last_answered == Some(question_id) {
        return Err(CommandError::AnsweredAlready { question_id });
    }
    let (turn, question) = state
        .turn
        .as_ref()
        .and_then(|turn| turn.question.as_ref().map(|question| (turn, question)))
        .filter(|(_, question)| question.question_id == question_id)
        .ok_or(CommandError::NoQuestion(question_id))?;
    if question.kind == QuestionKind::AskUser {
        return questions::answer(turn, question, choice, by);
    }
    if !question.choices.iter().any(|known| known == choice) {
        return Err(CommandError::NotAChoice {
            got: agentd_domain::cut_line(choice, 40),
            choices: question.choices.clone(),
        });
    }
    let answered = Draft::of(
        turn.turn_id,
        QuestionAnswered { question_id, choice: choice.to_owned(), by: Some(by.clone()) },
    );
    let mut drafts = vec![answered];
    if choice == CHOICE_CONTINUE {
        drafts.push(Draft::of(turn.turn_id, TurnResumed { by: Some(by.clone()) }));
    } else {
        match question.kind {
            QuestionKind::ContinueRounds => drafts.push(Draft::of(
                turn.turn_id,
                TurnCompleted {
                    end: TurnEnd::RoundsLimit,
                    rounds: turn.rounds,
                    usage: turn.usage,
                    elapsed_ms: turn.elapsed_ms(now),
                },
            )),
            QuestionKind::ResumeTurn | QuestionKind::AskUser => {
                drafts.extend(interrupt(state, InterruptReason::NotResumed, Some(by)));
            }
        }
    }
    Ok(drafts)
}

/// Ends the open turn: voids its question, gives every open call its one result, says why.
pub(crate) fn close_turn(
    state: &SessionState,
    reason: InterruptReason,
    by: Option<&Author>,
) -> Vec<Draft> {
    let question = state.turn.as_ref().and_then(|turn| {
        // That of a call is voided with the calls.
        let question = turn.question.as_ref().filter(|open| open.kind != QuestionKind::AskUser)?;
        Some(Draft::of(
            turn.turn_id,
            QuestionAnswered {
                question_id: question.question_id,
                choice: String::new(),
                by: by.cloned(),
            },
        ))
    });
    question.into_iter().chain(interrupt(state, reason, by)).collect()
}

fn interrupt(state: &SessionState, reason: InterruptReason, by: Option<&Author>) -> Vec<Draft> {
    let Some(turn) = &state.turn else { return Vec::new() };
    let mut drafts = close_calls(state);
    drafts.push(Draft::of(
        turn.turn_id,
        TurnInterrupted { reason, by: by.cloned(), usage: turn.usage },
    ));
    drafts
}

/// Voids what the turn asked and gives every open call its result, so that the history stays
/// well-formed.
pub(crate) fn close_calls(state: &SessionState) -> Vec<Draft> {
    let Some(turn) = &state.turn else { return Vec::new() };
    let calls = turn.open_calls.iter().map(|open| {
        let (status, output) = match open.started {
            Some(effect) if !effect.is_repeatable() => (ToolStatus::Interrupted, OUTCOME_UNKNOWN),
            Some(_) => (ToolStatus::Interrupted, INTERRUPTED_READING),
            None => (ToolStatus::Skipped, NOT_RUN),
        };
        Draft::of(turn.turn_id, closed_call(open, status, output))
    });
    approvals::void(state).into_iter().chain(questions::void(state)).chain(calls).collect()
}

const INTERRUPTED_READING: &str = "[interrupted before it gave a result]";
const NOT_RUN: &str = "[not run: the turn was interrupted before this call]";

fn closed_call(
    open: &super::state::OpenCall,
    status: ToolStatus,
    output: &str,
) -> ToolCallFinished {
    let result = ToolResult::new(status, output, "TOOL_INTERRUPTED");
    ToolCallFinished { output_bytes: 0, ..ToolCallFinished::not_run(&open.call, result) }
}

/// The text that was being written, as far as it came.
pub(crate) fn incomplete_message(
    turn_id: TurnId,
    item_id: ItemId,
    reasoning: String,
    text: String,
) -> Option<Draft> {
    if reasoning.is_empty() && text.is_empty() {
        return None;
    }
    Some(Draft::of(
        turn_id,
        AssistantMessage {
            native: None,
            item_id,
            reasoning,
            text,
            tool_calls: Vec::new(),
            completeness: Completeness::Incomplete,
        },
    ))
}

/// Notes that a turn was found running although no daemon was. `partial` is the stored text.
pub(crate) fn found_after_stop(
    state: &SessionState,
    partial: Option<PartialMessage>,
) -> Vec<Draft> {
    let Some(turn) = state.turn.as_ref().filter(|turn| turn.suspended.is_none()) else {
        return Vec::new();
    };
    let text = partial.and_then(|PartialMessage { item_id, reasoning, text }| {
        incomplete_message(turn.turn_id, item_id, reasoning, text)
    });
    let suspended = TurnSuspended { reason: SuspendReason::DaemonStopped };
    let suspended = Draft::of(turn.turn_id, suspended);
    // Nobody waits for the answers any more: the turn asks again when it goes on.
    let void = approvals::void(state).into_iter().chain(questions::void(state));
    text.into_iter().chain(void).chain([suspended]).collect()
}

/// Stops of the daemon without a whole round in between after which users are asked whatever the
/// policy says.
const MAX_AUTO_RESUMES: u32 = 3;

/// Applies the policy to a turn that stands still because the daemon stopped.
pub(crate) fn resume_policy(
    state: &SessionState,
    policy: AutoResume,
    question_id: QuestionId,
) -> Vec<Draft> {
    let Some(turn) = &state.turn else { return Vec::new() };
    if turn.suspended != Some(SuspendReason::DaemonStopped) || turn.question.is_some() {
        return Vec::new();
    }
    match policy {
        // A turn that brings the daemon down again and again must not do so for ever.
        AutoResume::Always if turn.stops <= MAX_AUTO_RESUMES => {
            vec![Draft::of(turn.turn_id, TurnResumed { by: None })]
        }
        AutoResume::Never => close_turn(state, InterruptReason::NotResumed, None),
        AutoResume::Ask | AutoResume::Always => vec![Draft::of(
            turn.turn_id,
            question(
                question_id,
                QuestionKind::ResumeTurn,
                "The daemon stopped while this turn was running. Go on with it?".to_owned(),
            ),
        )],
    }
}

/// Suspends a turn that used up its rounds.
pub(crate) fn rounds_used_up(state: &SessionState, question_id: QuestionId) -> Vec<Draft> {
    let Some(turn) = &state.turn else { return Vec::new() };
    let prompt = format!("The turn has taken {} model rounds. Go on?", turn.rounds);
    vec![
        Draft::of(turn.turn_id, TurnSuspended { reason: SuspendReason::RoundsLimit }),
        Draft::of(turn.turn_id, question(question_id, QuestionKind::ContinueRounds, prompt)),
    ]
}

fn question(question_id: QuestionId, kind: QuestionKind, prompt: String) -> QuestionAsked {
    QuestionAsked {
        question_id,
        kind,
        prompt,
        choices: vec![CHOICE_CONTINUE.to_owned(), CHOICE_STOP.to_owned()],
        free_text: false,
        default_choice: String::new(),
        expires_at: None,
    }
}

/// What the actor does next, once all commands and reports at hand are worked in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NextStep {
    /// Nothing to do, or a turn is running as it should.
    Wait,
    /// Run a turn for the next message.
    StartTurn,
    /// Go on with the open turn.
    ContinueTurn,
    /// Cancel the running turn: a message that interrupts has arrived.
    CancelTurn {
        /// Who sent it.
        by: Author,
    },
}

/// See [`NextStep`]. `task_runs` says whether a turn's task is alive.
pub(crate) fn next_step(state: &SessionState, task_runs: bool) -> NextStep {
    if task_runs {
        return match state.queue.iter().find(|queued| queued.delivery == Delivery::Interrupt) {
            Some(queued) if state.turn.is_some() => {
                NextStep::CancelTurn { by: queued.author.clone() }
            }
            _ => NextStep::Wait,
        };
    }
    match &state.turn {
        Some(turn) if turn.suspended.is_some() => NextStep::Wait,
        Some(_) => NextStep::ContinueTurn,
        None if state.queue.is_empty() => NextStep::Wait,
        None => NextStep::StartTurn,
    }
}

#[cfg(test)]
mod tests;

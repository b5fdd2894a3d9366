//! Logs for tests: made by hand, or legal ones at random, as the actor's decisions would write them.

use agentd_domain::{
    Action, AssistantMessage, AttemptRestarted, Author, CHOICE_CONTINUE, CHOICE_STOP, CallId,
    Completeness, ContextTrimmed, Cost, Delivery, ErrorReport, Event, EventBody, InterruptReason,
    ItemId, NativeBlocks, Notice, NoticeLevel, Priority, QuestionId, Seq, SessionCreated,
    SessionId, TimestampMs, ToolCall, ToolCallFinished, ToolCallStarted, ToolEffect, ToolResult,
    TurnCompleted, TurnEnd, TurnFailed, TurnId, UnknownEvent, Usage, UsagePurpose, UsageRecorded,
};
use agentd_store::PartialMessage;
use proptest::prelude::*;

use super::decide::{self, Draft, Submission};
use super::state::SessionState;
use crate::config::AutoResume;

pub(crate) fn session_id() -> SessionId {
    SessionId::from_parts(1, 1)
}

pub(crate) fn item(number: u64) -> ItemId {
    ItemId::from_parts(2, u128::from(number))
}

pub(crate) fn turn(number: u64) -> TurnId {
    TurnId::from_parts(3, u128::from(number))
}

pub(crate) fn question(number: u64) -> QuestionId {
    QuestionId::from_parts(4, u128::from(number))
}

pub(crate) fn author(name: &str) -> Author {
    Author::new(name, name).unwrap()
}

pub(crate) fn call_id(text: &str) -> CallId {
    text.parse().unwrap()
}

pub(crate) fn submission(text: &str, delivery: Delivery) -> Submission {
    Submission {
        unattended: false,
        priority: Priority::Normal,
        ttl: None,
        client_message_id: "m".parse().unwrap(),
        text: text.to_owned(),
        delivery,
        author: author("ann"),
    }
}

/// A whole message of the model that asks for tools by these ids.
pub(crate) fn answer(id: ItemId, text: &str, calls: &[&str]) -> AssistantMessage {
    let call = |id: &&str| ToolCall {
        call_id: call_id(id),
        name: format!("tool_{id}"),
        arguments_json: "{}".to_owned(),
    };
    AssistantMessage {
        native: None,
        item_id: id,
        reasoning: String::new(),
        text: text.to_owned(),
        tool_calls: calls.iter().map(call).collect(),
        completeness: Completeness::Complete,
    }
}

pub(crate) fn started(id: &str, effect: ToolEffect) -> ToolCallStarted {
    ToolCallStarted {
        call_id: call_id(id),
        name: format!("tool_{id}"),
        arguments_json: "{}".to_owned(),
        effect,
        action: Action::default(),
    }
}

pub(crate) fn finished(id: &str, output: &str) -> ToolCallFinished {
    let result = ToolResult::success(output);
    ToolCallFinished::of(call_id(id), format!("tool_{id}"), result, 0, 0)
}

/// The same as an answer of Anthropic's, thinking first. The ids of its calls come again in every
/// message where `ids` is the same.
pub(crate) fn native_answer(id: ItemId, text: &str, calls: &[&str], ids: &str) -> AssistantMessage {
    let mut blocks = vec![r#"{"type":"thinking","thinking":"t","signature":"s=="}"#.to_owned()];
    if !text.is_empty() {
        blocks.push(serde_json::json!({"type": "text", "text": text}).to_string());
    }
    blocks.extend(calls.iter().map(|call| {
        let (id, name) = (format!("toolu_{ids}_{call}"), format!("tool_{call}"));
        serde_json::json!({"type": "tool_use", "id": id, "name": name, "input": {}}).to_string()
    }));
    let (api, model) = ("anthropic".to_owned(), "m".to_owned());
    AssistantMessage {
        native: Some(NativeBlocks { api, model, blocks }),
        reasoning: "t".to_owned(),
        ..answer(id, text, calls)
    }
}

/// A log and the state that it folds to.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    pub(crate) state: SessionState,
    pub(crate) events: Vec<Event>,
    ids: u64,
}

impl Log {
    /// A session that was just made.
    pub(crate) fn new() -> Self {
        let mut log = Self { state: SessionState::new(session_id()), events: Vec::new(), ids: 100 };
        log.add([Draft::plain(SessionCreated {
            permission_mode: agentd_domain::PermissionMode::Ask,
            work_mode: agentd_domain::WorkMode::Develop,
            further_roots: Vec::new(),
            effort: None,
            workspace: "/w".to_owned(),
            title: String::new(),
            model: String::new(),
            origin: None,
        })]);
        log
    }

    /// What these events leave behind.
    pub(crate) fn of(events: &[Event]) -> Self {
        // Ids that no event has.
        Self { state: fold(events), events: events.to_vec(), ids: 1_000_000 }
    }

    /// Appends events, a tenth of a second apart.
    pub(crate) fn add(&mut self, drafts: impl IntoIterator<Item = Draft>) {
        for Draft { turn_id, body } in drafts {
            let event =
                Event { seq: self.state.record.last_seq.next(), at: self.now(), turn_id, body };
            self.state.apply(&event);
            self.events.push(event);
        }
    }

    /// Appends a step of the open turn.
    pub(crate) fn step(&mut self, body: impl Into<EventBody>) {
        let turn_id = self.state.turn.as_ref().map(|turn| turn.turn_id);
        self.add([Draft { turn_id, body: body.into() }]);
    }

    pub(crate) fn now(&self) -> TimestampMs {
        TimestampMs(i64::try_from(self.state.record.last_seq.0).unwrap() * 100)
    }

    pub(crate) fn submit(&mut self, id: ItemId, text: &str, delivery: Delivery) {
        let drafts = decide::submit(
            &self.state,
            submission(text, delivery),
            id,
            TimestampMs(0),
            (10_000, 10_000),
        )
        .unwrap();
        self.add(drafts);
    }

    pub(crate) fn start(&mut self, id: TurnId) {
        let started = decide::start_turn(&self.state, id, "scripted", "m", None, &[]);
        self.add(started);
    }

    fn new_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// Does one thing that the actor could do now; nothing when it could not.
    pub(crate) fn perform(&mut self, op: &Op) {
        let is_running = self.state.turn.as_ref().is_some_and(|turn| turn.suspended.is_none());
        let open = self.state.turn.as_ref().map_or_else(Vec::new, |turn| turn.open_calls.clone());
        let at_boundary = is_running && open.is_empty();
        match op {
            Op::Submit(text, delivery) => {
                let id = item(self.new_id());
                self.submit(id, text, *delivery);
            }
            Op::Withdraw(at) => {
                if let Some(queued) = self.state.queue.get(*at) {
                    let drafts = decide::withdraw(&self.state, queued.item_id, author("bob"));
                    self.add(drafts.unwrap());
                }
            }
            Op::Start if self.state.turn.is_none() => {
                let id = turn(self.new_id());
                self.start(id);
            }
            Op::Steer if at_boundary => {
                let delivered = decide::deliver_steering(&self.state);
                self.add(delivered);
            }
            Op::Answer(text, calls, native) if at_boundary => {
                let id = item(self.new_id());
                // Ids begin anew in each answer: the same ones come again in every turn.
                let names: Vec<String> = (0..*calls).map(|call| format!("c{call}")).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.step(if *native {
                    native_answer(id, text, &names, &id.to_string())
                } else {
                    answer(id, text, &names)
                });
                self.step(UsageRecorded {
                    cost: Cost::default(),
                    purpose: UsagePurpose::Turn,
                    provider: "scripted".to_owned(),
                    model: "m".to_owned(),
                    usage: Usage { prompt_tokens: 3, ..Usage::default() },
                    first_byte_ms: 0,
                    elapsed_ms: 0,
                });
            }
            Op::StartCall(effect) if is_running => {
                if let Some(open) = open.iter().find(|open| open.started.is_none()) {
                    self.step(started(open.call.call_id.as_str(), *effect));
                }
            }
            Op::FinishCall(output) if is_running => {
                if let Some(open) = open.first() {
                    self.step(finished(open.call.call_id.as_str(), output));
                }
            }
            Op::Retry if at_boundary => {
                let discarded_item_id = item(self.new_id());
                let error = ErrorReport::default();
                self.step(AttemptRestarted { discarded_item_id, attempt: 2, error });
            }
            Op::Complete if at_boundary => {
                let state = self.state.turn.clone().unwrap();
                self.step(TurnCompleted {
                    end: TurnEnd::Answered,
                    rounds: state.rounds,
                    usage: state.usage,
                    elapsed_ms: state.elapsed_ms(self.now()),
                });
            }
            Op::Fail(text) if is_running => {
                let id = item(self.new_id());
                let turn = self.state.turn.clone().unwrap();
                let text = text.clone();
                self.add(decide::incomplete_message(turn.turn_id, id, String::new(), text));
                self.add(decide::close_calls(&self.state));
                self.step(TurnFailed { error: ErrorReport::default(), usage: turn.usage });
            }
            Op::Interrupt => {
                let by = author("bob");
                self.add(decide::close_turn(&self.state, InterruptReason::User, Some(&by)));
            }
            Op::RoundsUsedUp if at_boundary => {
                let id = question(self.new_id());
                self.add(decide::rounds_used_up(&self.state, id));
            }
            Op::Crash(text, policy) => {
                let item_id = item(self.new_id());
                let partial =
                    PartialMessage { item_id, reasoning: String::new(), text: text.clone() };
                // Text is only ever being written when no call is open.
                let partial = open.is_empty().then_some(partial);
                self.add(decide::found_after_stop(&self.state, partial));
                let id = question(self.new_id());
                self.add(decide::resume_policy(&self.state, *policy, id));
            }
            Op::Choose(go_on) => {
                let asked = self.state.turn.as_ref().and_then(|turn| turn.question.clone());
                if let Some(asked) = asked {
                    let choice = if *go_on { CHOICE_CONTINUE } else { CHOICE_STOP };
                    let by = author("eve");
                    let now = self.now();
                    let drafts = decide::answer(&self.state, asked.question_id, choice, &by, now);
                    self.add(drafts.unwrap());
                }
            }
            Op::Rename => {
                let title = "A title".parse().unwrap();
                let by = Some(author("ann"));
                self.add([decide::renamed(&title, agentd_domain::TitleSource::Manual, by)]);
            }
            Op::Trim => {
                let first_kept_seq = self.state.record.last_seq;
                self.step(ContextTrimmed { first_kept_seq, dropped_tokens: 1, steps: Vec::new() });
            }
            Op::Note => {
                let level = NoticeLevel::Info;
                self.step(Notice { level, text: String::new() });
            }
            Op::Unknown => self.step(EventBody::Unknown(UnknownEvent {
                kind: "from_the_future".to_owned(),
                record_json: "{}".to_owned(),
            })),
            _ => {}
        }
    }
}

/// What may happen to a session.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Submit(String, Delivery),
    Withdraw(usize),
    Start,
    Steer,
    /// Text, number of calls, and whether it comes with native blocks.
    Answer(String, usize, bool),
    StartCall(ToolEffect),
    FinishCall(String),
    Retry,
    Complete,
    Fail(String),
    Interrupt,
    RoundsUsedUp,
    Crash(String, AutoResume),
    Choose(bool),
    Rename,
    Trim,
    Note,
    Unknown,
}

fn any_op() -> impl Strategy<Value = Op> {
    let delivery =
        prop::sample::select(vec![Delivery::Queue, Delivery::Steer, Delivery::Interrupt]);
    let effect = prop::sample::select(vec![ToolEffect::Pure, ToolEffect::Exclusive]);
    let policy = prop::sample::select(vec![AutoResume::Ask, AutoResume::Always, AutoResume::Never]);
    let said = "[a-z世😀]{1,12}";
    let maybe = "[a-z世😀 ]{0,12}";
    prop_oneof![
        4 => (said, delivery).prop_map(|(text, delivery)| Op::Submit(text, delivery)),
        1 => (0_usize..3).prop_map(Op::Withdraw),
        4 => Just(Op::Start),
        2 => Just(Op::Steer),
        4 => (maybe, 0_usize..4, any::<bool>())
            .prop_map(|(text, calls, native)| Op::Answer(text, calls, native)),
        3 => effect.prop_map(Op::StartCall),
        5 => maybe.prop_map(Op::FinishCall),
        1 => Just(Op::Retry),
        3 => Just(Op::Complete),
        1 => maybe.prop_map(Op::Fail),
        1 => Just(Op::Interrupt),
        1 => Just(Op::RoundsUsedUp),
        1 => (maybe, policy).prop_map(|(text, policy)| Op::Crash(text, policy)),
        2 => any::<bool>().prop_map(Op::Choose),
        1 => Just(Op::Rename),
        1 => Just(Op::Trim),
        1 => Just(Op::Note),
        1 => Just(Op::Unknown),
    ]
}

/// A log that the actor could have written.
pub(crate) fn any_log() -> impl Strategy<Value = Log> {
    prop::collection::vec(any_op(), 0..60).prop_map(|ops| {
        let mut log = Log::new();
        for op in &ops {
            log.perform(op);
        }
        log
    })
}

/// The end of a log, for completeness' sake of a fold from nothing.
pub(crate) fn fold(events: &[Event]) -> SessionState {
    let mut state = SessionState::new(session_id());
    for event in events {
        state.apply(event);
    }
    assert_eq!(state.record.last_seq, events.last().map_or(Seq::ZERO, |event| event.seq));
    state
}

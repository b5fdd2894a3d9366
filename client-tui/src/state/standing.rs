//! How things stand: what was asked of the daemon beside the transcript, how far somebody has read, the
//! plan, the queue.

use agentd_proto::v1;
use agentd_shared::text::one_line;
use agentd_shared::transcript::{Item, NoteKind, UserMessage};

use super::overlay::{Item as PickerItem, Overlay, Picker, Picks};
use super::{Effect, State, Tone};
use crate::conn::Command;
use crate::document::{EntryKey, Target};

/// What was asked of the daemon.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Facts {
    /// Tools that there are.
    pub tools: Option<usize>,
    /// Memories that hold.
    pub memories: Option<u32>,
    /// What the next request of the open session would hold.
    pub context: Option<v1::GetContextResponse>,
    /// The open session's list of what is to be done, as it was when it was opened.
    pub todo: Option<v1::TodoList>,
    /// The same of its plan.
    pub plan: Option<v1::Plan>,
    /// How far this terminal is known to have read the open session.
    pub read_seq: u64,
    /// The place that was searched for, with its session.
    pub wanted_place: Option<(String, u64)>,
}

/// Whether the plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanShown {
    /// While something of it is left to be done.
    #[default]
    WhileOpen,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl PlanShown {
    /// The other way round.
    pub(super) fn turned(is_seen: bool) -> Self {
        if is_seen { Self::Never } else { Self::Always }
    }
}

/// A line of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLine {
    /// How far it is.
    pub state: StepState,
    /// What is to be done, inert.
    pub text: String,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepState {
    /// What the steps are for.
    Title,
    /// Not begun.
    Open,
    /// Being done.
    Runs,
    /// Done.
    Done,
    /// It did not work.
    Failed,
    /// Its turn ended before.
    Interrupted,
}

impl State {
    /// Whether the open session waits for an answer.
    pub fn is_asked(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            open.transcript.open_approvals().next().is_some()
                || open.transcript.open_questions().next().is_some()
        })
    }

    /// Asks for what is shown beside the transcript.
    pub fn ask_for_facts(&self) -> Vec<Effect> {
        vec![Effect::Send(Command::ListTools), Effect::Send(Command::GetMemoryStats)]
    }

    /// Asks how things stand in the open session.
    pub(super) fn ask_about_session(&self) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        let session_id = open.session_id.clone();
        vec![
            Effect::Send(Command::GetSession(v1::GetSessionRequest {
                session_id: session_id.clone(),
            })),
            Effect::Send(Command::GetContext(v1::GetContextRequest { session_id })),
        ]
    }

    /// Notes how far the person here has read, when that is further than before.
    pub(super) fn note_read(&mut self) -> Option<Effect> {
        if !self.has_focus {
            return None;
        }
        let open = self.open.as_ref().filter(|open| open.caught_up)?;
        let seq = open.transcript.last_seq();
        if seq <= self.facts.read_seq {
            return None;
        }
        self.facts.read_seq = seq;
        Some(Effect::Send(Command::SetReadCursor(v1::SetReadCursorRequest {
            session_id: open.session_id.clone(),
            client_id: self.author.client_id.clone(),
            seq,
        })))
    }

    /// Takes a message of the queue back; of several the one that is chosen, the last unless another is.
    pub(super) fn withdraw_one(&mut self) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        let waiting: Vec<&UserMessage> = open.transcript.queue().collect();
        match waiting.as_slice() {
            [] => {
                self.notices.say(Tone::Info, "nothing waits in the queue");
                Vec::new()
            }
            [only] => {
                let only = only.item_id.clone();
                self.take_back(&only)
            }
            several => {
                let items = several.iter().enumerate().rev().map(|(at, message)| PickerItem {
                    value: message.item_id.clone(),
                    label: one_line(&message.text, 500),
                    detail: format!("{}. of {}", at + 1, one_line(&message.author.name, 20)),
                    is_current: false,
                });
                let items = Some(items.collect());
                let picker = Picker::new("take a message back", Picks::Waiting, items);
                self.overlay = Some(Overlay::Picker(picker));
                Vec::new()
            }
        }
    }

    /// Takes a message of the queue back.
    pub(super) fn take_back(&mut self, item_id: &str) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        let Some(message) = open.transcript.queue().find(|message| message.item_id == item_id)
        else {
            self.notices.say(Tone::Warn, "this message waits no longer");
            return Vec::new();
        };
        let request = v1::WithdrawMessageRequest {
            session_id: open.session_id.clone(),
            item_id: message.item_id.clone(),
            author: Some(self.author.clone()),
        };
        // Whoever takes back what they wrote wants to write it better.
        let text = message.text.clone();
        let is_own = message.author.client_id == self.author.client_id;
        if is_own && self.composer.is_empty() {
            self.composer.set(&text);
        }
        vec![Effect::Send(Command::Withdraw(request))]
    }

    /// Goes to the place that was searched for, as far as it is read.
    pub(super) fn go_to_wanted_place(&mut self) -> Vec<Effect> {
        let Some((session_id, seq)) = self.facts.wanted_place.clone() else { return Vec::new() };
        let stream = self.next_stream();
        let Some(open) = self.open.as_mut().filter(|open| open.session_id == session_id) else {
            self.facts.wanted_place = None;
            return Vec::new();
        };
        if !open.caught_up || open.reads_earlier() {
            return Vec::new();
        }
        // Turns and messages stand where they came to how they are, not where they began.
        let before = open.transcript.items().iter().filter(|item| seq_of(item) <= seq);
        let found = before.max_by_key(|item| seq_of(item));
        let is_whole = open.transcript.items().first().is_some_and(|item| seq_of(item) <= seq);
        if let Some(item) = found.filter(|_| is_whole) {
            let target = Target::Entry(key_of(item));
            open.document.go_to(&open.transcript, &target, open.height.max(1));
            self.facts.wanted_place = None;
            return Vec::new();
        }
        // It lies further back than what is read.
        if let Some(position) = open.read_earlier(stream) {
            return vec![Effect::Attach { stream, session_id, position }];
        }
        open.document.to_top(&open.transcript);
        self.facts.wanted_place = None;
        Vec::new()
    }

    /// The lines of the plan that are to be shown; without a plan those of the list of what is to be done.
    pub fn plan_view(&self) -> Vec<PlanLine> {
        let lines = self.all_plan_lines();
        let is_open = lines.iter().any(|line| {
            matches!(line.state, StepState::Open | StepState::Runs | StepState::Interrupted)
        });
        match self.plan {
            PlanShown::Always => lines,
            PlanShown::WhileOpen if is_open => lines,
            PlanShown::WhileOpen | PlanShown::Never => Vec::new(),
        }
    }

    /// How many lines of the plan are to be shown.
    pub(super) fn plan_lines(&self) -> usize {
        self.plan_view().len()
    }

    fn all_plan_lines(&self) -> Vec<PlanLine> {
        let (plan, todo) = self.plans();
        let mut lines = Vec::new();
        let title = |text: &str| PlanLine { state: StepState::Title, text: one_line(text, 400) };
        if let Some(plan) = plan.filter(|plan| !plan.steps.is_empty()) {
            lines.push(title(if plan.goal.is_empty() { "plan" } else { &plan.goal }));
            lines.extend(plan.steps.iter().map(|step| {
                let state = match step.status() {
                    v1::PlanStepStatus::Unspecified | v1::PlanStepStatus::Pending => {
                        StepState::Open
                    }
                    v1::PlanStepStatus::Running => StepState::Runs,
                    v1::PlanStepStatus::Done => StepState::Done,
                    v1::PlanStepStatus::Failed => StepState::Failed,
                    v1::PlanStepStatus::Interrupted => StepState::Interrupted,
                };
                PlanLine { state, text: one_line(&step.objective, 400) }
            }));
            return lines;
        }
        if let Some(todo) = todo.filter(|todo| !todo.items.is_empty()) {
            lines.push(title(if todo.title.is_empty() { "to do" } else { &todo.title }));
            lines.extend(todo.items.iter().map(|item| {
                let state = match item.status() {
                    v1::TodoStatus::Unspecified | v1::TodoStatus::Pending => StepState::Open,
                    v1::TodoStatus::Running => StepState::Runs,
                    v1::TodoStatus::Completed => StepState::Done,
                };
                PlanLine { state, text: one_line(&item.label, 400) }
            }));
        }
        lines
    }

    /// The newest plan and list, of what was told at the beginning and what events brought.
    fn plans(&self) -> (Option<&v1::Plan>, Option<&v1::TodoList>) {
        let (mut plan, mut todo) = (self.facts.plan.as_ref(), self.facts.todo.as_ref());
        let notes = self.open.iter().flat_map(|open| open.transcript.items());
        for item in notes {
            let Item::Note(note) = item else { continue };
            match &note.kind {
                NoteKind::PlanChanged { plan: newer }
                    if plan.is_none_or(|known| newer.revision >= known.revision) =>
                {
                    plan = Some(newer);
                }
                NoteKind::TodoListChanged { list: newer }
                    if todo.is_none_or(|known| newer.revision >= known.revision) =>
                {
                    todo = Some(newer);
                }
                _ => {}
            }
        }
        (plan, todo)
    }

    /// What is told on the terminal when somebody leaves.
    pub fn farewell(&self) -> String {
        let Some(open) = &self.open else { return String::new() };
        let title = open.transcript.title();
        let title = one_line(title, 80);
        let title = if title.is_empty() { title } else { format!(" \"{title}\"") };
        let goes_on = if self.is_running() { "; its turn goes on" } else { "" };
        format!(
            "session {}{title}{goes_on}\ncome back with: agent-tui --session {}\n",
            open.session_id, open.session_id
        )
    }
}

fn seq_of(item: &Item) -> u64 {
    match item {
        Item::User(message) => message.seq,
        Item::Assistant(message) => message.seq,
        Item::Turn(turn) => turn.seq,
        Item::Question(question) => question.seq,
        Item::Note(note) => note.seq,
    }
}

fn key_of(item: &Item) -> EntryKey {
    match item {
        Item::User(message) => EntryKey::User(message.item_id.clone()),
        Item::Assistant(message) if message.item_id.is_empty() => EntryKey::Orphan(message.seq),
        Item::Assistant(message) => EntryKey::Assistant(message.item_id.clone()),
        Item::Turn(turn) => EntryKey::Turn(turn.turn_id.clone()),
        Item::Question(question) => EntryKey::Question(question.question_id.clone()),
        Item::Note(note) => EntryKey::Note(note.seq),
    }
}

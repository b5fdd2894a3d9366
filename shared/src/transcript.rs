//! A session as a client shows it: a pure fold over events.
//!
//! Two readers of the same log end with the same transcript, however the live pieces were cut, and
//! whether they attached early, in the middle of a stream, or twice. To that end durable items stand
//! in the order of the log, and live text stands after them until its final message takes its place.

mod change;
mod fold;
mod item;
mod live;
mod note;

use std::cmp::Reverse;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;

pub use change::{Change, TextChannel};
pub use item::{
    Answer, AssistantItem, Item, MessageState, Question, ToolCallItem, ToolCallState, TurnMarker,
    TurnState, UserMessage,
};
pub use note::{Note, NoteKind};

/// A session as it is known from its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// In the order of the log.
    items: Vec<Item>,
    /// How many of the items are messages that wait, so that nobody looks through all for them.
    waiting_messages: usize,
    /// How many of the items are questions without an answer.
    open_questions: usize,
    /// What is being written now.
    live: Vec<AssistantItem>,
    /// Items whose late pieces are void, until the turn ends.
    void: Vec<String>,
    /// Live items and tool calls of which a piece is missing.
    gaps: Vec<String>,
    title: String,
    title_source: v1::TitleSource,
    model: String,
    effort: v1::Effort,
    permission_mode: v1::PermissionMode,
    work_mode: v1::WorkMode,
    /// Calls that wait, each with its turn.
    approvals: Vec<(String, v1::ApprovalRequested)>,
    workspace: String,
    origin: Option<v1::ForkOrigin>,
    usage: v1::Usage,
    cost: v1::Cost,
    participants: Vec<v1::Participant>,
    last_seq: u64,
}

impl Transcript {
    /// Folds an event in. Durable events that were folded in before change nothing.
    pub fn apply(&mut self, event: &v1::Event) -> Change {
        let Some(body) = &event.body else {
            return self.apply_unknown(event, String::new());
        };
        match body {
            Body::ItemDelta(delta) => return self.apply_delta(event, delta),
            Body::Presence(presence) => return self.set_participants(&presence.participants),
            _ => {}
        }
        if event.seq <= self.last_seq {
            return Change::Nothing;
        }
        self.last_seq = event.seq;
        self.apply_durable(event, body)
    }

    /// Takes over who is attached, as the first message of an attached stream tells.
    pub fn attached(&mut self, attached: &v1::Attached) -> Change {
        self.set_participants(&attached.participants)
    }

    /// Items in the order of the log, without live ones.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Assistant messages that are being written now; they belong after all items.
    pub fn live(&self) -> &[AssistantItem] {
        &self.live
    }

    /// Effort asked for; unspecified means the model's default.
    pub fn effort(&self) -> v1::Effort {
        self.effort
    }

    /// How much the agent may do without asking; unspecified if the log was read from later on.
    pub fn permission_mode(&self) -> v1::PermissionMode {
        self.permission_mode
    }

    /// What the agent works on.
    pub fn work_mode(&self) -> v1::WorkMode {
        self.work_mode
    }

    /// Calls that wait until somebody says whether they may run, the oldest first, each with the
    /// ULID of its turn.
    pub fn open_approvals(&self) -> impl Iterator<Item = (&str, &v1::ApprovalRequested)> {
        self.approvals.iter().map(|(turn_id, request)| (turn_id.as_str(), request))
    }

    /// What the requests that were read of cost.
    pub fn cost(&self) -> &v1::Cost {
        &self.cost
    }

    /// An assistant message, live or final.
    pub fn assistant(&self, item_id: &str) -> Option<&AssistantItem> {
        let live = self.live.iter().find(|item| item.item_id == item_id);
        live.or_else(|| {
            self.items.iter().rev().find_map(|item| match item {
                Item::Assistant(message) if message.item_id == item_id => Some(message),
                _ => None,
            })
        })
    }

    /// A user message.
    pub fn message(&self, item_id: &str) -> Option<&UserMessage> {
        self.items.iter().rev().find_map(|item| match item {
            Item::User(message) if message.item_id == item_id => Some(message),
            _ => None,
        })
    }

    /// A tool call.
    pub fn tool_call(&self, call_id: &str) -> Option<&ToolCallItem> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Assistant(message) => {
                message.tool_calls.iter().find(|call| call.call_id == call_id)
            }
            _ => None,
        })
    }

    /// A turn.
    pub fn turn(&self, turn_id: &str) -> Option<&TurnMarker> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Turn(turn) if turn.turn_id == turn_id => Some(turn),
            _ => None,
        })
    }

    /// The turn that began last.
    pub fn last_turn(&self) -> Option<&TurnMarker> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Turn(turn) => Some(turn),
            _ => None,
        })
    }

    /// A question.
    pub fn question(&self, question_id: &str) -> Option<&Question> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Question(question) if question.question_id == question_id => Some(question),
            _ => None,
        })
    }

    /// The newest turn, if it is not over.
    pub fn open_turn(&self) -> Option<&TurnMarker> {
        let newest = self.items.iter().rev().find_map(|item| match item {
            Item::Turn(turn) => Some(turn),
            _ => None,
        });
        newest.filter(|turn| !turn.state.is_over())
    }

    /// Questions that nobody has answered yet, the oldest first.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        let open = self.items.iter().rev().filter_map(|item| match item {
            Item::Question(question) if question.answer.is_none() => Some(question),
            _ => None,
        });
        // Those that are open stand near the end.
        let mut open: Vec<&Question> = open.take(self.open_questions).collect();
        open.reverse();
        open.into_iter()
    }

    /// Messages that wait for a turn, in the order in which they will run.
    pub fn queue(&self) -> impl Iterator<Item = &UserMessage> {
        let waiting = self.items.iter().rev().filter_map(|item| match item {
            Item::User(message) if message.state == MessageState::Queued => Some(message),
            _ => None,
        });
        // Those that wait stand near the end.
        let mut waiting: Vec<&UserMessage> = waiting.take(self.waiting_messages).collect();
        waiting.reverse();
        // As the daemon runs them; the sort keeps the order of acceptance among equals.
        waiting.sort_by_key(|message| {
            let priority = match message.priority {
                v1::Priority::Unspecified => v1::Priority::Normal,
                priority => priority,
            };
            (message.delivery != v1::Delivery::Interrupt, Reverse(i32::from(priority)))
        });
        waiting.into_iter()
    }

    /// The title; empty until one is known.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where the title comes from.
    pub fn title_source(&self) -> v1::TitleSource {
        self.title_source
    }

    /// The model asked for; empty means the daemon's default.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Absolute path of the directory that tools work in; empty if the log was read from later on.
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// The session this one was copied from, if it was.
    pub fn origin(&self) -> Option<&v1::ForkOrigin> {
        self.origin.as_ref()
    }

    /// Tokens over all requests that were seen.
    pub fn usage(&self) -> v1::Usage {
        self.usage
    }

    /// Terminals attached now.
    pub fn participants(&self) -> &[v1::Participant] {
        &self.participants
    }

    /// The newest durable event that was folded in; 0 when there is none.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Tells whether a piece of live text is missing. Attaching again from the next durable event
    /// brings it; so does the final message.
    pub fn needs_resync(&self) -> bool {
        !self.gaps.is_empty()
    }

    fn set_participants(&mut self, participants: &[v1::Participant]) -> Change {
        if self.participants == participants {
            return Change::Nothing;
        }
        self.participants = participants.to_vec();
        Change::Participants
    }

    fn apply_unknown(&mut self, event: &v1::Event, kind: String) -> Change {
        if event.seq <= self.last_seq {
            return Change::Nothing;
        }
        self.last_seq = event.seq;
        self.note(event, NoteKind::Unknown { kind })
    }

    /// Adds what an event is a note about, if it is about anything.
    fn note_of(&mut self, event: &v1::Event, body: &Body) -> Change {
        match NoteKind::of(body) {
            Some(kind) => self.note(event, kind),
            None => Change::Nothing,
        }
    }

    fn note(&mut self, event: &v1::Event, kind: NoteKind) -> Change {
        self.items.push(Item::Note(Note { seq: event.seq, at_ms: event.at_ms, kind }));
        Change::Note
    }
}

#[cfg(test)]
mod tests;

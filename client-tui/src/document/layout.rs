//! What an entry consists of: blocks, each of parts that are rendered one by one.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use agentd_shared::transcript::{AssistantItem, Item, MessageState, ToolCallItem, TurnState};
use ratatui::text::Line;

use super::entry::Entry;
use super::render::{self, Look};
use super::section::{Cutter, Section, Syntax};
use super::{EntryKey, Target};

/// What a block is. Numbers are those of tool calls in their message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    User,
    Reasoning,
    Text,
    /// The rows that are always there of a call.
    Card(usize),
    Diff(usize),
    Arguments(usize),
    Output(usize),
    /// How whole a message is.
    Ending,
    Question,
    Note,
    Foot,
}

/// One row, and how many of its columns are decoration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DocumentRow {
    pub(super) line: Line<'static>,
    pub(super) lead: usize,
}

/// Something of an entry that can be chosen, opened or copied as one.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) target: Target,
    /// Nothing of it is folded.
    pub(super) open: bool,
    cutter: Option<Cutter>,
    /// Sections that have ended.
    ended: usize,
    pub(super) parts: Vec<Part>,
}

/// Rows that are made at once.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) section: Option<Section>,
    /// `None` until somebody looks.
    pub(super) rows: Option<Vec<DocumentRow>>,
    /// The window that showed it last.
    pub(super) shown: u64,
}

/// The blocks of an entry.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) blocks: Vec<Block>,
    pub(super) stale: bool,
    pub(super) shown: u64,
}

impl Layout {
    /// Follows an entry. Rows of sections that are as before stay.
    pub(super) fn follow(
        &mut self,
        entry: &Entry<'_>,
        look: Look,
        turned: &HashSet<Target>,
        me: &str,
    ) {
        self.stale = false;
        let mut left = std::mem::take(&mut self.blocks);
        for (kind, target, open) in blocks(entry, look, turned) {
            let known = left.iter().position(|block| block.kind == kind && block.open == open);
            let mut block = match known {
                Some(at) => left.swap_remove(at),
                None => Block { kind, target, open, cutter: None, ended: 0, parts: Vec::new() },
            };
            block.follow(entry, me);
            self.blocks.push(block);
        }
    }

    /// Lets the texts that are cut begin anew: they need not go on from what was there.
    pub(super) fn restart(&mut self) {
        self.stale = true;
        for block in &mut self.blocks {
            block.cutter = None;
            block.ended = 0;
        }
    }
}

impl Block {
    fn follow(&mut self, entry: &Entry<'_>, me: &str) {
        let Some(syntax) = syntax(self.kind, self.open) else {
            self.parts = vec![Part::default()];
            return;
        };
        let text = text(entry, self.kind, me);
        let cutter = self.cutter.get_or_insert_with(|| Cutter::new(syntax));
        let mut sections = Vec::new();
        let open = cutter.cut(&text, &mut sections);
        let ended = self.ended + sections.len();
        let first = self.ended;
        for (index, section) in sections.into_iter().chain(open).enumerate() {
            let at = first + index;
            match self.parts.get_mut(at) {
                Some(part) if part.section.as_ref() == Some(&section) => {}
                Some(part) => *part = Part { section: Some(section), ..Part::default() },
                None => self.parts.push(Part { section: Some(section), ..Part::default() }),
            }
            self.ended = at + 1;
        }
        self.parts.truncate(self.ended);
        self.ended = ended;
    }
}

/// How the text of a block is cut; `None` when the block is short.
fn syntax(kind: Kind, open: bool) -> Option<Syntax> {
    match kind {
        Kind::Text => Some(Syntax::Markdown),
        Kind::User | Kind::Arguments(_) | Kind::Output(_) => Some(Syntax::Plain),
        Kind::Reasoning => open.then_some(Syntax::Plain),
        Kind::Card(_) | Kind::Diff(_) | Kind::Ending | Kind::Question | Kind::Note | Kind::Foot => {
            None
        }
    }
}

/// The call with this number.
pub(super) fn call<'t>(entry: &Entry<'t>, index: usize) -> Option<&'t ToolCallItem> {
    message(entry).and_then(|message| message.tool_calls.get(index))
}

/// The message of the model that an entry is.
pub(super) fn message<'t>(entry: &Entry<'t>) -> Option<&'t AssistantItem> {
    match *entry {
        Entry::Live(message) | Entry::Item(Item::Assistant(message)) => Some(message),
        Entry::Item(_) => None,
    }
}

/// The text that a block shows the client `me`, as it was written.
pub(super) fn text<'t>(entry: &Entry<'t>, kind: Kind, me: &str) -> Cow<'t, str> {
    let call = |index| call(entry, index);
    let text = match kind {
        Kind::User => match *entry {
            Entry::Item(Item::User(message)) => Some(message.text.as_str()),
            _ => None,
        },
        Kind::Reasoning => message(entry).map(|message| message.reasoning.as_str()),
        Kind::Text => message(entry).map(|message| message.text.as_str()),
        Kind::Diff(index) => call(index).map(|call| call.diff.as_str()),
        Kind::Output(index) => call(index).map(|call| call.output.as_str()),
        Kind::Arguments(index) => {
            return call(index).map_or(Cow::Borrowed(""), |call| {
                Cow::Owned(render::arguments(&call.arguments_json))
            });
        }
        Kind::Card(index) => {
            return call(index).map_or(Cow::Borrowed(""), |call| {
                Cow::Owned(format!("{} {}", call.name, call.arguments_json))
            });
        }
        Kind::Question => match *entry {
            Entry::Item(Item::Question(question)) => Some(question.prompt.as_str()),
            _ => None,
        },
        Kind::Foot => match *entry {
            Entry::Item(Item::Turn(turn)) => match &turn.state {
                TurnState::Failed { error, .. } => Some(error.message.as_str()),
                _ => None,
            },
            _ => None,
        },
        Kind::Note => match *entry {
            Entry::Item(Item::Note(note)) => return Cow::Owned(render::note_text(note, me)),
            _ => None,
        },
        Kind::Ending => None,
    };
    Cow::Borrowed(text.unwrap_or_default())
}

/// A section of the text of a block.
pub(super) fn slice(text: &str, range: &Range<usize>) -> String {
    text.get(range.clone()).unwrap_or_default().to_owned()
}

/// What an entry consists of now.
pub(super) fn blocks(
    entry: &Entry<'_>,
    look: Look,
    turned: &HashSet<Target>,
) -> Vec<(Kind, Target, bool)> {
    let whole = |kind| vec![(kind, Target::Entry(entry.key()), true)];
    match *entry {
        Entry::Live(message) | Entry::Item(Item::Assistant(message)) => {
            of_message(message, &entry.key(), look, turned)
        }
        Entry::Item(Item::User(message)) => {
            // The queue is shown elsewhere.
            if message.state == MessageState::Queued { Vec::new() } else { whole(Kind::User) }
        }
        Entry::Item(Item::Turn(turn)) => match &turn.state {
            TurnState::Running => Vec::new(),
            _ => whole(Kind::Foot),
        },
        Entry::Item(Item::Question(_)) => whole(Kind::Question),
        Entry::Item(Item::Note(note)) => {
            if render::is_shown(note, look.verbose) {
                whole(Kind::Note)
            } else {
                Vec::new()
            }
        }
    }
}

fn of_message(
    message: &AssistantItem,
    key: &EntryKey,
    look: Look,
    turned: &HashSet<Target>,
) -> Vec<(Kind, Target, bool)> {
    let mut blocks = Vec::new();
    if !message.reasoning.is_empty() {
        let target = Target::Reasoning(message.item_id.clone());
        let open = look.reasoning != turned.contains(&target);
        blocks.push((Kind::Reasoning, target, open));
    }
    if !message.text.is_empty() {
        blocks.push((Kind::Text, Target::Entry(key.clone()), true));
    }
    for (index, call) in message.tool_calls.iter().enumerate() {
        let target = Target::Call(call.call_id.clone());
        let open = turned.contains(&target);
        blocks.push((Kind::Card(index), target.clone(), open));
        if !open {
            continue;
        }
        if !call.diff.is_empty() {
            blocks.push((Kind::Diff(index), target.clone(), true));
        } else if !call.arguments_json.is_empty() {
            blocks.push((Kind::Arguments(index), target.clone(), true));
        }
        if !call.output.is_empty() {
            blocks.push((Kind::Output(index), target, true));
        }
    }
    if render::ending(message).is_some() {
        blocks.push((Kind::Ending, Target::Entry(key.clone()), true));
    }
    blocks
}

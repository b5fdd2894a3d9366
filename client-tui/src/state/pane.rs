//! What lies over the session: memories, tools, what was used, what the daemon does in its own time, and
//! what was said in all sessions. Each is a list; a line can be opened, and keys act on it.

mod keys;
mod memories;
mod row;
mod search;
mod sweeps;
mod tools;
mod usage;

use agentd_proto::v1;
use agentd_shared::RpcError;
use agentd_shared::text::one_line;

pub use row::{Detail, Ink, PaneRow};
pub use usage::cost;

use super::{Effect, LineEdit, State, Tone};
use crate::conn::{Command, Reply};

/// Columns of what is said in a pane.
const SAID: usize = 400;

/// Which pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneKind {
    /// What is remembered.
    Memory,
    /// The tools.
    Tools,
    /// What requests used and cost.
    Usage,
    /// What the daemon does in its own time.
    Sweeps,
    /// What was said in all sessions.
    Search,
}

impl PaneKind {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 5] = [Self::Memory, Self::Tools, Self::Usage, Self::Sweeps, Self::Search];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tools => "tools",
            Self::Usage => "usage",
            Self::Sweeps => "sweeps",
            Self::Search => "search",
        }
    }

    /// Its keys, beside those of every list.
    pub const fn keys(self) -> &'static str {
        match self {
            Self::Memory => {
                "Enter why · / search · a add · p pin · f forget · c confirm · u undo · Esc"
            }
            Self::Tools => "Enter schema · / search · Esc",
            Self::Usage => "d day · m model · s session · p purpose · Enter all counts · Esc",
            Self::Sweeps => "Enter what it did · t try · r run · Esc",
            Self::Search => "Enter open there · / search · r again · Esc",
        }
    }

    fn beside(self, forward: bool) -> Self {
        let count = Self::ALL.len();
        let at = Self::ALL.iter().position(|kind| *kind == self).unwrap_or_default();
        let next = (at + if forward { 1 } else { count - 1 }) % count;
        Self::ALL.get(next).copied().unwrap_or(self)
    }
}

/// What a key in a pane asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum PaneWish {
    /// Nothing more.
    Nothing,
    /// Ask the daemon.
    Send(Box<Command>),
    /// Put the pane away.
    Leave,
    /// Another pane.
    Switch(PaneKind),
    /// Open a session at a place.
    Go {
        /// ULID.
        session_id: String,
        /// The event.
        seq: u64,
    },
}

impl PaneWish {
    fn send(command: Command) -> Self {
        Self::Send(Box::new(command))
    }
}

/// What has to be confirmed.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirm {
    /// What is asked; inert.
    pub question: String,
    command: Command,
}

/// A pane.
#[derive(Debug, Clone, PartialEq)]
pub struct Pane {
    /// Which.
    pub kind: PaneKind,
    /// The line that is chosen.
    pub selected: usize,
    /// What was opened.
    pub detail: Option<Detail>,
    /// Words that are being written.
    pub line: Option<LineEdit>,
    /// They are to be remembered, not looked for.
    pub adds: bool,
    /// Words that were looked for.
    pub words: String,
    /// What has to be confirmed.
    pub confirm: Option<Confirm>,
    /// What came of the last key; inert.
    pub said: Option<(Tone, String)>,
    /// The daemon was asked and has not answered.
    pub is_waiting: bool,
    /// What the daemon counts tells what can be taken back, which somebody wants to know.
    wants_undo: bool,
    content: Content,
}

/// What a pane has to show.
#[derive(Debug, Clone, PartialEq)]
enum Content {
    Nothing,
    Memories(v1::ListMemoriesResponse),
    Tools(Vec<v1::Tool>),
    Usage(Box<v1::GetUsageResponse>),
    Sweeps(Box<v1::GetMemoryStatsResponse>),
    Found(v1::SearchMessagesResponse),
}

/// Who asks, and when.
#[derive(Debug, Clone, Copy)]
struct Asker<'a> {
    author: &'a v1::Author,
    now_ms: i64,
}

/// A command that somebody has confirmed, in their name.
fn by(command: Command, author: &v1::Author) -> Command {
    match command {
        // What can be taken back is told by the daemon, before anybody is asked.
        Command::UndoMemoryChange(request) => {
            let author = Some(author.clone());
            Command::UndoMemoryChange(v1::UndoMemoryChangeRequest { author, ..request })
        }
        other => other,
    }
}

impl Pane {
    /// An empty one.
    pub fn new(kind: PaneKind) -> Self {
        Self {
            kind,
            selected: 0,
            detail: None,
            line: (kind == PaneKind::Search).then(LineEdit::default),
            adds: false,
            words: String::new(),
            confirm: None,
            said: None,
            is_waiting: kind != PaneKind::Search,
            wants_undo: false,
            content: Content::Nothing,
        }
    }

    /// What has to be asked of the daemon to fill it.
    pub fn ask(&self) -> Option<Command> {
        match self.kind {
            PaneKind::Memory => Some(memories::list(&self.words)),
            PaneKind::Tools => Some(Command::ListTools),
            PaneKind::Usage => Some(usage::sums(v1::UsageGrouping::Day)),
            PaneKind::Sweeps => Some(Command::GetMemoryStats),
            PaneKind::Search if self.words.is_empty() => None,
            PaneKind::Search => Some(search::find(&self.words)),
        }
    }

    /// What stands above the list: how many there are.
    pub fn heading(&self) -> String {
        match &self.content {
            Content::Nothing => String::new(),
            Content::Memories(page) => memories::heading(page),
            Content::Tools(tools) => tools::heading(tools),
            Content::Usage(report) => usage::heading(report),
            Content::Sweeps(stats) => sweeps::heading(stats),
            Content::Found(found) => search::heading(found),
        }
    }

    /// The lines of the list.
    pub fn rows(&self, now_ms: i64) -> Vec<PaneRow> {
        match &self.content {
            Content::Nothing => Vec::new(),
            Content::Memories(page) => memories::rows(page, now_ms),
            Content::Tools(tools) => tools::rows(tools, &self.words),
            Content::Usage(report) => usage::rows(report),
            Content::Sweeps(stats) => sweeps::rows(stats, now_ms),
            Content::Found(found) => search::rows(found, now_ms),
        }
    }

    /// What is told in place of an empty list.
    pub fn when_empty(&self) -> &'static str {
        if self.is_waiting {
            return "asking the daemon ...";
        }
        match self.kind {
            PaneKind::Memory if self.words.is_empty() => {
                "nothing is remembered yet; say \"remember ...\" to the agent"
            }
            PaneKind::Search if self.words.is_empty() => "write words and press Enter",
            PaneKind::Memory | PaneKind::Tools | PaneKind::Search => "nothing fits",
            PaneKind::Usage => "nothing was used in the last 30 days",
            PaneKind::Sweeps => "the daemon has not answered",
        }
    }

    /// Moves what is shown up or, if negative, down.
    pub(super) fn scroll(&mut self, up: isize, now_ms: i64) {
        let last = self.rows(now_ms).len().saturating_sub(1);
        match &mut self.detail {
            Some(detail) if up >= 0 => detail.up(up.unsigned_abs()),
            Some(detail) => detail.down(up.unsigned_abs()),
            None => self.selected = self.selected.saturating_add_signed(-up).min(last),
        }
    }

    /// Takes a text into the line that is being written.
    pub fn paste(&mut self, text: &str) {
        if let Some(line) = &mut self.line {
            line.paste(text);
        }
    }

    fn say(&mut self, tone: Tone, text: &str) {
        self.said = Some((tone, one_line(text, SAID)));
    }

    /// Something was refused.
    pub(super) fn on_failed(&mut self, command: &Command, error: &RpcError) {
        (self.is_waiting, self.wants_undo) = (false, false);
        let hint = error.remedy().map_or(String::new(), |hint| format!(" · {hint}"));
        self.say(Tone::Error, &format!("cannot {}: {}{hint}", command.purpose(), error.why()));
    }

    /// Takes an answer in, and returns what has to be asked next.
    fn on_reply(&mut self, reply: &Reply, now_ms: i64) -> Option<Command> {
        let content = match (self.kind, reply) {
            (PaneKind::Memory, Reply::Memories(page)) => Content::Memories(page.clone()),
            (PaneKind::Tools, Reply::Tools(tools)) => Content::Tools(tools.clone()),
            (PaneKind::Usage, Reply::Usage(report)) => Content::Usage(report.clone()),
            (PaneKind::Sweeps, Reply::MemoryStats(stats)) => Content::Sweeps(stats.clone()),
            (PaneKind::Search, Reply::Found { question, found }) if *question == self.words => {
                if let Some(text) = search::remark(found) {
                    self.say(Tone::Warn, &text);
                }
                Content::Found(found.clone())
            }
            (PaneKind::Memory, Reply::Memory(memory)) => {
                self.is_waiting = false;
                self.detail = Some(memories::detail(memory, now_ms));
                return None;
            }
            (PaneKind::Memory, Reply::MemoryChanged) => {
                self.detail = None;
                self.say(Tone::Info, "done; u takes it back");
                return Some(memories::list(&self.words));
            }
            (PaneKind::Memory, Reply::MemoryAdded(added)) => {
                self.detail = None;
                self.say(Tone::Info, memories::added(added));
                return Some(memories::list(&self.words));
            }
            (PaneKind::Memory, Reply::MemoryUndone(undone)) => {
                self.detail = None;
                self.say(Tone::Info, &memories::undone(undone));
                return Some(memories::list(&self.words));
            }
            // Others ask for the counts, too.
            (PaneKind::Memory, Reply::MemoryStats(stats)) if self.wants_undo => {
                (self.is_waiting, self.wants_undo) = (false, false);
                match memories::undo_question(stats) {
                    Some((question, command)) => drop(self.asked(question, command)),
                    None => self.say(Tone::Info, "there is nothing to take back"),
                }
                return None;
            }
            (PaneKind::Sweeps, Reply::Swept { dry_run, swept }) => {
                self.is_waiting = false;
                self.detail = Some(sweeps::swept(*dry_run, swept));
                return (!dry_run).then_some(Command::GetMemoryStats);
            }
            (PaneKind::Sweeps, Reply::Consolidated(done)) => {
                self.is_waiting = false;
                self.detail = Some(sweeps::consolidated(done, now_ms));
                return done.done.is_some().then_some(Command::GetMemoryStats);
            }
            _ => return None,
        };
        self.is_waiting = false;
        self.content = content;
        self.selected = self.selected.min(self.rows(now_ms).len().saturating_sub(1));
        None
    }
}

impl State {
    /// Shows an answer in the pane that has asked for it.
    pub(super) fn on_pane_reply(&mut self, reply: &Reply) -> Vec<Effect> {
        let now_ms = self.now_ms;
        let next = self.pane.as_mut().and_then(|pane| pane.on_reply(reply, now_ms));
        next.map(Effect::Send).into_iter().collect()
    }
}

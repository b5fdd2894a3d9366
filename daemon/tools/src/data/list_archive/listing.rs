//! The entries that are shown, and what is counted of the others.

use std::io;

use agentd_domain::{ToolResult, cut_line};
use tokio_util::sync::CancellationToken;

use crate::fs::shown;

/// Most entries of one page.
const MAX_SHOWN: usize = 500;

/// Longest page in bytes, which leaves room for notes below the limit of a call's output.
const MAX_PAGE: usize = 100 * 1024;

/// Most entries that are counted.
const MAX_ENTRIES: usize = 200_000;

/// Longest name that is shown, in characters.
const MAX_NAME: usize = 300;

/// Why reading ended before the end of the archive.
#[derive(Debug)]
pub(super) enum Stop {
    /// The turn was cancelled.
    Cancelled,
    /// It is something else.
    NotAnArchive(&'static str),
    /// It cannot be read on.
    Damaged(String),
    /// There is more than is read.
    TooMuch(String),
}

impl Stop {
    pub(super) fn damaged(error: &io::Error) -> Self {
        Self::Damaged(format!("The archive cannot be read on: {error}."))
    }
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Directory,
    Link(String),
    Other,
}

/// Grows with each entry.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    first: usize,
    cancel: &'a CancellationToken,
    lines: Vec<String>,
    page_bytes: usize,
    is_full: bool,
    total: usize,
    bytes: u64,
    outside: usize,
    notes: Vec<String>,
}

impl<'a> Listing<'a> {
    pub(super) fn new(first: usize, cancel: &'a CancellationToken) -> Self {
        Self {
            first,
            cancel,
            lines: Vec::new(),
            page_bytes: 0,
            is_full: false,
            total: 0,
            bytes: 0,
            outside: 0,
            notes: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Ends a long read when the turn has ended.
    pub(super) fn check_cancelled(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() { Err(Stop::Cancelled) } else { Ok(()) }
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn add(&mut self, name: &[u8], size: u64, kind: EntryKind) -> Result<(), Stop> {
        self.check_cancelled()?;
        if self.total >= MAX_ENTRIES {
            return Err(Stop::TooMuch(format!(
                "Only the first {MAX_ENTRIES} entries are counted."
            )));
        }
        self.total += 1;
        self.bytes = self.bytes.saturating_add(size);
        let name = String::from_utf8_lossy(name);
        let leads_out = name.starts_with(['/', '\\'])
            || name.split(['/', '\\']).any(|part| part == "..")
            || name.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
        self.outside += usize::from(leads_out);
        if self.total < self.first || self.is_full {
            return Ok(());
        }
        let name = cut_line(&shown(&name), MAX_NAME);
        let line = match kind {
            EntryKind::Directory if name.ends_with('/') => name,
            EntryKind::Directory => format!("{name}/"),
            EntryKind::File => format!("{name}  {size} bytes"),
            EntryKind::Link(to) => format!("{name} -> {}", cut_line(&shown(&to), MAX_NAME)),
            EntryKind::Other => format!("{name}  (device or pipe)"),
        };
        if self.page_bytes + line.len() > MAX_PAGE {
            self.is_full = true;
            return Ok(());
        }
        self.page_bytes += line.len() + 1;
        self.lines.push(line);
        self.is_full = self.lines.len() >= MAX_SHOWN;
        Ok(())
    }

    pub(super) fn into_result(self, kind: &str) -> Result<ToolResult, ToolResult> {
        let Self { first, lines, total, bytes, outside, notes, .. } = self;
        if total == 0 {
            return Ok(ToolResult::empty(format!("[The {kind} has no entries.]")));
        }
        if lines.is_empty() {
            return Err(ToolResult::fatal(
                "OFFSET_BEYOND_END",
                format!("There is no entry {first}: the archive has {total}."),
            ));
        }
        let last = first.saturating_sub(1) + lines.len();
        let mut output = lines;
        output.push(format!("[{kind}, {total} entries, {bytes} bytes when extracted.]"));
        if first > 1 || last < total {
            let next = if last < total {
                format!(" Go on with offset {}.", last + 1)
            } else {
                String::new()
            };
            output.push(format!("[Entries {first} to {last} of {total}.{next}]"));
        }
        if outside > 0 {
            output.push(format!(
                "[{outside} names lead outside of the directory it is extracted to.]"
            ));
        }
        output.extend(notes.into_iter().map(|note| format!("[{note}]")));
        Ok(ToolResult::success(output.join("\n")))
    }
}

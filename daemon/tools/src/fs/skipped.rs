//! What a search left out, and how that is told.

use std::io;
use std::path::Path;

use agentd_domain::cut_line;

use super::shown;

/// Most names of unreadable places that are told.
const MAX_NAMED: usize = 5;

/// Longest name that is told, in characters.
const MAX_NAME: usize = 200;

/// Counts of what a search left out; a directory counts as one.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    /// Hidden entries.
    pub(super) hidden: u64,
    /// Entries that a list such as `.gitignore` names.
    pub(super) ignored: u64,
    /// Entries that hold secrets.
    pub(super) protected: u64,
    /// Links.
    pub(super) links: u64,
    /// Devices, pipes and sockets.
    pub(super) special: u64,
    /// Files that are no text.
    pub(super) binary: u64,
    /// Places that could not be read.
    pub(super) unreadable: u64,
    named: Vec<String>,
}

impl Skipped {
    /// Notes a place that could not be read.
    pub(super) fn unreadable(&mut self, place: &Path, error: &io::Error) {
        self.unreadable += 1;
        if self.named.len() < MAX_NAMED {
            let name = cut_line(&shown(&place.to_string_lossy()), MAX_NAME);
            self.named.push(format!("'{name}': {error}"));
        }
    }

    /// Adds what another thread left out.
    pub(super) fn add(&mut self, other: Self) {
        self.hidden += other.hidden;
        self.ignored += other.ignored;
        self.protected += other.protected;
        self.links += other.links;
        self.special += other.special;
        self.binary += other.binary;
        self.unreadable += other.unreadable;
        self.named.extend(other.named);
        self.named.sort_unstable();
        self.named.truncate(MAX_NAMED);
    }

    /// What was left out, in brackets and on lines of their own; none when nothing was.
    pub(super) fn notes(&self) -> Vec<String> {
        let kinds = [
            (self.hidden, "hidden", " (include_hidden)"),
            (self.ignored, "ignored", " (include_ignored)"),
            (self.links, "links", ""),
            (self.protected, "protected", ""),
            (self.special, "devices, pipes or sockets", ""),
            (self.binary, "binary, from their first NUL on", ""),
        ];
        let told: Vec<String> = kinds
            .iter()
            .filter(|(count, _, _)| *count > 0)
            .map(|(count, kind, remedy)| format!("{count} {kind}{remedy}"))
            .collect();
        let mut notes = Vec::new();
        if !told.is_empty() {
            notes.push(format!("[Left out, a directory counting as one: {}.]", told.join(", ")));
        }
        if self.unreadable > 0 {
            let more = if self.unreadable > MAX_NAMED as u64 { "; and others" } else { "" };
            notes.push(format!(
                "[Could not be read: {}; {}{more}.]",
                self.unreadable,
                self.named.join("; ")
            ));
        }
        notes
    }
}

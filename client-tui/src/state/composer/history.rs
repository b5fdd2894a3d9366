//! What was sent before.

/// Bytes of the longest text that is kept.
const LONGEST: usize = 64 << 10;

/// Sent texts, the oldest first, and which of them is looked at.
#[derive(Debug)]
pub(super) struct History {
    entries: Vec<String>,
    /// How many are kept.
    most: usize,
    /// Which entry is shown, and what was written before it was looked at.
    recalled: Option<(usize, String)>,
}

impl History {
    pub(super) fn new(most: usize) -> Self {
        Self { entries: Vec::new(), most, recalled: None }
    }

    /// Takes what was sent by others and earlier. It comes before what was sent meanwhile.
    pub(super) fn loaded(&mut self, earlier: Vec<String>) {
        let sent = std::mem::replace(&mut self.entries, earlier);
        self.entries.extend(sent);
        self.forget();
        self.recalled = None;
    }

    /// Keeps a text, and tells whether it is worth keeping in the file too.
    pub(super) fn add(&mut self, text: &str) -> bool {
        self.recalled = None;
        let is_kept = self.most > 0
            && text.len() <= LONGEST
            && !text.trim().is_empty()
            // As `agentctl` does: who begins with a blank does not want it kept.
            && !text.starts_with(' ')
            && self.entries.last().is_none_or(|last| last != text);
        if is_kept {
            self.entries.push(text.to_owned());
            self.forget();
        }
        is_kept
    }

    fn forget(&mut self) {
        let many = self.entries.len().saturating_sub(self.most);
        self.entries.drain(..many);
    }

    /// All, the newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().rev().map(String::as_str)
    }

    /// The text before the one that is shown; `written` is what the first of them replaces.
    pub(super) fn back(&mut self, written: &str) -> Option<String> {
        let (at, draft) = match self.recalled.take() {
            Some((at, draft)) => (at.saturating_sub(1), draft),
            None => (self.entries.len().checked_sub(1)?, written.to_owned()),
        };
        self.recalled = Some((at, draft));
        self.entries.get(at).cloned()
    }

    /// The text after the one that is shown, at last what was written; none when none is shown.
    pub(super) fn forward(&mut self) -> Option<String> {
        let (at, draft) = self.recalled.take()?;
        match self.entries.get(at + 1).cloned() {
            Some(text) => {
                self.recalled = Some((at + 1, draft));
                Some(text)
            }
            None => Some(draft),
        }
    }

    /// What is shown was changed: it is another draft now.
    pub(super) fn touched(&mut self) {
        self.recalled = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_goes_back_and_comes_again_to_what_was_written() {
        let mut history = History::new(3);
        for text in ["a", "b", "b", " secret", "", "c", "d"] {
            history.add(text);
        }
        let back: Vec<_> = (0..5).filter_map(|_| history.back("draft")).collect();
        assert_eq!(back, ["d", "c", "b", "b", "b"]);
        let forward: Vec<_> = std::iter::from_fn(|| history.forward()).collect();
        assert_eq!(forward, ["c", "d", "draft"]);
    }

    #[test]
    fn what_is_loaded_late_comes_before_what_was_sent() {
        let mut history = History::new(3);
        history.add("new");
        history.loaded(vec!["1".to_owned(), "2".to_owned(), "3".to_owned()]);
        assert_eq!(history.newest_first().collect::<Vec<_>>(), ["new", "3", "2"]);
        assert_eq!(History::new(0).back("draft"), None);
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        assert!(!History::new(9).add(&"x".repeat(LONGEST + 1)));
    }
}

//! The text of a page as it grows: where spaces, lines and marks go.

use std::ops::Range;

/// Lists inside lists that are still indented.
const MAX_INDENT: usize = 8;

/// Open lists whose numbers are counted; items of deeper ones have none.
const MAX_LISTS: usize = 64;

/// Longest text of a link in bytes: what is longer is a block with a link around it.
const MAX_LINK_TEXT: usize = 300;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Page {
    out: String,
    /// A space that is written when a word follows.
    space: bool,
    /// Open lists: the number of the last item, or none.
    lists: Vec<Option<u32>>,
    deeper_lists: usize,
    is_pre: bool,
    /// Where the open link began, and where it leads.
    link: Option<(usize, String)>,
    main_start: Option<usize>,
    main: Option<Range<usize>>,
}

impl Page {
    pub(super) fn text(&mut self, text: &str) {
        if self.is_pre {
            self.out.push_str(text);
            return;
        }
        if text.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.space = true;
        }
        for word in text.split_ascii_whitespace() {
            self.word(word);
            self.space = true;
        }
        self.space = text.ends_with(|c: char| c.is_ascii_whitespace());
    }

    fn word(&mut self, word: &str) {
        if std::mem::take(&mut self.space)
            && !self.out.ends_with(['\n', ' '])
            && !self.out.is_empty()
        {
            self.out.push(' ');
        }
        self.out.push_str(word);
    }

    /// Begins a line, unless one has just begun.
    pub(super) fn line(&mut self) {
        self.space = false;
        if self.is_pre || !(self.out.is_empty() || self.out.ends_with('\n')) {
            self.out.push('\n');
        }
    }

    /// Begins a line after an empty one.
    pub(super) fn paragraph(&mut self) {
        if self.is_pre {
            return;
        }
        self.line();
        // Inside of a list paragraphs follow each other without.
        if !self.out.is_empty() && !self.out.ends_with("\n\n") && self.lists.is_empty() {
            self.out.push('\n');
        }
    }

    pub(super) fn heading(&mut self, level: usize) {
        self.paragraph();
        self.out.push_str("#".repeat(level.clamp(1, 6)).as_str());
        self.out.push(' ');
    }

    pub(super) fn rule(&mut self) {
        self.paragraph();
        self.out.push_str("---\n\n");
    }

    /// Begins a cell of a table.
    pub(super) fn cell(&mut self) {
        self.space = false;
        let separator = if self.out.is_empty() || self.out.ends_with('\n') { "| " } else { " | " };
        self.out.push_str(separator);
    }

    pub(super) fn open_list(&mut self, number: Option<u32>) {
        if self.lists.is_empty() {
            self.paragraph();
        }
        if self.lists.len() < MAX_LISTS {
            self.lists.push(number);
        } else {
            self.deeper_lists += 1;
        }
    }

    pub(super) fn close_list(&mut self) {
        if let Some(left) = self.deeper_lists.checked_sub(1) {
            self.deeper_lists = left;
        } else {
            self.lists.pop();
            self.paragraph();
        }
    }

    pub(super) fn item(&mut self) {
        self.line();
        let depth = self.lists.len().saturating_sub(1).min(MAX_INDENT);
        self.out.push_str("  ".repeat(depth).as_str());
        match self.lists.last_mut() {
            Some(Some(number)) if self.deeper_lists == 0 => {
                *number = number.saturating_add(1);
                self.out.push_str(&number.to_string());
                self.out.push_str(". ");
            }
            _ => self.out.push_str("- "),
        }
    }

    pub(super) fn open_pre(&mut self) {
        if !self.is_pre {
            self.paragraph();
            self.out.push_str("```\n");
            self.is_pre = true;
        }
    }

    pub(super) fn close_pre(&mut self) {
        if self.is_pre {
            self.is_pre = false;
            self.line();
            self.out.push_str("```\n\n");
        }
    }

    /// Begins or ends a piece of code.
    pub(super) fn code(&mut self) {
        if !self.is_pre {
            self.word("`");
        }
    }

    pub(super) fn open_link(&mut self, to: Option<String>) {
        // A link cannot be in a link: the outer one ends here.
        self.close_link();
        if let Some(to) = to.filter(|_| !self.is_pre) {
            if std::mem::take(&mut self.space) && !self.out.ends_with(['\n', ' ']) {
                self.out.push(' ');
            }
            self.link = Some((self.out.len(), to));
        }
    }

    pub(super) fn close_link(&mut self) {
        let Some((start, to)) = self.link.take() else { return };
        let Some(text) = self.out.get(start..) else { return };
        let words = text.trim();
        if words.is_empty() {
            return;
        }
        if words.contains('\n') || words.len() > MAX_LINK_TEXT {
            self.out.truncate(self.out.trim_end().len());
            self.out.extend([" (", &to, ")"]);
        } else {
            let link = format!("[{words}]({to})");
            self.out.truncate(start);
            self.out.push_str(&link);
        }
    }

    pub(super) fn open_main(&mut self) {
        self.paragraph();
        self.main_start.get_or_insert(self.out.len());
    }

    pub(super) fn close_main(&mut self) {
        self.close_link();
        self.paragraph();
        if let (Some(start), None) = (self.main_start, &self.main) {
            self.main = Some(start..self.out.len());
        }
    }

    /// The text, and whether it is only the main part: when the page names one of at least
    /// `min_main` bytes.
    pub(super) fn into_text(mut self, min_main: usize) -> (String, bool) {
        self.close_link();
        self.close_pre();
        let main = self.main.and_then(|range| self.out.get(range)).map(str::trim);
        match main {
            Some(main) if main.len() >= min_main => (main.to_owned(), true),
            _ => (self.out.trim().to_owned(), false),
        }
    }
}

//! A text cut into sections, each of which can be rendered without what comes before it.
//!
//! A long answer is rendered only where somebody looks, and a text that grows costs the rows of its last
//! section. A cut never falls into a table. Where a block of code goes on over a cut, the section knows
//! the line that opened the block.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use agentd_shared::text::split_line;

/// Lines of a section.
const LINES: usize = 32;
/// Bytes after which a section ends although it has fewer lines.
const BYTES: usize = 8_192;
/// Lines of the longest table that is rendered as one.
const TABLE_LINES: usize = 200;
/// Bytes of the longest line that is rendered as one.
const LINE_BYTES: usize = 4_096;

/// What lines of a text can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Blocks of code and tables span lines.
    Markdown,
    /// Every line stands for itself.
    Plain,
}

/// A piece of a text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// Where it lies.
    pub(super) range: Range<usize>,
    /// The line that opened the block of code in which it begins.
    pub(super) opening: Option<Range<usize>>,
    /// What it holds, so that the same section of another reading is known again.
    pub(super) hash: u64,
}

/// Cuts a text. It goes on where it stood when the text has grown.
#[derive(Debug, Clone)]
pub(super) struct Cutter {
    syntax: Syntax,
    /// Where the open section begins.
    start: usize,
    /// The end of the last whole line.
    at: usize,
    lines: usize,
    opening: Option<Range<usize>>,
    fence: Option<Fence>,
    in_table: bool,
}

#[derive(Debug, Clone)]
struct Fence {
    line: Range<usize>,
    mark: char,
    length: usize,
}

impl Cutter {
    pub(super) fn new(syntax: Syntax) -> Self {
        Self { syntax, start: 0, at: 0, lines: 0, opening: None, fence: None, in_table: false }
    }

    /// Adds the sections that have ended since it was asked last, and returns the one that is open.
    pub(super) fn cut(&mut self, text: &str, ended: &mut Vec<Section>) -> Option<Section> {
        while let Some((line, rest)) = text.get(self.at..).and_then(first_line) {
            let range = self.at..self.at + line.len();
            self.at = text.len() - rest.len();
            self.lines += 1;
            if self.syntax == Syntax::Markdown {
                self.take(line, range);
            }
            let long = self.lines >= LINES || self.at - self.start >= BYTES;
            if long && (!self.in_table || self.lines >= LINES + TABLE_LINES) {
                ended.extend(self.section(text, self.at));
                self.start = self.at;
                self.lines = 0;
                self.opening = self.fence.as_ref().map(|fence| fence.line.clone());
            }
        }
        self.section(text, text.len())
    }

    fn section(&self, text: &str, end: usize) -> Option<Section> {
        let range = self.start..end;
        let held = text.get(range.clone()).filter(|held| !held.is_empty())?;
        let mut hasher = DefaultHasher::new();
        held.hash(&mut hasher);
        self.opening.clone().and_then(|line| text.get(line)).hash(&mut hasher);
        Some(Section { range, opening: self.opening.clone(), hash: hasher.finish() })
    }

    fn take(&mut self, line: &str, range: Range<usize>) {
        if let Some(fence) = &self.fence {
            if fence.is_closed_by(line.trim()) {
                self.fence = None;
            }
            return;
        }
        self.fence = Fence::opened_by(line, range);
        let cells = line.trim();
        self.in_table = self.fence.is_none() && cells.starts_with('|') && cells.len() > 1;
    }
}

impl Fence {
    fn opened_by(line: &str, range: Range<usize>) -> Option<Self> {
        let body = line.trim();
        let (mark, length) = mark(body)?;
        // A backtick in what follows means code inside a line.
        let inline = mark == '`' && body.trim_start_matches(mark).contains('`');
        (!inline).then_some(Self { line: range, mark, length })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        mark(line).is_some_and(|(mark, length)| mark == self.mark && length >= self.length)
            && line.chars().all(|character| character == self.mark)
    }
}

fn mark(body: &str) -> Option<(char, usize)> {
    let mark = body.chars().next().filter(|character| matches!(character, '`' | '~'))?;
    let length = body.chars().take_while(|character| *character == mark).count();
    (length >= 3).then_some((mark, length))
}

fn first_line(text: &str) -> Option<(&str, &str)> {
    split_line(text, LINE_BYTES)
}

/// The lines of a section, each without its end.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, after) = first_line(rest).unwrap_or((rest, ""));
        rest = after;
        Some(line.strip_suffix('\r').unwrap_or(line))
    })
}

#[cfg(test)]
mod tests {
    use agentd_shared::text::floor_boundary;
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> Vec<Section> {
        let mut sections = Vec::new();
        let open = Cutter::new(Syntax::Markdown).cut(text, &mut sections);
        sections.extend(open);
        sections
    }

    #[test]
    fn code_goes_on_over_a_cut_and_a_table_is_not_cut() {
        let text = format!("```rust\n{}```\n{}end\n", "x\n".repeat(70), "| a | b |\n".repeat(60));
        let sections = whole(&text);
        let opened: Vec<bool> = sections.iter().map(|section| section.opening.is_some()).collect();
        assert_eq!(opened, [false, true, true]);
        let last = &text[sections.last().unwrap().range.clone()];
        assert!(last.starts_with("x\n") && last.ends_with("end\n"), "{last}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn sections_are_the_text_and_do_not_depend_on_how_it_came(
            lines in proptest::collection::vec("(```|~~~rs|\\| a \\||世界|a{0,9}|b{5000})", 0..60),
            step in 100_usize..3_000,
        ) {
            let text = lines.join("\n");
            let expect = whole(&text);
            let mut end = 0;
            for section in &expect {
                prop_assert_eq!(section.range.start, end);
                end = section.range.end;
            }
            prop_assert_eq!(end, text.len());
            let (mut cutter, mut sections) = (Cutter::new(Syntax::Markdown), Vec::new());
            let mut at = 0;
            while at < text.len() {
                at = floor_boundary(&text, at + step);
                cutter.cut(&text[..at], &mut sections);
            }
            let open = cutter.cut(&text, &mut sections);
            sections.extend(open);
            prop_assert_eq!(sections, expect);
        }
    }
}

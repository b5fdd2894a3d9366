//! Text that arrives in pieces, turned into rows line by line.

use super::markdown::{Look, Markdown};
use super::styled::{Role, Row};
use super::wrap::quoted_rows;
use crate::text::split_line;
use crate::transcript::TextChannel;

/// Longest line that is rendered as one, in bytes. A longer one is broken, so that redrawing the
/// open end stays cheap.
const MAX_LINE_BYTES: usize = 4096;

/// One text of one item.
#[derive(Debug)]
pub struct StreamText {
    /// ULID of the item, or the id of a tool call.
    pub item_id: String,
    /// Which of its texts.
    pub channel: TextChannel,
    markdown: Markdown,
    tail: String,
    /// How much of the tail was drawn last, in bytes.
    drawn: usize,
}

impl StreamText {
    /// Begins a text.
    pub fn new(item_id: &str, channel: TextChannel) -> Self {
        Self {
            item_id: item_id.to_owned(),
            channel,
            markdown: Markdown::default(),
            tail: String::new(),
            drawn: 0,
        }
    }

    /// Adds a piece and returns the rows that will not change any more.
    pub fn push(&mut self, piece: &str, look: Look) -> Vec<Row> {
        let mut tail = std::mem::take(&mut self.tail);
        tail.push_str(piece);
        let mut finished = Vec::new();
        let mut rest = tail.as_str();
        while let Some((line, after)) = split_line(rest, MAX_LINE_BYTES) {
            finished.extend(self.rows(line, look));
            rest = after;
        }
        let used = tail.len() - rest.len();
        tail.drain(..used);
        if used > 0 {
            self.drawn = 0;
        }
        self.tail = tail;
        finished
    }

    /// Rows of what is still open. Costs as much as the open line is long: once a frame is enough.
    pub fn open_rows(&self, look: Look) -> Vec<Row> {
        match self.channel {
            TextChannel::Text => self.markdown.open_rows(&self.tail, look),
            TextChannel::Reasoning | TextChannel::ToolOutput if self.tail.is_empty() => Vec::new(),
            TextChannel::Reasoning | TextChannel::ToolOutput => {
                quoted_rows(&self.tail, Role::Reasoning, look.width)
            }
        }
    }

    /// Rows of what is still open, which go to the screen.
    pub fn draw(&mut self, look: Look) -> Vec<Row> {
        self.drawn = self.tail.len();
        self.open_rows(look)
    }

    /// What was drawn of the open line is final. A table has to be written anew all the same.
    pub fn keep_drawn(&mut self) {
        let drawn = std::mem::take(&mut self.drawn);
        if !self.markdown.is_in_table() {
            self.tail.drain(..drawn);
        }
    }

    /// Ends the text.
    pub fn finish(&mut self, look: Look) -> Vec<Row> {
        let mut rows = Vec::new();
        if !self.tail.is_empty() {
            let line = std::mem::take(&mut self.tail);
            rows.extend(self.rows(&line, look));
        }
        rows.extend(self.markdown.finish(look));
        rows
    }

    fn rows(&mut self, line: &str, look: Look) -> Vec<Row> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        match self.channel {
            TextChannel::Text => self.markdown.line(line, look),
            TextChannel::Reasoning | TextChannel::ToolOutput => {
                quoted_rows(line, Role::Reasoning, look.width)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::markdown::CodeTheme;

    const LOOK: Look = Look { width: 40, code: CodeTheme::Plain };

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn any_cutting_gives_the_same_rows() {
        let text = "# Title\r\ntext **bold** 世界\n```rust\nlet a = 1;\n```\n| a | b |\n|--|--|\n| 1 | 2 |\nend";
        let mut whole = StreamText::new("I", TextChannel::Text);
        let mut expect = whole.push(text, LOOK);
        expect.extend(whole.finish(LOOK));
        assert_eq!(expect.first().map(Row::text).as_deref(), Some("Title"));
        let mut cut = StreamText::new("I", TextChannel::Text);
        let mut rows = Vec::new();
        for character in text.chars() {
            rows.extend(cut.push(&character.to_string(), LOOK));
        }
        rows.extend(cut.finish(LOOK));
        assert_eq!(rows, expect);
    }

    #[test]
    fn en_01_an_endless_line_is_broken_between_characters() {
        for filler in 0..4 {
            let text = format!("{}{}", "a".repeat(filler), "世".repeat(2_000));
            let mut stream = StreamText::new("I", TextChannel::Text);
            let mut rows = stream.push(&text, LOOK);
            assert!(!rows.is_empty());
            rows.extend(stream.finish(LOOK));
            assert_eq!(texts(&rows).concat(), text);
        }
    }

    #[test]
    fn long_lines_are_broken_alike_however_they_come() {
        let text =
            format!("{}\n{} {}\nend\n", "a".repeat(4096), "b".repeat(4000), "c".repeat(9000));
        let mut whole = StreamText::new("I", TextChannel::Reasoning);
        let expect = whole.push(&text, LOOK);
        for size in [1, 1000, 4096, 4097] {
            let mut cut = StreamText::new("I", TextChannel::Reasoning);
            let pieces = text.as_bytes().chunks(size);
            let rows: Vec<Row> = pieces
                .flat_map(|piece| cut.push(std::str::from_utf8(piece).unwrap(), LOOK))
                .collect();
            assert_eq!(rows, expect, "{size}");
        }
    }

    #[test]
    fn what_stays_on_the_screen_is_not_written_again() {
        let mut stream = StreamText::new("I", TextChannel::Text);
        stream.push("one two", LOOK);
        assert_eq!(texts(&stream.draw(LOOK)), ["one two"]);
        assert!(stream.push(" three", LOOK).is_empty());
        stream.keep_drawn();
        assert_eq!(texts(&stream.open_rows(LOOK)), [" three"]);
        assert_eq!(texts(&stream.push(" four\nfive", LOOK)), [" three four"]);
        stream.keep_drawn();
        assert_eq!(texts(&stream.finish(LOOK)), ["five"]);
    }

    #[test]
    fn reasoning_stands_behind_a_bar() {
        let mut stream = StreamText::new("I", TextChannel::Reasoning);
        assert_eq!(texts(&stream.push("one\ntwo \u{1b}[2J", LOOK)), ["│ one"]);
        assert_eq!(texts(&stream.open_rows(LOOK)), ["│ two \\u{1b}[2J"]);
    }
}

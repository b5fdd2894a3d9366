//! A Markdown file as memories: each list item and each paragraph is one; the headings above it are its
//! tags.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde::Serialize;

/// Most characters of a tag.
const MAX_TAG: usize = 40;

/// One memory of a file, as a line of an import has it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Note {
    pub(super) content: String,
    pub(super) tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workspace: Option<String>,
    /// The line of the file on which it begins, from 1.
    #[serde(skip)]
    pub(super) line: usize,
}

/// Reads a file.
pub(super) fn notes(text: &str, workspace: Option<&str>) -> Vec<Note> {
    let mut reader = Reader { workspace, ..Reader::default() };
    for (event, range) in Parser::new(text).into_offset_iter() {
        reader.at = range.start;
        reader.take(event, text);
    }
    reader.end_note(text);
    reader.notes
}

#[derive(Default)]
struct Reader<'w> {
    workspace: Option<&'w str>,
    notes: Vec<Note>,
    /// What has been read of the memory that comes next, and where it began.
    content: String,
    begun: Option<usize>,
    /// The headings that are open, by their level.
    headings: Vec<(u8, String)>,
    /// The text of the heading that is being read.
    heading: Option<(u8, String)>,
    links: Vec<String>,
    /// A comment is being passed over: it is for who writes the file.
    in_comment: bool,
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, source: &str) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.end_note(source);
                self.heading = Some((level as u8, String::new()));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, text)) = self.heading.take() {
                    self.headings.retain(|(above, _text)| *above < level);
                    self.headings.push((level, text));
                }
            }
            Event::Start(Tag::Item | Tag::Paragraph | Tag::CodeBlock(_)) => {
                // A paragraph of an item is a part of it only when the item has no text yet.
                self.end_note(source);
            }
            Event::End(TagEnd::Item | TagEnd::Paragraph | TagEnd::CodeBlock) => {
                self.end_note(source);
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                self.links.push(dest_url.into_string());
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                // Where it leads is part of what is said.
                if let Some(url) = self.links.pop().filter(|url| !self.content.ends_with(&**url)) {
                    self.push(&format!(" ({url})"));
                }
            }
            Event::Start(Tag::HtmlBlock) => {
                self.end_note(source);
                let block = source.get(self.at..).unwrap_or_default();
                self.in_comment = block.trim_start().starts_with("<!--");
            }
            Event::End(TagEnd::HtmlBlock) => {
                self.end_note(source);
                self.in_comment = false;
            }
            Event::Html(_) if self.in_comment => {}
            Event::InlineHtml(comment) if comment.starts_with("<!--") => {}
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.push(&text),
            Event::Code(code) => self.push(&format!("`{code}`")),
            Event::SoftBreak => self.push(" "),
            Event::HardBreak => self.push("\n"),
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some((_level, heading)) = &mut self.heading {
            heading.push_str(text);
        } else {
            self.begun.get_or_insert(self.at);
            self.content.push_str(text);
        }
    }

    fn end_note(&mut self, source: &str) {
        let content = std::mem::take(&mut self.content).trim().to_owned();
        let begun = self.begun.take().unwrap_or(0);
        if content.is_empty() {
            return;
        }
        let before = source.get(..begun).unwrap_or_default();
        self.notes.push(Note {
            content,
            tags: self.headings.iter().filter_map(|(_level, text)| tag(text)).collect(),
            workspace: self.workspace.map(str::to_owned),
            line: before.matches('\n').count() + 1,
        });
    }
}

/// A heading as a tag.
fn tag(heading: &str) -> Option<String> {
    let words = heading.replace([',', '`'], " ").to_lowercase();
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let tag: String = line.chars().filter(|c| !c.is_control()).take(MAX_TAG).collect();
    let tag = tag.trim_end().to_owned();
    (!tag.is_empty()).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_instructions_for_an_agent_is_read_without_its_comments() {
        let text = "\
# CLAUDE.md

<!-- keep this short
- not a rule -->

## Commands

- build: `make all` <!-- slow -->
- test: `make test`

## 规则

- **IMPORTANT**: never push to main
- 提交信息用英文写
";
        let got: Vec<_> = notes(text, None)
            .into_iter()
            .map(|note| (note.line, note.content, note.tags.join("|")))
            .collect();
        let expect = [
            (8, "build: `make all`", "claude.md|commands"),
            (9, "test: `make test`", "claude.md|commands"),
            (13, "IMPORTANT: never push to main", "claude.md|规则"),
            (14, "提交信息用英文写", "claude.md|规则"),
        ]
        .map(|(line, content, tags)| (line, content.to_owned(), tags.to_owned()));
        assert_eq!(got, expect);
    }

    #[test]
    fn items_and_paragraphs_are_memories_and_headings_their_tags() {
        let text = "\
Ann works from Oslo.

# Style, and more

- tabs, not spaces
- see [the guide](https://example.org/g)
  that we follow
    - nested: run `make fmt`

## Tests

1. one assert each

Wide
paragraph.

# Hosts

```
staging = anvil
```
";
        let got: Vec<_> = notes(text, Some("/w"))
            .into_iter()
            .map(|note| (note.line, note.content, note.tags.join("|")))
            .collect();
        let expect = [
            (1, "Ann works from Oslo.", ""),
            (5, "tabs, not spaces", "style and more"),
            (6, "see the guide (https://example.org/g) that we follow", "style and more"),
            (8, "nested: run `make fmt`", "style and more"),
            (12, "one assert each", "style and more|tests"),
            (14, "Wide paragraph.", "style and more|tests"),
            (20, "staging = anvil", "hosts"),
        ]
        .map(|(line, content, tags)| (line, content.to_owned(), tags.to_owned()));
        assert_eq!(got, expect);
        assert_eq!(notes("", None), []);
        assert_eq!(notes("# only a heading", None), []);
        let note = &notes("x", Some("/w"))[0];
        let written = serde_json::to_string(note).unwrap();
        assert_eq!(written, r#"{"content":"x","tags":[],"workspace":"/w"}"#);
    }
}

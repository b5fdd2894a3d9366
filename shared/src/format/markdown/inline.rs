//! Emphasis, code, links: what happens inside one line.

use anstyle::Effects;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::format::styled::{Ink, Role, Span};
use crate::text::sanitize;

/// Longest line that is parsed, in bytes. A longer one is shown as written.
const MAX_PARSED_BYTES: usize = 16 * 1024;

/// Parses one line into styled pieces. All text that comes out is inert.
pub(super) fn spans(line: &str, base: Ink) -> Vec<Span> {
    if line.len() > MAX_PARSED_BYTES {
        return vec![Span::new(line, base)];
    }
    let mut walk = Walk { spans: Vec::new(), inks: vec![base], link: None };
    for event in Parser::new_ext(line, Options::ENABLE_STRIKETHROUGH) {
        walk.on(event);
    }
    let visible = walk.spans.iter().any(|span| !span.text().trim().is_empty());
    // Link definitions, lone markers and the like parse to nothing; nothing may vanish.
    if visible || line.trim().is_empty() { walk.spans } else { vec![Span::new(line, base)] }
}

struct Walk {
    spans: Vec<Span>,
    inks: Vec<Ink>,
    /// Target of the link that is open, and where its text begins in `spans`.
    link: Option<(String, usize)>,
}

impl Walk {
    fn ink(&self) -> Ink {
        self.inks.last().copied().unwrap_or_default()
    }

    fn push(&mut self, text: &str) {
        self.spans.push(Span::new(text, self.ink()));
    }

    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) => self.push(&text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.spans.push(Span::new(&code, Role::Code));
            }
            Event::SoftBreak | Event::HardBreak => self.push(" "),
            Event::FootnoteReference(name) => self.push(&format!("[^{name}]")),
            Event::Rule => self.push("───"),
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let ink = self.ink();
        match tag {
            Tag::Strong => self.inks.push(ink.with(Effects::BOLD)),
            Tag::Emphasis => self.inks.push(ink.with(Effects::ITALIC)),
            Tag::Strikethrough => self.inks.push(ink.with(Effects::STRIKETHROUGH)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.spans.len()));
                self.inks.push(ink.with(Effects::UNDERLINE));
            }
            // The line has lost its own markers already; others (a list in a list) lose their meaning.
            _ => self.inks.push(ink),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if self.inks.len() > 1 {
            self.inks.pop();
        }
        if matches!(tag, TagEnd::Link | TagEnd::Image)
            && let Some((target, from)) = self.link.take()
        {
            let shown: String = self.spans.iter().skip(from).map(Span::text).collect();
            // The target is always shown: a link text that names another place must not deceive.
            if shown != sanitize(&target) && !target.is_empty() {
                self.spans.push(Span::new(&format!(" ({target})"), Role::Dim));
            }
        }
    }
}

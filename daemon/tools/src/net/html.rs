//! A page of HTML as Markdown that can be read.
//!
//! It works on the tokens of the page, in one pass and without a tree: there is no depth that could
//! overflow a stack, and no way of nesting that takes more than linear time.

mod page;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use url::Url;

use self::page::Page;
use super::plain::{plain, plain_line};
use agentd_domain::cut_line;

/// Longest title in characters.
const MAX_TITLE: usize = 200;

/// Longest URL of a link that is shown, in bytes.
const MAX_LINK: usize = 500;

/// Shortest main part in bytes that is shown alone.
const MIN_MAIN: usize = 200;

/// What a reader wants of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Readable {
    pub(super) title: String,
    pub(super) text: String,
    /// The page says which part is its main one, and only that is in the text.
    pub(super) is_main_part: bool,
}

/// Makes a page readable. Links are shown in full, seen from `base`.
pub(super) fn readable(html: &str, base: &Url) -> Readable {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut reader = Reader { base, page: Page::default(), title: None, hidden: None };
    for token in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Ok(Token::StartTag(tag)) => reader.open(&tag),
            Ok(Token::EndTag(tag)) => reader.close(&tag.name),
            Ok(Token::String(text)) => reader.text(&String::from_utf8_lossy(&text)),
            Ok(Token::Comment(_) | Token::Doctype(_) | Token::Error(_)) => {}
        }
    }
    let title = cut_line(&plain_line(&reader.title.unwrap_or_default()), MAX_TITLE);
    let (text, is_main_part) = reader.page.into_text(MIN_MAIN);
    Readable { title, text: plain(&text), is_main_part }
}

struct Reader<'a> {
    base: &'a Url,
    page: Page,
    title: Option<String>,
    /// The element whose content is not shown, and how many of its name are open in it.
    hidden: Option<(Vec<u8>, usize)>,
}

impl Reader<'_> {
    fn open(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden.as_slice() == name && !tag.self_closing {
                *depth += 1;
            }
            return;
        }
        let attribute = |name: &[u8]| {
            tag.attributes.get(name).map(|value| String::from_utf8_lossy(&value.value).into_owned())
        };
        match name {
            b"script" | b"style" | b"noscript" | b"svg" | b"template" | b"iframe" | b"object"
            | b"canvas" | b"math" | b"textarea" | b"select" | b"title"
                if !tag.self_closing =>
            {
                self.hidden = Some((name.to_vec(), 1));
            }
            b"a" => self.page.open_link(attribute(b"href").and_then(|to| self.link(&to))),
            b"img" => {
                if let Some(alt) = attribute(b"alt").filter(|alt| !alt.trim().is_empty()) {
                    self.page.text(&format!("[image: {}]", alt.trim()));
                }
            }
            b"input" => {}
            b"main" => self.page.open_main(),
            b"ol" => self.page.open_list(Some(0)),
            b"ul" | b"menu" => self.page.open_list(None),
            b"li" => self.page.item(),
            b"pre" => self.page.open_pre(),
            b"code" | b"kbd" | b"samp" => self.page.code(),
            b"hr" => self.page.rule(),
            b"td" | b"th" => self.page.cell(),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => {
                self.page.heading(usize::from(name.get(1).map_or(1, |digit| digit - b'0')));
            }
            b"br" | b"tr" | b"dt" | b"dd" | b"option" | b"summary" | b"figcaption" | b"caption" => {
                self.page.line();
            }
            name if is_block(name) => self.page.paragraph(),
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden.as_slice() == name {
                *depth -= 1;
                if *depth == 0 {
                    self.hidden = None;
                }
            }
            return;
        }
        match name {
            b"a" => self.page.close_link(),
            b"main" => self.page.close_main(),
            b"ol" | b"ul" | b"menu" => self.page.close_list(),
            b"pre" => self.page.close_pre(),
            b"code" | b"kbd" | b"samp" => self.page.code(),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.page.paragraph(),
            name if is_block(name) => self.page.paragraph(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        match &self.hidden {
            // The first one: an inner page or a drawing may have its own.
            Some((hidden, _)) if hidden == b"title" && self.title.is_none() => {
                self.title = Some(text.to_owned());
            }
            Some(_) => {}
            None => self.page.text(text),
        }
    }

    /// Where a link leads, when it can be fetched.
    fn link(&self, to: &str) -> Option<String> {
        let to = to.trim();
        if to.is_empty() || to.starts_with('#') || to.len() > MAX_LINK {
            return None;
        }
        let url = self.base.join(to).ok()?;
        let is_shown = matches!(url.scheme(), "http" | "https" | "mailto");
        (is_shown && url.as_str().len() <= MAX_LINK).then(|| url.to_string())
    }
}

fn is_block(name: &[u8]) -> bool {
    matches!(
        name,
        b"p" | b"div"
            | b"section"
            | b"article"
            | b"aside"
            | b"header"
            | b"footer"
            | b"nav"
            | b"form"
            | b"fieldset"
            | b"blockquote"
            | b"figure"
            | b"table"
            | b"dl"
            | b"details"
            | b"address"
            | b"body"
    )
}

#[cfg(test)]
mod tests;

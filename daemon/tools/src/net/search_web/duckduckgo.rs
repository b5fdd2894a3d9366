//! The page of results that DuckDuckGo gives to browsers without scripts.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use url::Url;

use super::Hit;

/// Most results of one page that are looked at.
const MAX_HITS: usize = 50;

/// True for the page that asks to pick pictures.
pub(super) fn is_challenge(page: &str) -> bool {
    ["anomaly-modal", "challenge-form", "anomaly.js"].iter().any(|mark| page.contains(mark))
}

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Title,
    Words,
}

/// The results; none when it is another page.
pub(super) fn hits(page: &str) -> Option<Vec<Hit>> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let (mut hits, mut part, mut is_known) = (Vec::<Hit>::new(), None, false);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Ok(Token::StartTag(tag)) => {
                let classes = attribute(&tag, b"class").unwrap_or_default();
                let has = |class: &str| classes.split_ascii_whitespace().any(|is| is == class);
                is_known |= has("no-results") || attribute(&tag, b"id").as_deref() == Some("links");
                if has("result__a") && hits.len() < MAX_HITS {
                    is_known = true;
                    let url = attribute(&tag, b"href").as_deref().and_then(real_url);
                    let url = url.unwrap_or_default();
                    hits.push(Hit { url, title: String::new(), words: String::new() });
                    part = Some(Part::Title);
                } else if has("result__snippet") {
                    part = Some(Part::Words);
                }
            }
            Ok(Token::EndTag(tag)) if *tag.name == *b"a" => part = None,
            Ok(Token::String(text)) => {
                let text = String::from_utf8_lossy(&text);
                if let Some(hit) = hits.last_mut() {
                    match part {
                        Some(Part::Title) => hit.title.push_str(&text),
                        Some(Part::Words) => hit.words.push_str(&text),
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }
    // Advertisements have no URL of their own.
    hits.retain(|hit| !hit.url.is_empty());
    is_known.then_some(hits)
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    tag.attributes.get(name).map(|value| String::from_utf8_lossy(&value.value).into_owned())
}

/// Where a link leads that goes through the engine; none for advertisements.
fn real_url(link: &str) -> Option<String> {
    let base = Url::parse("https://html.duckduckgo.com/").ok()?;
    let url = base.join(link).ok()?;
    let host = url.host_str()?;
    if host != "duckduckgo.com" && !host.ends_with(".duckduckgo.com") {
        return Some(url.to_string());
    }
    url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, url)| url.into_owned())
}

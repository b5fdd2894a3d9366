//! Making what a provider says fit to be shown and logged.

use agentd_domain::floor_char_boundary;
use secrecy::ExposeSecret as _;

use crate::Secret;

/// Most bytes of a provider's text that an error keeps.
const MAX_BYTES: usize = 2 * 1024;
/// What stands for a key.
const MASK: &str = "[masked]";
/// A part of the key this long is masked too: providers echo keys cut short.
const TELLING_PREFIX: usize = 8;
/// Fewer bytes are no secret.
const SHORTEST_KEY: usize = 4;

/// Cleans texts that may echo the key.
#[derive(Debug, Clone, Default)]
pub(crate) struct ErrorText {
    key: Option<Secret>,
}

impl ErrorText {
    pub(crate) fn new(key: Option<Secret>) -> Self {
        Self { key }
    }

    /// One line of at most 2 KiB without the key and without control characters.
    pub(crate) fn clean(&self, text: &str) -> String {
        // Masking comes first: a key may hold a character that cleaning changes, and a cut key is
        // no longer found.
        let masked = match &self.key {
            Some(key) => mask(text, key.expose_secret()),
            None => text.to_owned(),
        };
        let mut line = String::with_capacity(masked.len().min(MAX_BYTES));
        for word in masked.split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.extend(word.chars().filter(|char| !char.is_control()));
            if line.len() > MAX_BYTES {
                line.truncate(floor_char_boundary(&line, MAX_BYTES));
                line.push('…');
                break;
            }
        }
        line
    }
}

/// Replaces the key, and every prefix of it that is long enough to tell it, by the mask.
fn mask(text: &str, key: &str) -> String {
    let prefix = key.get(..floor_char_boundary(key, TELLING_PREFIX)).unwrap_or_default();
    // Shorter ones are placeholders for servers that want any key; masking them would garble texts.
    if prefix.len() < SHORTEST_KEY {
        return text.to_owned();
    }
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(prefix) {
        let (before, from) = rest.split_at(at);
        let same = from.chars().zip(key.chars()).take_while(|(a, b)| a == b);
        let end: usize = same.map(|(char, _)| char.len_utf8()).sum();
        masked.push_str(before);
        masked.push_str(MASK);
        rest = from.get(end..).unwrap_or_default();
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let cleaner = ErrorText::new(Some("sk-1234567890abcdef".to_owned().into()));
        assert_eq!(cleaner.clean(text), expect);
    }

    #[test]
    fn sc_03_the_key_and_its_long_prefixes_are_masked() {
        check("bad key sk-1234567890abcdef.", "bad key [masked].");
        check("bad key sk-1234567890****cdef.", "bad key [masked]****cdef.");
        check("sk-1234567890abcdefsk-1234567890abcdef", "[masked][masked]");
        check("a key starts with sk-", "a key starts with sk-");
    }

    #[test]
    fn control_characters_and_line_breaks_vanish() {
        check("one\r\n\ttwo\x1b[31m \u{9b}three\0", "one two[31m three");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let cut = ErrorText::default().clean(&"世".repeat(1000));
        assert_eq!(cut, format!("{}…", "世".repeat(682)));
        let masked = ErrorText::new(Some("世界世界世界".to_owned().into())).clean("世界世界世界!");
        assert_eq!(masked, "[masked]!");
    }
}

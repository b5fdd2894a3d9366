//! Makes foreign text inert.
//!
//! What could steer a terminal, reorder what is read or hide inside other text is shown as an escape
//! such as `\u{1b}`. Line feeds and tabs stay, `\r\n` becomes `\n`. Joiners stay where scripts and
//! emoji need them: after a character that is not ASCII.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Makes a whole text inert. Borrows when there is nothing to change.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let mut sanitizer = Sanitizer::default();
    let clean = sanitizer.push(text);
    match sanitizer.finish() {
        "" => clean,
        rest => Cow::Owned(clean.into_owned() + rest),
    }
}

/// Makes a text inert that arrives in pieces; any cutting gives the same result as [`sanitize`].
#[derive(Debug, Clone, Default)]
pub struct Sanitizer {
    /// A carriage return ended the last piece; what follows decides what it is.
    pending_return: bool,
    /// The last visible character.
    previous: Option<char>,
}

impl Sanitizer {
    /// Returns what can be shown of the text so far after adding a piece.
    pub fn push<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        if !self.pending_return && piece.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
            self.previous = piece.chars().next_back().or(self.previous);
            return Cow::Borrowed(piece);
        }
        let mut clean = String::with_capacity(piece.len() + 16);
        for character in piece.chars() {
            if self.pending_return {
                self.pending_return = false;
                if character != '\n' {
                    escape(&mut clean, '\r');
                    self.previous = Some('}');
                }
            }
            match character {
                '\r' => self.pending_return = true,
                _ if self.is_shown(character) => clean.push(character),
                _ => escape(&mut clean, character),
            }
            self.previous = clean.chars().next_back().or(self.previous);
        }
        if clean == piece { Cow::Borrowed(piece) } else { Cow::Owned(clean) }
    }

    /// Ends the text and returns what was held back.
    pub fn finish(&mut self) -> &'static str {
        self.previous = None;
        if std::mem::take(&mut self.pending_return) { "\\u{d}" } else { "" }
    }

    fn is_shown(&self, character: char) -> bool {
        match character {
            '\n' | '\t' => true,
            // Joiners belong to scripts and emoji, and hide text elsewhere.
            '\u{200c}' | '\u{200d}' => self.previous.is_some_and(takes_joiner),
            // One selector chooses how a character looks; more than one carries hidden data.
            '\u{fe00}'..='\u{fe0f}' => !self.previous.is_none_or(is_selector),
            // C0, DEL and C1 are controls.
            _ => !character.is_control() && !is_hidden(character),
        }
    }
}

/// Tells whether a character shows nothing, or reorders what others show.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        // Fillers, zero width space, byte order mark.
        '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        // Separators of lines and paragraphs, directions.
        | '\u{2028}'..='\u{202e}'
        // Invisible operators, isolates.
        | '\u{2060}'..='\u{206f}'
        // Annotations.
        | '\u{fff9}'..='\u{fffb}'
        // Tags and the supplementary selectors.
        | '\u{e0000}'..='\u{e0fff}'
    )
}

fn takes_joiner(previous: char) -> bool {
    !previous.is_ascii() && !previous.is_control() && !matches!(previous, '\u{200b}'..='\u{200d}')
}

fn is_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}')
}

fn escape(clean: &mut String, character: char) {
    let written = write!(clean, "\\u{{{:x}}}", u32::from(character));
    debug_assert!(written.is_ok(), "a String takes all");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(input: &str, expect: &str) {
        assert_eq!(sanitize(input), expect, "{input:?}");
    }

    #[test]
    fn what_could_steer_a_terminal_is_shown_as_an_escape() {
        check("plain text\n\tand more", "plain text\n\tand more");
        check("\u{1b}[31mred\u{1b}[0m", "\\u{1b}[31mred\\u{1b}[0m");
        check("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}");
        check("\u{9b}31m\u{90}\u{7f}\0", "\\u{9b}31m\\u{90}\\u{7f}\\u{0}");
        check("\u{8}\u{8}\u{8}", "\\u{8}\\u{8}\\u{8}");
    }

    #[test]
    fn line_ends_become_line_feeds_and_a_lone_return_cannot_overwrite_a_line() {
        check("a\r\nb", "a\nb");
        check("safe\revil", "safe\\u{d}evil");
        check("a\r\r\nb\r", "a\\u{d}\nb\\u{d}");
    }

    #[test]
    fn what_reorders_or_hides_text_is_shown_as_an_escape() {
        check("a\u{202e}b\u{2066}c\u{2069}", "a\\u{202e}b\\u{2066}c\\u{2069}");
        check("a\u{200b}b\u{2060}\u{feff}", "a\\u{200b}b\\u{2060}\\u{feff}");
        check("hi\u{e0041}\u{e0042}", "hi\\u{e0041}\\u{e0042}");
        check("x\u{e0101}", "x\\u{e0101}");
        check("a\u{200d}b", "a\\u{200d}b");
        check("\u{2028}", "\\u{2028}");
    }

    #[test]
    fn scripts_and_emoji_stay_whole() {
        for text in ["世界", "👩‍👩‍👧‍👦 ❤️", "می‌خواهم", "e\u{301}", "שלום", "🏳️‍🌈"]
        {
            check(text, text);
            assert!(matches!(sanitize(text), Cow::Borrowed(_)), "{text} was copied");
        }
        check("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}");
    }

    fn hostile() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            '\r', '\n', '\u{1b}', '\u{200d}', '\u{fe0f}', '❤', '👩', 'a', '\u{202e}', '\u{9b}',
        ]);
        prop::collection::vec(prop_oneof![odd, any::<char>()], 0..40)
            .prop_map(|characters| characters.into_iter().collect())
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_text(text in hostile(), cuts in prop::collection::vec(0_usize..8, 0..40)) {
            let mut sanitizer = Sanitizer::default();
            let (mut joined, mut rest) = (String::new(), text.as_str());
            for cut in cuts {
                let at = rest.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(rest.len());
                let (piece, after) = rest.split_at(at);
                joined += &sanitizer.push(piece);
                rest = after;
            }
            joined += &sanitizer.push(rest);
            joined += sanitizer.finish();
            prop_assert_eq!(joined, sanitize(&text));
        }

        #[test]
        fn no_control_is_left_and_a_second_pass_changes_nothing(text in hostile()) {
            let once = sanitize(&text).into_owned();
            let inert = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
            prop_assert!(once.chars().all(inert), "{:?}", once);
            prop_assert_eq!(sanitize(&once).into_owned(), once.clone());
        }
    }
}

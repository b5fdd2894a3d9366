//! A key: what an event is, how it is written and read.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

const ALT: KeyModifiers = KeyModifiers::ALT;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

/// Modifiers with their names.
const MODIFIERS: [(KeyModifiers, &str); 3] = [(CTRL, "Ctrl"), (ALT, "Alt"), (SHIFT, "Shift")];

/// Keys that are no text, with their names. The first name of a key is the one that is shown.
const NAMES: [(KeyCode, &str); 20] = [
    (KeyCode::Enter, "Enter"),
    (KeyCode::Enter, "Return"),
    (KeyCode::Tab, "Tab"),
    (KeyCode::Backspace, "Backspace"),
    (KeyCode::Delete, "Delete"),
    (KeyCode::Delete, "Del"),
    (KeyCode::Insert, "Insert"),
    (KeyCode::Esc, "Esc"),
    (KeyCode::Esc, "Escape"),
    (KeyCode::Char(' '), "Space"),
    (KeyCode::Up, "Up"),
    (KeyCode::Down, "Down"),
    (KeyCode::Left, "Left"),
    (KeyCode::Right, "Right"),
    (KeyCode::Home, "Home"),
    (KeyCode::End, "End"),
    (KeyCode::PageUp, "PageUp"),
    (KeyCode::PageUp, "PgUp"),
    (KeyCode::PageDown, "PageDown"),
    (KeyCode::PageDown, "PgDn"),
];

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The key.
    pub code: KeyCode,
    /// Ctrl, Alt and Shift; Shift is not told of letters.
    pub modifiers: KeyModifiers,
}

impl Key {
    /// The key of an event. Shift is part of a letter, and terminals do not agree on how to tell it.
    pub fn of(event: KeyEvent) -> Self {
        let (mut code, mut modifiers) = (event.code, event.modifiers & (CTRL | ALT | SHIFT));
        if code == KeyCode::BackTab {
            (code, modifiers) = (KeyCode::Tab, modifiers | SHIFT);
        }
        if let KeyCode::Char(letter) = code {
            if modifiers.intersects(CTRL | ALT) {
                code = KeyCode::Char(letter.to_ascii_lowercase());
            }
            modifiers -= SHIFT;
        }
        Self { code, modifiers }
    }

    /// Whether it would write a letter.
    pub fn is_text(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && !self.modifiers.intersects(CTRL | ALT)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in MODIFIERS {
            if self.modifiers.contains(modifier) {
                write!(formatter, "{name}-")?;
            }
        }
        if let Some((_, name)) = NAMES.iter().find(|(code, _)| *code == self.code) {
            return formatter.write_str(name);
        }
        match self.code {
            KeyCode::Char(letter) => write!(formatter, "{}", letter.to_uppercase()),
            KeyCode::F(number) => write!(formatter, "F{number}"),
            other => write!(formatter, "{other}"),
        }
    }
}

/// Why a text is no key that can be bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No key has this name.
    #[error("there is no key {text}{}", nearest.as_ref().map_or(String::new(), |near| format!("; did you mean {near}?")))]
    Unknown {
        /// What was written, as one inert line.
        text: String,
        /// The key whose name is near.
        nearest: Option<String>,
    },
    /// The key writes text.
    #[error("{text} is text; use it with Ctrl or Alt")]
    Text {
        /// What was written, as one inert line.
        text: String,
    },
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (mut rest, mut modifiers) = (text.trim(), KeyModifiers::NONE);
        while let Some((modifier, after)) = modifier(rest) {
            modifiers |= modifier;
            rest = after;
        }
        let shown = agentd_shared::text::one_line(text, 40);
        let code = code(rest).ok_or_else(|| KeyError::Unknown {
            text: shown.clone(),
            nearest: nearest(modifiers, rest),
        })?;
        let key = Self::of(KeyEvent::new(code, modifiers));
        if key.is_text() { Err(KeyError::Text { text: shown }) } else { Ok(key) }
    }
}

/// The modifier that a text begins with, and what comes after it.
fn modifier(text: &str) -> Option<(KeyModifiers, &str)> {
    MODIFIERS.into_iter().find_map(|(modifier, name)| {
        let head = text.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name))?;
        let rest = text.get(head.len()..)?;
        let rest = rest.strip_prefix('-').or_else(|| rest.strip_prefix('+'))?;
        (!rest.is_empty()).then_some((modifier, rest))
    })
}

fn code(name: &str) -> Option<KeyCode> {
    let mut letters = name.chars();
    if let (Some(only), None) = (letters.next(), letters.next()) {
        return Some(KeyCode::Char(only));
    }
    let known = NAMES.iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
    known.map(|(code, _)| *code).or_else(|| {
        let number = name.strip_prefix(['F', 'f'])?.parse().ok()?;
        (1..=24).contains(&number).then_some(KeyCode::F(number))
    })
}

fn nearest(modifiers: KeyModifiers, name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let near = NAMES.iter().map(|(code, known)| {
        (strsim::damerau_levenshtein(&known.to_ascii_lowercase(), &lower), *known, *code)
    });
    let (distance, known, code) = near.min_by_key(|(distance, ..)| *distance)?;
    (distance <= known.len() / 2).then(|| Key { code, modifiers }.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_people_write_them() {
        let check = |text: &str, expect: &str| {
            let key = text.parse::<Key>().map(|key| key.to_string());
            assert_eq!(key.as_deref(), Ok(expect), "{text:?}");
        };
        check("PageUp", "PageUp");
        check(" pgup ", "PageUp");
        check("ctrl+b", "Ctrl-B");
        check("Alt-Ctrl-Delete", "Ctrl-Alt-Delete");
        check("Ctrl--", "Ctrl--");
        check("Shift-Tab", "Shift-Tab");
        check("f12", "F12");
        check("Alt-é", "Alt-É");
        check("Ctrl-Space", "Ctrl-Space");
    }

    #[test]
    fn what_is_no_key_is_told() {
        let check = |text: &str, expect: &str| {
            let error = text.parse::<Key>().unwrap_err().to_string();
            assert_eq!(error, expect, "{text:?}");
        };
        check("Ctrl-PagUp", "there is no key Ctrl-PagUp; did you mean Ctrl-PageUp?");
        check("F99", "there is no key F99");
        check("", "there is no key ");
        check("Shift-x", "Shift-x is text; use it with Ctrl or Alt");
        check("Space", "Space is text; use it with Ctrl or Alt");
        check("\u{1b}[2J", "there is no key \\u{1b}[2J");
    }

    #[test]
    fn shift_tab_is_one_key_however_a_terminal_tells_it() {
        let tab = Key::of(KeyEvent::new(KeyCode::BackTab, SHIFT));
        assert_eq!(tab, Key { code: KeyCode::Tab, modifiers: SHIFT });
    }
}

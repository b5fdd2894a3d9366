//! Pins: what users want the model to keep to in a session, whatever is folded.

use agentd_domain::{Author, ErrorKind, PinsChanged, SessionId};

use crate::engine::Engine;
use crate::error::{CommandError, Field};
use crate::session::{Command, Draft, PinChange};

/// Most pins of a session. All of them are part of what every request holds.
pub const MAX_PINS: usize = 20;

/// Most characters of a pin.
pub const MAX_PIN_CHARS: usize = 500;

/// Why a pin is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// There is nothing in it.
    #[error("there is no text to pin")]
    Empty,
    /// It is too long.
    #[error("the text has {chars} characters; at most {MAX_PIN_CHARS} can be pinned at once")]
    TooLong {
        /// Its characters.
        chars: usize,
    },
    /// There are as many as there may be.
    #[error("{MAX_PINS} texts are pinned already; more are not kept")]
    TooMany,
    /// There is no such pin.
    #[error("there is no pin {number}: {}", counted(*.pins))]
    None {
        /// What was asked for, from 1 on.
        number: u32,
        /// Pins that there are.
        pins: usize,
    },
}

impl PinError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Empty | Self::TooLong { .. } => ErrorKind::Invalid,
            Self::TooMany => ErrorKind::Busy,
            Self::None { .. } => ErrorKind::NotFound,
        }
    }

    /// The field of the request that is at fault.
    pub fn field(&self) -> Option<Field> {
        match self {
            Self::Empty | Self::TooLong { .. } => Some("text"),
            Self::TooMany => None,
            Self::None { .. } => Some("number"),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "say what the model is to keep to",
            Self::TooLong { .. } => {
                "say it in fewer words, or write it to a document of the workspace"
            }
            Self::TooMany => "unpin one first; `agentctl context` lists them with their numbers",
            Self::None { .. } => "`agentctl context` lists them with their numbers",
        }
    }
}

fn counted(pins: usize) -> String {
    match pins {
        0 => "nothing is pinned".to_owned(),
        1 => "there is one".to_owned(),
        many => format!("there are {many}"),
    }
}

impl Engine {
    /// Pins a text, unless it is pinned already. Gives all pins of the session, the oldest first.
    ///
    /// # Errors
    /// When there is no such session, the text cannot be pinned, or it cannot be stored.
    pub async fn pin(
        &self,
        id: SessionId,
        text: String,
        by: Author,
    ) -> Result<Vec<String>, CommandError> {
        let change = PinChange::Add { text };
        self.change_pins(id, change, by).await
    }

    /// Unpins the text with this number, from 1 on. Gives what is left.
    ///
    /// # Errors
    /// When there is no such session, no such pin, or it cannot be stored.
    pub async fn unpin(
        &self,
        id: SessionId,
        number: u32,
        by: Author,
    ) -> Result<Vec<String>, CommandError> {
        self.change_pins(id, PinChange::Remove { number }, by).await
    }

    async fn change_pins(
        &self,
        id: SessionId,
        change: PinChange,
        by: Author,
    ) -> Result<Vec<String>, CommandError> {
        let command = |reply| Command::Pins { change: change.clone(), by: by.clone(), reply };
        self.ask(id, command).await
    }
}

/// What a change of the pins comes to; none: they are so already.
pub(crate) fn change(
    pins: &[String],
    change: PinChange,
    by: Author,
) -> Result<Option<Draft>, PinError> {
    let mut pins = pins.to_vec();
    match change {
        PinChange::Add { text } => {
            let text = one_line(&text);
            let chars = text.chars().count();
            if text.is_empty() {
                return Err(PinError::Empty);
            }
            if chars > MAX_PIN_CHARS {
                return Err(PinError::TooLong { chars });
            }
            if pins.contains(&text) {
                return Ok(None);
            }
            if pins.len() >= MAX_PINS {
                return Err(PinError::TooMany);
            }
            pins.push(text);
        }
        PinChange::Remove { number } => {
            let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            match at.filter(|at| *at < pins.len()) {
                Some(at) => drop(pins.remove(at)),
                None => return Err(PinError::None { number, pins: pins.len() }),
            }
        }
    }
    Ok(Some(Draft::plain(PinsChanged { pins, by: Some(by) })))
}

/// The text in one line, so that it is the same however it was typed.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.replace(char::is_control, ""));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use agentd_domain::EventBody;

    use super::*;
    use crate::session::test_log::author;

    fn add(pins: &[String], text: &str) -> Result<Option<Vec<String>>, PinError> {
        let add = PinChange::Add { text: text.to_owned() };
        change(pins, add, author("ann")).map(pins_of)
    }

    fn remove(pins: &[String], number: u32) -> Result<Option<Vec<String>>, PinError> {
        change(pins, PinChange::Remove { number }, author("ann")).map(pins_of)
    }

    fn pins_of(draft: Option<Draft>) -> Option<Vec<String>> {
        draft.map(|draft| match draft.body {
            EventBody::PinsChanged(changed) => changed.pins,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_text_is_pinned_once_however_it_is_typed() {
        let pins = add(&[], " keep\n to\ttabs\u{7} ").unwrap().unwrap();
        assert_eq!(pins, ["keep to tabs"]);
        assert_eq!(add(&pins, "keep to tabs"), Ok(None));
        assert_eq!(add(&pins, "keep  to tabs"), Ok(None));
        let two = add(&pins, "no new crates").unwrap().unwrap();
        assert_eq!(two, ["keep to tabs", "no new crates"]);
        assert_eq!(remove(&two, 1), Ok(Some(vec!["no new crates".to_owned()])));
    }

    #[test]
    fn what_cannot_be_pinned_is_refused_with_a_remedy() {
        assert_eq!(add(&[], " \n\u{1b} "), Err(PinError::Empty));
        let long = "世".repeat(MAX_PIN_CHARS);
        assert_eq!(add(&[], &long), Ok(Some(vec![long.clone()])));
        assert_eq!(add(&[], &format!("{long}x")), Err(PinError::TooLong { chars: 501 }));
        let full: Vec<String> = (0..MAX_PINS).map(|number| number.to_string()).collect();
        assert_eq!(add(&full, "one more"), Err(PinError::TooMany));
        assert_eq!(add(&full, "7"), Ok(None));
        for number in [0, 21, u32::MAX] {
            assert_eq!(remove(&full, number), Err(PinError::None { number, pins: MAX_PINS }));
        }
        assert_eq!(
            PinError::None { number: 1, pins: 0 }.to_string(),
            "there is no pin 1: nothing is pinned"
        );
    }
}

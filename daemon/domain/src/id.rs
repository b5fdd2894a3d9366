//! Ids as newtypes. Making new ones needs a clock and randomness, so it happens elsewhere.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Serialize};
use ulid::Ulid;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is not a ULID.
    #[error("'{got}' is not a ULID (26 characters of 0-9 and A-Z without I, L, O, U)")]
    NotUlid {
        /// The text, cut to 40 characters.
        got: String,
    },
    /// The text is empty.
    #[error("it is empty")]
    Empty,
    /// The text is too long.
    #[error("it has {len} bytes; at most {max} are allowed")]
    TooLong {
        /// Bytes of the text.
        len: usize,
        /// Most bytes allowed.
        max: usize,
    },
    /// The text holds a character that ids may not hold.
    #[error("it holds a control character")]
    ControlCharacter,
}

/// Parses a text where it lies, without a copy.
struct Parse<T>(PhantomData<T>);

impl<T: FromStr<Err = IdError>> Visitor<'_> for Parse<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

macro_rules! ulid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ulid);

        impl $name {
            /// Makes an id from a Unix time in milliseconds and 80 random bits.
            pub const fn from_parts(at_ms: u64, random: u128) -> Self {
                Self(Ulid::from_parts(at_ms, random))
            }

            /// The 16 bytes of the id, which sort by time.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }

            /// Reads the 16 bytes that [`Self::to_bytes`] gave.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Ulid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                // 26 characters hold 130 bits; what begins above 7 does not fit 128 and would alias.
                let fits = text.as_bytes().first().is_some_and(|first| *first <= b'7');
                Ulid::from_string(text)
                    .ok()
                    .filter(|_| fits)
                    .map(Self)
                    .ok_or_else(|| IdError::NotUlid { got: text.chars().take(40).collect() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Parse(PhantomData))
            }
        }
    };
}

ulid_id! {
    /// A session.
    SessionId
}
ulid_id! {
    /// A turn: all work from a user message to the answer.
    TurnId
}
ulid_id! {
    /// A user message or an assistant message.
    ItemId
}
ulid_id! {
    /// A call that waits until somebody says whether it may run.
    ApprovalId
}
ulid_id! {
    /// A question to the user.
    QuestionId
}

ulid_id! {
    /// A memory.
    MemoryId
}
ulid_id! {
    /// One change of memories.
    MemoryChangeId
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $max:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Most bytes of the text.
            pub const MAX_BYTES: usize = $max;

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                if text.is_empty() {
                    return Err(IdError::Empty);
                }
                if text.len() > Self::MAX_BYTES {
                    return Err(IdError::TooLong { len: text.len(), max: Self::MAX_BYTES });
                }
                if text.chars().any(char::is_control) {
                    return Err(IdError::ControlCharacter);
                }
                Ok(Self(text.to_owned()))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Parse(PhantomData))
            }
        }
    };
}

text_id! {
    /// The id that a client makes for a message, so that a retry is recognised.
    ClientMessageId, 64
}
text_id! {
    /// One tool call. Unique in its session: the daemon makes it, whatever the provider sent.
    CallId, 64
}

/// Position of a durable event in its session's log. The first is 1; 0 means "before all".
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first event.
    pub const ZERO: Self = Self(0);

    /// The position after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_that_fit_are_ids() {
        for text in ["", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "ZZZZZZZZZZZZZZZZZZZZZZZZZZ", "01JZ", "é"] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
        let id: SessionId = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse().unwrap();
        assert_eq!(id.to_string(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    }
}

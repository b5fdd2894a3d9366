//! Values of JSON as servers write them: strings as bytes, so that escaped halves of characters get
//! through (see `surrogates`), and numbers that may come as texts.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A string's bytes: UTF-8, or WTF-8 where the JSON escaped half a character. Borrowed where the
/// JSON escapes nothing.
#[derive(Debug, Default)]
pub(crate) struct WireText<'a>(pub(crate) Cow<'a, [u8]>);

impl<'a> WireText<'a> {
    /// A text that may come as another value: a string's bytes, otherwise the JSON as it stands.
    ///
    /// # Errors
    /// When the value is a string with illegal escapes.
    pub(crate) fn of_any(raw: &'a RawValue) -> Result<Self, serde_json::Error> {
        if raw.get().starts_with('"') {
            serde_json::from_str(raw.get())
        } else {
            Ok(Self(Cow::Borrowed(raw.get().as_bytes())))
        }
    }

    /// The text with what is no UTF-8 replaced.
    pub(crate) fn to_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for WireText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = WireText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(WireText(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(WireText(Cow::Owned(bytes.to_owned())))
    }

    /// Some servers send a list of typed parts; the text ones count.
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        #[derive(Deserialize)]
        struct Part<'a> {
            #[serde(borrow, default)]
            text: Option<WireText<'a>>,
        }
        let mut text = Vec::new();
        while let Some(part) = parts.next_element::<&'de RawValue>()? {
            let part = serde_json::from_str::<Part<'de>>(part.get()).map_err(A::Error::custom)?;
            if let Some(part) = part.text {
                text.extend_from_slice(&part.0);
            }
        }
        Ok(WireText(Cow::Owned(text)))
    }
}

/// An id: a text, or a number from some servers.
#[derive(Debug, Default)]
pub(crate) struct WireId<'a>(pub(crate) WireText<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for WireId<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        WireText::of_any(raw).map(Self).map_err(D::Error::custom)
    }
}

/// A number that some servers write as text, and others fill with -1 where it means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WireIndex(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for WireIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get().trim_matches('"').trim();
        Ok(Self(raw.strip_suffix(".0").unwrap_or(raw).parse().ok()))
    }
}

//! Reading a record in one pass, as replays of long logs need it.
//!
//! It works because a record names its kind before its body. Whatever differs from that, in order or
//! in kind, is an error here and is read the slow way.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Event, EventBody};

/// Reads the body of an event of this kind.
pub(super) struct BodyOfKind<'a>(pub(super) &'a str);

/// A record of a known kind.
pub(super) struct Record(pub(super) Event);

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
        let (mut seq, mut at, mut turn_id) = (None, None, None);
        let mut kind: Option<&'de str> = None;
        let mut body: Option<EventBody> = None;
        while let Some(field) = map.next_key::<&'de str>()? {
            match field {
                "seq" => seq = Some(map.next_value()?),
                "at" => at = Some(map.next_value()?),
                "turn" => turn_id = map.next_value()?,
                "kind" => kind = Some(map.next_value()?),
                "body" => {
                    let kind = kind.ok_or_else(|| A::Error::missing_field("kind"))?;
                    body = Some(map.next_value_seed(BodyOfKind(kind))?);
                }
                _ => {
                    let IgnoredAny = map.next_value()?;
                }
            }
        }
        let missing = A::Error::missing_field;
        Ok(Record(Event {
            seq: seq.ok_or_else(|| missing("seq"))?,
            at: at.ok_or_else(|| missing("at"))?,
            turn_id,
            body: body.ok_or_else(|| missing("body"))?,
        }))
    }
}

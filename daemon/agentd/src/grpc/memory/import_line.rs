//! One line of an import: a record that an export wrote, or no more than a text and what is known of it.

use agentd_domain::{
    Memory, MemoryAuthor, MemoryCategory, MemoryId, MemoryOrigin, MemoryPriority, MemoryScope,
    TimestampMs,
};
use agentd_memory::{NewMemory, Vouched};
use serde::Deserialize;

/// What a line says.
#[derive(Debug)]
pub(super) enum Line {
    /// A whole record.
    Record(Box<Memory>),
    /// A text.
    New(Box<NewMemory>),
    /// A text that was written down elsewhere, and when.
    Dated(Box<NewMemory>, MemoryId, TimestampMs),
}

/// A line that has no more than a text and what is known of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Short {
    content: String,
    priority: Option<MemoryPriority>,
    importance: Option<u8>,
    #[serde(default)]
    category: MemoryCategory,
    #[serde(default)]
    tags: Vec<String>,
    workspace: Option<String>,
    #[serde(default)]
    pinned: bool,
    expires_at_ms: Option<i64>,
    /// When it was written down.
    created_at_ms: Option<i64>,
    /// Its name where it is from.
    source_id: Option<String>,
}

/// Reads a line. Records have an id. `from` is the program that others are from.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(line: &str, from: &str, now: TimestampMs) -> Result<Line, String> {
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|error| format!("it is not JSON: {error}"))?;
    if value.get("id").is_some() {
        let record = serde_json::from_value(value);
        return record
            .map(|record| Line::Record(Box::new(record)))
            .map_err(|error| format!("it is no record of an export: {error}"));
    }
    let short: Short =
        serde_json::from_value(value).map_err(|error| format!("it is no memory: {error}"))?;
    let Short {
        content,
        priority,
        importance,
        category,
        tags,
        workspace,
        pinned,
        expires_at_ms,
        created_at_ms,
        source_id,
    } = short;
    let dated = match created_at_ms {
        Some(at) if at > now.0 => return Err("created_at_ms: it is in the future".to_owned()),
        Some(at) if at < 0 => return Err("created_at_ms: it is before 1970".to_owned()),
        Some(at) => Some((known_by(at, source_id.as_deref().unwrap_or(&content)), TimestampMs(at))),
        None => None,
    };
    if workspace.as_ref().is_some_and(|path| !path.starts_with('/')) {
        return Err("workspace: it is not an absolute path".to_owned());
    }
    let author = MemoryAuthor::Import { from: from.to_owned() };
    let new = Box::new(NewMemory {
        content,
        priority,
        importance,
        category,
        tags,
        scope: workspace.map_or(MemoryScope::User, |root| MemoryScope::Workspace { root }),
        pinned,
        expires_at: expires_at_ms.map(TimestampMs),
        origin: MemoryOrigin { author, session_id: None, seq: None },
        // Whoever imports a file stands behind what is in it.
        vouched: Vouched::Yes,
    });
    Ok(match dated {
        Some((id, at)) => Line::Dated(new, id, at),
        None => Line::New(new),
    })
}

/// The id of a memory that has another name where it is from: the same each time (FNV-1a of 128 bits, as of
/// Fowler, Noll and Vo, of which an id takes 80).
fn known_by(at_ms: i64, name: &str) -> MemoryId {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mixed =
        name.bytes().fold(BASIS, |mixed, byte| (mixed ^ u128::from(byte)).wrapping_mul(PRIME));
    MemoryId::from_parts(u64::try_from(at_ms).unwrap_or(0), mixed & ((1 << 80) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_record_or_a_text_and_says_what_is_wrong_with_it() {
        let text =
            r#"{"content":"likes tea","category":"preference","tags":["drinks"],"workspace":"/w"}"#;
        let now = TimestampMs(1_000);
        let Ok(Line::New(new)) = read(text, "notes", now) else { panic!() };
        assert_eq!(new.scope, MemoryScope::Workspace { root: "/w".to_owned() });
        assert_eq!(new.origin.author, MemoryAuthor::Import { from: "notes".to_owned() });
        for (line, why) in [
            ("likes tea", "not JSON"),
            ("[]", "no memory"),
            (r#"{"content":"x","colour":"red"}"#, "unknown field `colour`"),
            (r#"{"content":"x","priority":"huge"}"#, "unknown variant `huge`"),
            (r#"{"content":"x","workspace":"here"}"#, "workspace: "),
            (r#"{"content":"x","created_at_ms":1001}"#, "created_at_ms: it is in the future"),
            (r#"{"content":"x","created_at_ms":-1}"#, "created_at_ms: it is before 1970"),
            (r#"{"id":"x","content":"x"}"#, "no record of an export"),
        ] {
            let problem = read(line, "notes", now).unwrap_err();
            assert!(problem.contains(why), "{line}: {problem}");
        }
        let id = |line: &str| match read(line, "notes", now) {
            Ok(Line::Dated(_new, id, TimestampMs(7))) => id,
            other => panic!("{other:?}"),
        };
        let first = id(r#"{"content":"x","created_at_ms":7,"source_id":"a"}"#);
        assert_eq!(first, id(r#"{"content":"y","created_at_ms":7,"source_id":"a"}"#));
        assert_ne!(first, id(r#"{"content":"x","created_at_ms":7,"source_id":"b"}"#));
        assert_ne!(first, id(r#"{"content":"x","created_at_ms":7}"#));
    }
}

//! One line of an import: a record that an export wrote, or no more than a text and what is known of it.

use agentd_domain::{
    Memory, MemoryAuthor, MemoryCategory, MemoryOrigin, MemoryPriority, MemoryScope, TimestampMs,
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
}

/// Reads a line. Records have an id. `from` is the program that others are from.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(line: &str, from: &str) -> Result<Line, String> {
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
    let Short { content, priority, importance, category, tags, workspace, pinned, expires_at_ms } =
        short;
    if workspace.as_ref().is_some_and(|path| !path.starts_with('/')) {
        return Err("workspace: it is not an absolute path".to_owned());
    }
    let author = MemoryAuthor::Import { from: from.to_owned() };
    Ok(Line::New(Box::new(NewMemory {
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
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_record_or_a_text_and_says_what_is_wrong_with_it() {
        let text =
            r#"{"content":"likes tea","category":"preference","tags":["drinks"],"workspace":"/w"}"#;
        let Ok(Line::New(new)) = read(text, "notes") else { panic!() };
        assert_eq!(new.scope, MemoryScope::Workspace { root: "/w".to_owned() });
        assert_eq!(new.origin.author, MemoryAuthor::Import { from: "notes".to_owned() });
        for (line, why) in [
            ("likes tea", "not JSON"),
            ("[]", "no memory"),
            (r#"{"content":"x","colour":"red"}"#, "unknown field `colour`"),
            (r#"{"content":"x","priority":"huge"}"#, "unknown variant `huge`"),
            (r#"{"content":"x","workspace":"here"}"#, "workspace: "),
            (r#"{"id":"x","content":"x"}"#, "no record of an export"),
        ] {
            let problem = read(line, "notes").unwrap_err();
            assert!(problem.contains(why), "{line}: {problem}");
        }
    }
}

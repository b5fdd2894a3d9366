//! Arguments of a tool from a command line.

use serde_json::{Map, Value};

use crate::exit::{Exit, Failure};

/// Makes arguments of `key=value` words. A value is text where the tool takes text, else JSON; what
/// is neither goes to the daemon as it is, which says what is wrong with it.
///
/// # Errors
/// A report about a word that is no pair, or a key that comes twice.
pub(super) fn from_words(words: &[String], schema_json: &str) -> Result<String, Failure> {
    let schema: Value = serde_json::from_str(schema_json).unwrap_or_default();
    let mut arguments = Map::new();
    for word in words {
        let Some((key, value)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(Failure::new(Exit::Usage, format!("'{word}' is not KEY=VALUE"))
                .hint("`agentctl tools show NAME` shows the keys; quote values with spaces"));
        };
        let is_text = schema.pointer(&format!("/properties/{key}")).is_some_and(takes_text);
        let value = match serde_json::from_str(value) {
            Ok(json) if !is_text => json,
            _ => Value::String(value.to_owned()),
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(Failure::new(Exit::Usage, format!("'{key}' is given twice"))
                .hint("give a list as JSON, such as argv='[\"ls\", \"-l\"]'"));
        }
    }
    Ok(Value::Object(arguments).to_string())
}

/// Whether a schema takes text.
fn takes_text(schema: &Value) -> bool {
    let is_string = |kind: &Value| kind.as_str() == Some("string");
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_string),
        Some(kind) => is_string(kind),
        None => ["anyOf", "oneOf"].iter().any(|name| {
            let choices = schema.get(name).and_then(Value::as_array);
            choices.into_iter().flatten().any(takes_text)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"properties":{
        "path":{"type":"string"}, "note":{"type":["string","null"]}, "line":{"type":"integer"},
        "argv":{"type":"array"}, "either":{"anyOf":[{"type":"integer"},{"type":"string"}]}}}"#;

    fn made(words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        from_words(&words, SCHEMA).map_err(|failure| match failure {
            Failure::Report(report) => report.what,
            Failure::Closed => String::new(),
        })
    }

    #[test]
    fn a_value_is_what_the_tool_takes() {
        let check = |words: &[&str], expect: &str| {
            assert_eq!(made(words).as_deref(), Ok(expect), "{words:?}");
        };
        check(&[], "{}");
        check(&["path=12", "note=true", "either=7"], r#"{"either":"7","note":"true","path":"12"}"#);
        check(&["line=12"], r#"{"line":12}"#);
        check(&["line=twelve"], r#"{"line":"twelve"}"#);
        check(&["argv=[\"ls\",\"-l\"]"], r#"{"argv":["ls","-l"]}"#);
        check(&["path=a=b", "unknown=1"], r#"{"path":"a=b","unknown":1}"#);
    }

    #[test]
    fn a_word_that_is_no_pair_is_refused() {
        assert_eq!(made(&["path"]), Err("'path' is not KEY=VALUE".into()));
        assert_eq!(made(&["=x"]), Err("'=x' is not KEY=VALUE".into()));
        assert_eq!(made(&["line=1", "line=2"]), Err("'line' is given twice".into()));
    }
}

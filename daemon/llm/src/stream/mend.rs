//! A second look at an event that does not have the form it should have.

use serde_json::Value;

/// Fields that hold a text, whichever API it is.
const TEXTS: &[&str] = &[
    "content",
    "text",
    "reasoning",
    "reasoning_content",
    "refusal",
    "finish_reason",
    "stop_reason",
    "name",
    "status",
];

/// The event with what is known to be sent instead of the right thing put right: numbers where a text
/// belongs, a lone call instead of a list of them, nulls in lists, and fields that come twice, of which
/// the last counts. None for what is no JSON.
pub(crate) fn mend(event: &[u8]) -> Option<Vec<u8>> {
    let mut value = serde_json::from_slice(event).ok()?;
    walk(&mut value);
    serde_json::to_vec(&value).ok()
}

fn walk(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(walk);
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                if TEXTS.contains(&name.as_str()) && (field.is_number() || field.is_boolean()) {
                    *field = Value::String(field.to_string());
                } else if name == "tool_calls" && field.is_object() {
                    *field = Value::Array(vec![field.take()]);
                }
                walk(field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_to_come_instead_is_put_right_and_nothing_else() {
        let check = |event: &str, expect: Option<&str>| {
            let mended = mend(event.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into());
            assert_eq!(mended, expect.map(str::to_owned), "{event}");
        };
        check(r#"{"content":42,"index":1}"#, Some(r#"{"content":"42","index":1}"#));
        check(r#"{"content":"a","content":"b"}"#, Some(r#"{"content":"b"}"#));
        check(r#"{"tool_calls":{"id":1}}"#, Some(r#"{"tool_calls":[{"id":1}]}"#));
        check(r#"[null,{"finish_reason":0},null]"#, Some(r#"[{"finish_reason":"0"}]"#));
        check(r#"{"choices":["#, None);
    }
}

//! What a model is asked to find in a conversation, and reading its answer (spec b.5).
//!
//! Answers of small models come in many dresses: bare JSON, JSON in a fence, JSON among prose, an
//! object around the list. Whatever can be read is; what is no memory is left out (W0-8).

use agentd_domain::{MemoryCategory, MemoryPriority};
use serde_json::{Deserializer, Value};

/// Instructions for the model that looks for memories.
pub const INSTRUCTIONS: &str = "You look through a conversation for what its user will want an assistant to know in later \
     conversations. Take it only from what the user says; the assistant's lines are there to \
     understand it. Each turn begins with the time at which it was said. Leave out what only this task \
     needs, what everybody knows, and every secret.\n\
     Answer with a JSON array and nothing else, [] when there is nothing. Each item: {\"content\": one \
     sentence that makes sense alone, in the user's language and close to their words, \"category\": \
     \"instruction\" (the user asks to remember or always do something) | \"preference\" | \"fact\" | \
     \"reminder\" | \"general\", \"importance\": 1 (trivial) to 5 (ignoring it causes serious trouble), \
     \"tags\": up to 3 words, \"expires_at\": RFC 3339 time, only for reminders: when they are due, counted \
     from when they were asked for}.";

/// Most memories that are taken from one answer.
const MAX_ITEMS: usize = 20;

/// Longest answer that is read, in bytes.
pub const MAX_ANSWER: usize = 64 * 1024;

/// Something that a model found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// What to remember.
    pub content: String,
    /// Its kind.
    pub category: MemoryCategory,
    /// 1 to 5, if it said so.
    pub importance: Option<u8>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// As it was written.
    pub expires_at: Option<String>,
}

/// The tier of a kind when none is asked for (spec b.5).
pub fn usual_priority(category: MemoryCategory) -> MemoryPriority {
    match category {
        MemoryCategory::Instruction => MemoryPriority::Critical,
        MemoryCategory::Preference | MemoryCategory::Reminder => MemoryPriority::High,
        // What the daemon makes of other memories is never critical by itself (spec b.13).
        MemoryCategory::Fact | MemoryCategory::Reflection => MemoryPriority::Medium,
        MemoryCategory::General => MemoryPriority::Low,
    }
}

/// The memories in an answer; none when it holds no list at all.
pub fn parse(answer: &str) -> Option<Vec<Extracted>> {
    let answer = answer.get(..agentd_domain::floor_char_boundary(answer, MAX_ANSWER))?;
    let starts = answer.char_indices().filter(|(_at, c)| matches!(c, '[' | '{'));
    let mut best: Option<Vec<Extracted>> = None;
    let mut read_until = 0;
    for (at, _c) in starts {
        if at < read_until {
            continue;
        }
        let Some(rest) = answer.get(at..) else { continue };
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { continue };
        read_until = at + values.byte_offset();
        let Some(list) = list_of(value) else { continue };
        let found: Vec<Extracted> = list.into_iter().filter_map(item).take(MAX_ITEMS).collect();
        if best.as_ref().is_none_or(|best| best.len() < found.len()) {
            best = Some(found);
        }
    }
    best
}

fn list_of(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(mut object) => {
            let named = ["memories", "items", "results", "data"];
            let list = named.iter().find_map(|name| object.remove(*name));
            match list {
                Some(Value::Array(list)) => Some(list),
                Some(_no_list) => None,
                // One memory without a list around it.
                None => object.contains_key("content").then(|| vec![Value::Object(object)]),
            }
        }
        _ => None,
    }
}

fn item(value: Value) -> Option<Extracted> {
    let Value::Object(object) = value else { return None };
    let text = |field: &str| object.get(field).and_then(Value::as_str).map(str::trim);
    let content = text("content").filter(|content| !content.is_empty())?.to_owned();
    let category = text("category").and_then(|name| name.to_lowercase().parse().ok());
    // Only the daemon reflects.
    let category = category.filter(|category| *category != MemoryCategory::Reflection);
    let importance = object.get("importance").and_then(Value::as_u64);
    let tags = match object.get("tags") {
        Some(Value::Array(tags)) => {
            tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(tags)) => tags.split(',').map(|tag| tag.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    Some(Extracted {
        content,
        category: category.unwrap_or_default(),
        importance: importance.map(|it| u8::try_from(it.clamp(1, 5)).unwrap_or(5)),
        tags: tags.into_iter().filter(|tag: &String| !tag.is_empty()).take(3).collect(),
        expires_at: text("expires_at").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contents(answer: &str) -> Option<Vec<String>> {
        Some(parse(answer)?.into_iter().map(|item| item.content).collect())
    }

    #[test]
    fn w0_8_lists_are_found_in_any_dress() {
        let check = |answer: &str, expect: Option<&[&str]>| {
            let expect = expect.map(|it| it.iter().map(ToString::to_string).collect());
            assert_eq!(contents(answer), expect, "{answer}");
        };
        check(r#"[{"content":"a"},{"content":"b"}]"#, Some(&["a", "b"]));
        check("```json\n[{\"content\":\"a\"}]\n```", Some(&["a"]));
        check(r#"Here you are: [{"content":"a","tags":["x","y"]}] as asked [1]."#, Some(&["a"]));
        check(r#"{"memories":[{"content":"a","more":[[{}]]}]}"#, Some(&["a"]));
        check(r#"{"data":[{"content":"a"}]}"#, Some(&["a"]));
        check(r#"{"content":"a"}"#, Some(&["a"]));
        check(r#"[1,"x",null,{"content":" "},{"text":"b"},{"content":"a"}]"#, Some(&["a"]));
        check("[]", Some(&[]));
        check("There is nothing to remember.", None);
        check(r#"[{"content":"a"},{"content":"#, Some(&["a"]));
    }

    #[test]
    fn fields_are_taken_as_far_as_they_make_sense() {
        let answer = r#"[{"content":"Call Bob","category":"Reminder","importance":9,
            "tags":"phone, bob, x, y","expires_at":"2027-01-01T09:00:00Z"},
            {"content":"c","category":"reflection","importance":"high"}]"#;
        let found = parse(answer).unwrap();
        let expect = Extracted {
            content: "Call Bob".to_owned(),
            category: MemoryCategory::Reminder,
            importance: Some(5),
            tags: ["phone", "bob", "x"].map(str::to_owned).to_vec(),
            expires_at: Some("2027-01-01T09:00:00Z".to_owned()),
        };
        assert_eq!(found[0], expect);
        assert_eq!((found[1].category, found[1].importance), (MemoryCategory::General, None));
    }

    proptest! {
        #[test]
        fn any_answer_is_read_within_bounds(answer in r#"[\[\]{}",:a-z世 ]{0,300}"#) {
            prop_assert!(parse(&answer).is_none_or(|found| found.len() <= MAX_ITEMS));
        }
    }
}

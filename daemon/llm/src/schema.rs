//! Schemas of arguments, as providers take them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// A schema of an object, which is all that strict APIs take for the arguments of a tool.
pub(crate) fn object_schema(schema: &Value) -> Cow<'_, Value> {
    if schema.get("type").is_some_and(|kind| kind == "object") {
        return Cow::Borrowed(schema);
    }
    let mut object = schema.as_object().cloned().unwrap_or_else(Map::new);
    object.insert("type".to_owned(), "object".into());
    Cow::Owned(Value::Object(object))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_comes_becomes_the_schema_of_an_object() {
        let whole = json!({"type": "object", "properties": {"a": {}}});
        assert!(matches!(object_schema(&whole), Cow::Borrowed(same) if *same == whole));
        let check = |schema: &Value, expect: &Value| assert_eq!(*object_schema(schema), *expect);
        check(&json!({"properties": {"a": {}}}), &whole);
        check(&json!({"type": "string"}), &json!({"type": "object"}));
        check(&json!(true), &json!({"type": "object"}));
    }
}

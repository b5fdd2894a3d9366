//! JSON Schemas of arguments, as small as the model needs them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The schema of `T`, inlined, without what only validators read. Optional fields say their plain
/// type: that they may be left out is told by `required`.
pub(crate) fn parameters<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        // The tool's own description says it already.
        root.remove("description");
        clean(root);
        root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

fn clean(schema: &mut Map<String, Value>) {
    for noise in ["$schema", "title", "format"] {
        schema.remove(noise);
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        // Line breaks are those of the source.
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(clean);
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        clean(items);
    }
}

/// What a request tells the model of a schema: all but the bounds that every sensible call keeps.
/// Arguments are checked against the whole schema, and the model reads what does not fit.
pub(crate) fn told(schema: &Value) -> Value {
    let mut told = schema.clone();
    leave_out_bounds(&mut told);
    told
}

fn leave_out_bounds(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    for bound in ["minLength", "maxLength", "minItems", "maxItems"] {
        schema.remove(bound);
    }
    if schema.get("default").is_some_and(|value| *value == Value::Bool(false) || *value == 0) {
        schema.remove("default");
    }
    if schema.get("type").is_some_and(|kind| kind == "object") {
        // Words on the type; what the field is for stands with the field.
        schema.remove("description");
    }
    // That a count begins at 0 or 1 needs no telling.
    if schema.get("minimum").and_then(Value::as_u64).is_some_and(|least| least <= 1) {
        schema.remove("minimum");
    }
    // Which fields there are is told by their names.
    schema.remove("additionalProperties");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(leave_out_bounds);
    }
    if let Some(items) = schema.get_mut("items") {
        leave_out_bounds(items);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[schemars(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Sample {
        /// Words called titles.
        title: Vec<String>,
        /// How many
        /// of them.
        limit: Option<u32>,
        /// Which way.
        order: Option<Order>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Order {
        Up,
        Down,
    }

    #[test]
    fn a_schema_holds_nothing_but_what_the_model_needs() {
        assert_eq!(
            parameters::<Sample>(),
            json!({
                "type": "object",
                "properties": {
                    "title": {
                        "description": "Words called titles.",
                        "type": "array",
                        "items": {"type": "string"}
                    },
                    "limit": {
                        "description": "How many of them.", "type": "integer", "minimum": 0
                    },
                    "order": {
                        "description": "Which way.", "type": "string", "enum": ["up", "down"]
                    }
                },
                "required": ["title"],
                "additionalProperties": false
            })
        );
    }

    #[test]
    fn what_is_told_leaves_out_what_is_only_checked() {
        let whole = json!({
            "type": "object",
            "properties": {
                "maxLength": {"type": "string", "minLength": 1, "maxLength": 9},
                "rows": {"type": "integer", "minimum": 1, "maximum": 500},
                "degrees": {"type": "number", "minimum": -90},
                "items": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "properties": {}, "additionalProperties": false
                }}
            },
            "required": ["rows"],
            "additionalProperties": false
        });
        assert_eq!(
            told(&whole),
            json!({
                "type": "object",
                "properties": {
                    "maxLength": {"type": "string"},
                    "rows": {"type": "integer", "maximum": 500},
                    "degrees": {"type": "number", "minimum": -90},
                    "items": {"type": "array", "items": {"type": "object", "properties": {}}}
                },
                "required": ["rows"]
            })
        );
    }
}

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
}

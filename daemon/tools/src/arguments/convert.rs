//! Lossless conversion of a value to a schema.
//!
//! Covers the keywords that schemas of tools use: type, enum, properties, required,
//! additionalProperties, items, and the bounds on numbers, lengths and counts. Others are left to
//! the tool.

use agentd_domain::cut_line;
use serde_json::{Map, Number, Value};

use crate::nearest::{did_you_mean, nearest};

/// How much of a wrong value is shown.
const SHOWN: usize = 60;

/// Below this a whole number written as a float comes out of the parser as that number; nearer to
/// 2^53 the parser may be off by one.
const EXACT_FLOAT: f64 = 1e14;

/// Converts `value` at `path` to `schema`; what cannot be converted is added to `problems`.
pub(super) fn convert(
    schema: &Value,
    value: Value,
    path: &str,
    problems: &mut Vec<String>,
) -> Value {
    let types = types(schema);
    let value = match coerce(&types, value) {
        Ok(value) => value,
        Err(value) => {
            problems.push(format!(
                "{}: expected {}, received {}",
                field(path),
                types.join(" or "),
                describe(&value)
            ));
            return value;
        }
    };
    check_bounds(schema, &value, path, problems);
    match value {
        Value::Object(object) => Value::Object(convert_object(schema, object, path, problems)),
        Value::Array(items) => match schema.get("items") {
            Some(item_schema) => items
                .into_iter()
                .enumerate()
                .map(|(at, item)| convert(item_schema, item, &format!("{path}[{at}]"), problems))
                .collect(),
            None => Value::Array(items),
        },
        value => value,
    }
}

fn convert_object(
    schema: &Value,
    object: Map<String, Value>,
    path: &str,
    problems: &mut Vec<String>,
) -> Map<String, Value> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    let child = |name: &str| {
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    };

    let mut converted = Map::new();
    for (name, value) in object {
        match properties.get(&name) {
            // A field that may be left out and is null was left out.
            Some(property) if value.is_null() && !is_required(&name) && !allows_null(property) => {}
            Some(property) => {
                let value = convert(property, value, &child(&name), problems);
                converted.insert(name, value);
            }
            None if closed => {
                let near = nearest(&name, properties.keys().map(String::as_str), 1);
                problems.push(format!(
                    "{}: there is no such field{}",
                    field(&child(&name)),
                    did_you_mean(&near)
                ));
            }
            None => {
                converted.insert(name, value);
            }
        }
    }
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !converted.contains_key(name) {
            let expected = properties.get(name).map(types).unwrap_or_default().join(" or ");
            problems.push(format!("{}: expected {expected}, received nothing", child(name)));
        }
    }
    converted
}

/// The types that a schema allows; none means all.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn allows_null(schema: &Value) -> bool {
    let types = types(schema);
    types.is_empty() || types.contains(&"null")
}

/// Gives the value in one of `types`, or the same value back when that loses something.
fn coerce(types: &[&str], value: Value) -> Result<Value, Value> {
    if types.is_empty() || types.iter().any(|name| fits(name, &value)) {
        return Ok(value);
    }
    if let (Value::Number(number), true) = (&value, types.contains(&"integer")) {
        return whole(number).ok_or(value);
    }
    // A schema that allows strings had its chance above: strings are never parsed for it.
    let Value::String(text) = &value else { return Err(value) };
    let Ok(inner) = super::json::parse(text) else { return Err(value) };
    if inner.is_string() || inner.is_null() {
        return Err(value);
    }
    if types.iter().any(|name| fits(name, &inner)) {
        return Ok(inner);
    }
    match (&inner, types.contains(&"integer")) {
        (Value::Number(number), true) => whole(number).ok_or(value),
        _ => Err(value),
    }
}

fn fits(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// `10.0` as 10, when the float is that number exactly.
fn whole(number: &Number) -> Option<Value> {
    let float = number.as_f64()?;
    if float.fract() != 0.0 || float.abs() >= EXACT_FLOAT {
        return None;
    }
    format!("{float:.0}").parse::<i64>().ok().map(Value::from)
}

fn check_bounds(schema: &Value, value: &Value, path: &str, problems: &mut Vec<String>) {
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        problems.push(format!(
            "{}: expected one of {}, received {}",
            field(path),
            allowed.join(", "),
            describe(value)
        ));
    }
    let (measured, unit, low, high) = match value {
        Value::Number(number) => (number.as_f64(), "", "minimum", "maximum"),
        Value::String(text) => {
            (count(text.chars().count()), " characters", "minLength", "maxLength")
        }
        Value::Array(items) => (count(items.len()), " items", "minItems", "maxItems"),
        _ => return,
    };
    let Some(measured) = measured else { return };
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(least) = bound(low).filter(|least| measured < *least) {
        problems
            .push(format!("{}: expected at least {least}{unit}, received {measured}", field(path)));
    }
    if let Some(most) = bound(high).filter(|most| measured > *most) {
        problems
            .push(format!("{}: expected at most {most}{unit}, received {measured}", field(path)));
    }
}

fn count(items: usize) -> Option<f64> {
    u32::try_from(items).ok().map(f64::from)
}

fn field(path: &str) -> String {
    if path.is_empty() { "arguments".to_owned() } else { cut_line(path, SHOWN) }
}

/// Type and value, shortened.
pub(super) fn describe(value: &Value) -> String {
    let name = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("{name} {}", cut_line(&value.to_string(), SHOWN))
}

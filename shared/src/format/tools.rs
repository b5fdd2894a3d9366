//! What there is to tell of tools.

use agentd_proto::v1;
use serde_json::Value;

use super::Role;
use super::facts::Fact;
use super::names::tool_effect;
use crate::text::one_line;

/// Columns of a name, of other names, of a line, and of a description.
const NAME: usize = 64;
const ALIASES: usize = 200;
const LINE: usize = 500;
const DESCRIPTION: usize = 1_000;

/// What a call may do, in a word or two.
pub fn effect(tool: &v1::Tool) -> &'static str {
    tool_effect(tool.capabilities.unwrap_or_default().effect())
}

/// What it does, or what it lacks. It is foreign.
pub fn about(tool: &v1::Tool) -> String {
    if tool.missing.is_empty() {
        tool.description.clone()
    } else {
        format!("missing: {}", tool.missing)
    }
}

/// One tool with what it takes: its name, then a line each. All are inert.
pub fn one(tool: &v1::Tool) -> Vec<Fact> {
    let mut facts = vec![Fact::unlabelled(Role::Heading, one_line(&tool.name, NAME))];
    if !tool.missing.is_empty() {
        facts.push(Fact::unlabelled(Role::Warn, one_line(&about(tool), LINE)));
    }
    if !tool.description.is_empty() {
        let text = one_line(&tool.description, DESCRIPTION);
        facts.push(Fact::unlabelled(Role::Plain, text));
    }
    facts.extend(what_calls_do(tool));
    facts.extend(other_names(tool));
    facts.extend(parameters(&tool.parameters_json));
    facts
}

/// What calls of it do, and how they go together with others.
pub fn what_calls_do(tool: &v1::Tool) -> Option<Fact> {
    let capabilities = tool.capabilities.as_ref()?;
    let mut about = vec![effect(tool)];
    about.extend(capabilities.parallel_safe.then_some("beside other calls"));
    about.extend(capabilities.cacheable.then_some("equal calls of a turn once"));
    Some(Fact::unlabelled(Role::Dim, about.join(", ")))
}

/// Other names that models may use for it.
pub fn other_names(tool: &v1::Tool) -> Option<Fact> {
    let names = one_line(&tool.aliases.join(", "), ALIASES);
    (!names.is_empty()).then(|| Fact::unlabelled(Role::Dim, format!("also known as {names}")))
}

/// What it takes, a line each. A schema that is no JSON has none.
fn parameters(schema: &str) -> Vec<Fact> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let known = schema.get("properties").and_then(Value::as_object);
    let line = |(name, parameter): (&String, &Value)| {
        let must = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let about = parameter.get("description").and_then(Value::as_str).unwrap_or_default();
        let line = format!("{name} ({}{must}) {about}", kind(parameter));
        Fact::unlabelled(Role::Plain, one_line(&line, LINE))
    };
    known.into_iter().flatten().map(line).collect()
}

/// The type of a parameter, in words.
fn kind(parameter: &Value) -> String {
    match parameter.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => {
            let names = several.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.collect::<Vec<_>>().join(" or ")
        }
        _ if parameter.get("enum").is_some() => "choice".to_owned(),
        _ => "value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_told_with_what_it_lacks_and_takes() {
        let tool = v1::Tool {
            name: "write_file".into(),
            description: "Makes a\u{1b} file.".into(),
            parameters_json: r#"{"type":"object","required":["path"],"properties":{
                "overwrite":{"type":"boolean","description":"Replace it."},
                "how":{"enum":["a","b"]},
                "path":{"type":["string","null"],"description":"Where."}}}"#
                .into(),
            capabilities: Some(v1::ToolCapabilities {
                effect: v1::ToolEffect::WorkspaceWrite.into(),
                cacheable: true,
                ..v1::ToolCapabilities::default()
            }),
            aliases: vec!["writeFile".into()],
            missing: "a disk".into(),
        };
        let told: Vec<String> = one(&tool).into_iter().map(|fact| fact.text).collect();
        assert_eq!(
            told,
            [
                "write_file",
                "missing: a disk",
                "Makes a\\u{1b} file.",
                "writes, equal calls of a turn once",
                "also known as writeFile",
                "how (choice, optional)",
                "overwrite (boolean, optional) Replace it.",
                "path (string) Where.",
            ]
        );
        assert_eq!(about(&tool), "missing: a disk");
        assert_eq!(one(&v1::Tool { name: "x".into(), ..v1::Tool::default() }).len(), 1);
    }
}

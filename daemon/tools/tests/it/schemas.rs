//! What the model is told of the tools. A change here changes every request's prefix.

use agentd_domain::ToolEffect;
use agentd_tools::Registry;
use serde_json::json;

use crate::harness::Place;

#[test]
fn the_schemas_are_stable() {
    let specs = Registry::builtin().specs();
    let told: Vec<_> = specs
        .iter()
        .map(|spec| (spec.name.as_str(), spec.capabilities.effect, &spec.parameters))
        .collect();
    assert_eq!(
        told,
        [
            (
                "calculator",
                ToolEffect::Pure,
                &json!({
                    "type": "object",
                    "properties": {"expression": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 1000,
                        "description": "For example `3 * (2 + 4)`, `15% of 240`, `2^64`, \
                                        `5 miles to km`, `sqrt(2)`."
                    }},
                    "required": ["expression"],
                    "additionalProperties": false
                })
            ),
            (
                "list_dir",
                ToolEffect::WorkspaceRead,
                &json!({
                    "type": "object",
                    "properties": {"path": {
                        "type": "string",
                        "description": "Path of the directory, relative to the workspace; left \
                                        out: the workspace itself."
                    }},
                    "additionalProperties": false
                })
            ),
            (
                "read_file",
                ToolEffect::WorkspaceRead,
                &json!({
                    "type": "object",
                    "properties": {
                        "path": {
                            "type": "string",
                            "description": "Path of the file, relative to the workspace."
                        },
                        "offset": {
                            "type": "integer",
                            "minimum": 1,
                            "description": "First line to show, counted from 1; left out: 1."
                        },
                        "limit": {
                            "type": "integer",
                            "minimum": 1,
                            "description": "Most lines to show; left out: 2000."
                        }
                    },
                    "required": ["path"],
                    "additionalProperties": false
                })
            ),
            (
                "text_length",
                ToolEffect::Pure,
                &json!({
                    "type": "object",
                    "properties": {"text": {
                        "type": "string",
                        "description": "The text to measure, exactly as it is."
                    }},
                    "required": ["text"],
                    "additionalProperties": false
                })
            ),
            (
                "time",
                ToolEffect::Pure,
                &json!({
                    "type": "object",
                    "properties": {"timezone": {
                        "type": "string",
                        "description": "IANA name of a time zone such as `Europe/Berlin`; left \
                                        out: the zone of the machine."
                    }},
                    "additionalProperties": false
                })
            ),
        ]
    );
    for spec in &specs {
        assert!(!spec.description.is_empty());
        assert_eq!(
            spec.description,
            spec.description.split_whitespace().collect::<Vec<_>>().join(" ")
        );
    }
}

#[tokio::test]
async fn each_tool_answers_through_the_registry() {
    let place = Place::new();
    let check = async |tool: &str, arguments, expect: &str| {
        let result = place.call(tool, arguments).await;
        assert!(result.output.contains(expect), "{tool}: {result:?}");
    };
    check("calculator", json!({"expression": "6 * 7"}), "42").await;
    check("text_length", json!({"text": "世界"}), "graphemes: 2").await;
    check("time", json!({"timezone": "Asia/Tokyo"}), "Asia/Tokyo: 2026-01-02 12:04:05").await;
    check("time", json!({}), "UTC: 2026-01-02 03:04:05").await;
    check("time", json!({"timezone": "Tokyo"}), "did you mean 'Asia/Tokyo'").await;
}

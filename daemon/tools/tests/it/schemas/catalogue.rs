//! The two tools that lead to the others.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "call_tool",
            ToolEffect::Exclusive,
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "As find_tools gave it."},
                    "arguments": {
                        "type": "object",
                        "additionalProperties": true,
                        "description": "Arguments of that tool."
                    }
                },
                "required": ["name"],
                "additionalProperties": false
            }),
        ),
        (
            "find_tools",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {"query": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 200,
                    "description": "What it should do, in a few English words."
                }},
                "required": ["query"],
                "additionalProperties": false
            }),
        ),
    ]
}

//! Tools for planning.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![(
        "manage_todo_list",
        ToolEffect::Pure,
        json!({
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "items": {
                    "type": "array",
                    "maxItems": 100,
                    "description": "In order; empty clears it.",
                    "items": {
                        "type": "object",
                        "description": "One thing to do.",
                        "properties": {
                            "label": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": 500
                            },
                            "status": {
                                "type": "string",
                                "enum": ["pending", "running", "completed"],
                                "description": "Left out: pending. One at most runs."
                            }
                        },
                        "required": ["label"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["items"],
            "additionalProperties": false
        }),
    )]
}

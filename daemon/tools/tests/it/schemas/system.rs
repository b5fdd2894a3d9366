//! Tools that tell about the machine.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "query_packages",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {
                    "source": {
                        "type": "string",
                        "enum": ["system", "python", "npm", "cargo"],
                        "description": "Left out: all that are there."
                    },
                    "name": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 100,
                        "description": "Only names that hold this."
                    }
                },
                "additionalProperties": false
            }),
        ),
        (
            "time",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {"timezone": {
                    "type": "string",
                    "description": "Such as `Europe/Berlin`; left out: the machine's."
                }},
                "additionalProperties": false
            }),
        ),
        (
            "os_info",
            ToolEffect::Pure,
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ),
    ]
}

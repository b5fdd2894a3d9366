//! Tools that tell about the machine.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
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

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
                    "description": "IANA name of a time zone such as `Europe/Berlin`; left \
                                    out: the zone of the machine."
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

//! Tools with which a model remembers.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![(
        "manage_memory",
        ToolEffect::Pure,
        json!({
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["add", "search", "list", "update", "forget"]
                },
                "content": {
                    "type": "string",
                    "maxLength": 2000,
                    "description": "One statement that makes sense alone. For add and update."
                },
                "id": {"type": "string", "description": "For update and forget."},
                "query": {"type": "string", "description": "For search."},
                "category": {
                    "type": "string",
                    "enum": ["instruction", "preference", "fact", "reminder", "general"]
                },
                "priority": {"type": "string", "enum": ["critical", "high", "medium", "low"]},
                "importance": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 5,
                    "description": "1 trivial to 5 vital."
                },
                "tags": {"type": "array", "maxItems": 16, "items": {"type": "string"}},
                "here": {"type": "boolean", "description": "Only for this workspace."},
                "until": {
                    "type": "string",
                    "description": "When it ends or, for a reminder, is due: 2027-01-31T09:00:00Z"
                }
            },
            "required": ["action"],
            "additionalProperties": false
        }),
    )]
}

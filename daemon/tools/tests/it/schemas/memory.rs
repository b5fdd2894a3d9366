//! Tools with which a model remembers.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        history_query(),
        (
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
        ),
        (
            "recall_output",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {
                    "call_id": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 64,
                        "description": "As the note says that stands in place of the output."
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "First character, from 0."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 30000,
                        "description": "Most characters; left out: 16000."
                    },
                    "pattern": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 200,
                        "description": "Only lines with this text, and those around them."
                    }
                },
                "required": ["call_id"],
                "additionalProperties": false
            }),
        ),
    ]
}

fn history_query() -> Told {
    let parameters = json!({
        "type": "object",
        "properties": {
            "question": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1000,
                "description": "What to look for, in words that may have been said."
            },
            "session": {
                "type": "string",
                "enum": ["this", "all"],
                "description": "Left out: all."
            },
            "since": {
                "type": "string",
                "description": "Only what was said since: 7d, or 2026-11-30 in UTC."
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 20,
                "description": "Most messages; left out: 8."
            }
        },
        "required": ["question"],
        "additionalProperties": false
    });
    ("history_query", ToolEffect::Pure, parameters)
}

//! Tools that talk to people.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "ask_user",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string", "minLength": 1, "maxLength": 2_000},
                    "options": {
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": 10,
                        "description": "Answers to choose from; left out: any text."
                    },
                    "default": {
                        "type": "string",
                        "maxLength": 200,
                        "description": "The answer taken when nobody gives one."
                    },
                    "timeout_s": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 86_400,
                        "description": "Longest wait; left out: 600."
                    }
                },
                "required": ["question"],
                "additionalProperties": false
            }),
        ),
        (
            "notify",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {
                    "message": {"type": "string", "minLength": 1, "maxLength": 500},
                    "title": {"type": "string", "maxLength": 100},
                    "urgency": {
                        "type": "string",
                        "enum": ["low", "normal", "critical"],
                        "description": "Left out: normal."
                    }
                },
                "required": ["message"],
                "additionalProperties": false
            }),
        ),
    ]
}

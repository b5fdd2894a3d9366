//! Tools that read from the network.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "fetch_url",
            ToolEffect::NetworkRead,
            json!({
                "type": "object",
                "properties": {
                    "url": {
                        "type": "string",
                        "minLength": 1,
                        "description": "URL of http or https."
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "First character, from 1."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 100,
                        "maximum": 20000,
                        "description": "Most characters; left out: 12000."
                    }
                },
                "required": ["url"],
                "additionalProperties": false
            }),
        ),
        (
            "search_web",
            ToolEffect::NetworkRead,
            json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 500,
                        "description": "Words to search for."
                    },
                    "max_results": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 10,
                        "description": "Left out: 5."
                    }
                },
                "required": ["query"],
                "additionalProperties": false
            }),
        ),
    ]
}

//! Tools that read from the network.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "ip_location",
            ToolEffect::NetworkRead,
            json!({
                "type": "object",
                "properties": {"address": {
                    "type": "string",
                    "description": "A public IPv4 or IPv6 address; left out: this machine's own."
                }},
                "additionalProperties": false
            }),
        ),
        (
            "weather",
            ToolEffect::NetworkRead,
            json!({
                "type": "object",
                "properties": {
                    "place": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 100,
                        "description": "Name of a town or village."
                    },
                    "latitude": {
                        "type": "number",
                        "minimum": -90,
                        "maximum": 90,
                        "description": "Instead of place, with longitude: degrees north."
                    },
                    "longitude": {
                        "type": "number",
                        "minimum": -180,
                        "maximum": 180,
                        "description": "Degrees east."
                    },
                    "days": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 7,
                        "description": "Days of the forecast; left out: 3."
                    }
                },
                "additionalProperties": false
            }),
        ),
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
                        "maxLength": 500
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

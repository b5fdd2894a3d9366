//! Tools that compute.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "calculator",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {"expression": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 1000,
                    "description": "For example `3 * (2 + 4)`, `15% of 240`, `2^64`, \
                                    `5 miles to km`, `sqrt(2)`."
                }},
                "required": ["expression"],
                "additionalProperties": false
            }),
        ),
        (
            "lunar_date",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {
                    "date": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 40,
                        "description": "Such as `2026-02-17`; a lunar date in the same form, with \
                                        `,L` after it in a leap month. Left out: today."
                    },
                    "is_lunar": {
                        "type": "boolean",
                        "default": false,
                        "description": "True: date is a lunar one."
                    }
                },
                "additionalProperties": false
            }),
        ),
        (
            "text_length",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {"text": {
                    "type": "string",
                    "description": "The text to measure, exactly as it is."
                }},
                "required": ["text"],
                "additionalProperties": false
            }),
        ),
        (
            "date_math",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {
                    "operation": {
                        "type": "string",
                        "enum": ["difference", "add", "describe"],
                        "description": "`difference` from `date` to `to`, `add` `span` to `date`, or \
                                        `describe` `date`: weekday, ISO week, day of the year, Unix time."
                    },
                    "date": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 100,
                        "description": "`2026-01-31`, `2026-01-31T10:00`, `2026-01-31T10:00:00+02:00`, \
                                        `@1767323045` (Unix time), `today` or `now`."
                    },
                    "to": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 100,
                        "description": "For difference: the other date; left out: today."
                    },
                    "span": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 100,
                        "description": "For add: `3 months 2 days`, `-90 minutes` or `P1Y2M`."
                    },
                    "timezone": {
                        "type": "string",
                        "description": "IANA name of the zone of times that name none; left out: the zone \
                                        of the machine."
                    },
                    "show_in": {
                        "type": "string",
                        "description": "IANA name of a zone in which the result is told too."
                    }
                },
                "required": ["operation", "date"],
                "additionalProperties": false
            }),
        ),
    ]
}

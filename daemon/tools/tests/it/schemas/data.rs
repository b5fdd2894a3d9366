//! Tools that look into files that are not text.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "hash_file",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "Path of the file, relative to the workspace."
                    },
                    "algorithm": {
                        "type": "string",
                        "enum": ["sha256", "sha512", "sha1", "md5"],
                        "description": "Left out: sha256."
                    },
                    "expected": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 200,
                        "description": "A sum in hex that the file should have."
                    }
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        ),
        (
            "view_image",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {"path": {
                    "type": "string",
                    "description": "Path of the image, relative to the workspace."
                }},
                "required": ["path"],
                "additionalProperties": false
            }),
        ),
        (
            "list_archive",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "Path of the archive, relative to the workspace."
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "First entry to show, counted from 1; left out: 1."
                    }
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        ),
        (
            "query_sqlite",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "Path of the database, relative to the workspace."
                    },
                    "sql": {
                        "type": "string",
                        "maxLength": 10_000,
                        "description": "One statement that reads. Left out: the schema is shown."
                    },
                    "params": {
                        "type": "array",
                        "items": { "type": ["string", "number", "boolean"] },
                        "maxItems": 100,
                        "description": "Values for ? in it."
                    },
                    "max_rows": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 200,
                        "description": "Most rows to give; left out: 100."
                    }
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        ),
    ]
}

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
    ]
}

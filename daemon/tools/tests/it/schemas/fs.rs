//! Tools on files.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "list_dir",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {"path": {
                    "type": "string",
                    "description": "Path of the directory, relative to the workspace; left \
                                    out: the workspace itself."
                }},
                "additionalProperties": false
            }),
        ),
        (
            "read_file",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "Path of the file, relative to the workspace."
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "First line to show, counted from 1; left out: 1."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Most lines to show; left out: 2000."
                    }
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        ),
    ]
}

//! Tools on files.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        (
            "apply_patch",
            ToolEffect::WorkspaceWrite,
            json!({
                "type": "object",
                "properties": {"patch": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Unified diff of one or more files; /dev/null makes or removes \
                                    one."
                }},
                "required": ["patch"],
                "additionalProperties": false
            }),
        ),
        (
            "edit_file",
            ToolEffect::WorkspaceWrite,
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "Relative to the workspace; read it before."
                    },
                    "edits": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": 100,
                        "description": "One after the other, all or none.",
                        "items": {
                            "type": "object",
                            "description": "One replacement.",
                            "properties": {
                                "old": {
                                    "type": "string",
                                    "description": "The exact text, which is there only once."
                                },
                                "new": {
                                    "type": "string"
                                },
                                "replace_all": json!({"type": "boolean", "default": false})
                            },
                            "required": ["old", "new"],
                            "additionalProperties": false
                        }
                    }
                },
                "required": ["path", "edits"],
                "additionalProperties": false
            }),
        ),
        (
            "glob_files",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {
                    "pattern": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 1000,
                        "description": "Such as `src/**/*.rs`; without a '/' it fits names at any depth."
                    },
                    "path": {
                        "type": "string",
                        "description": "Where to begin; left out: the workspace."
                    },
                    "include_hidden": json!({"type": "boolean", "default": false}),
                    "include_ignored": flag("What .gitignore names too.")
                },
                "required": ["pattern"],
                "additionalProperties": false
            }),
        ),
        (
            "grep_files",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {
                    "pattern": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 10000,
                        "description": "Regular expression (Rust syntax) for a line."
                    },
                    "path": {
                        "type": "string",
                        "description": "File or directory; left out: the workspace."
                    },
                    "glob": {
                        "type": "string",
                        "maxLength": 1000,
                        "description": "Such as `*.rs` or `!*.min.js`."
                    },
                    "type": {
                        "type": "string",
                        "description": "Such as rust or py."
                    },
                    "mode": {
                        "type": "string",
                        "enum": ["content", "files", "count"],
                        "description": "Left out: content, the lines."
                    },
                    "context": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 20,
                        "default": 0
                    },
                    "ignore_case": json!({"type": "boolean", "default": false}),
                    "literal": flag("It is plain text."),
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 1000,
                        "description": "Left out: 100."
                    },
                    "include_hidden": json!({"type": "boolean", "default": false}),
                    "include_ignored": flag("What .gitignore names too.")
                },
                "required": ["pattern"],
                "additionalProperties": false
            }),
        ),
        (
            "list_dir",
            ToolEffect::WorkspaceRead,
            json!({
                "type": "object",
                "properties": {"path": {
                    "type": "string",
                    "description": "Left out: the workspace."
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
                        "description": "Relative to the workspace."
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "First line, from 1."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Most lines; left out: 2000."
                    }
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        ),
        (
            "undo_edit",
            ToolEffect::WorkspaceWrite,
            json!({
                "type": "object",
                "properties": {
                    "change": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Its number; without it the last."
                    }
                },
                "additionalProperties": false
            }),
        ),
        (
            "write_file",
            ToolEffect::WorkspaceWrite,
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "Relative to the workspace."
                    },
                    "content": {
                        "type": "string"
                    },
                    "overwrite": flag("Replace a file that exists and was read before."),
                    "expected_sha256": {
                        "type": "string",
                        "minLength": 64,
                        "maxLength": 64,
                        "description": "Of the file to replace, instead of reading it."
                    }
                },
                "required": ["path", "content"],
                "additionalProperties": false
            }),
        ),
    ]
}

fn flag(description: &str) -> serde_json::Value {
    json!({"type": "boolean", "default": false, "description": description})
}

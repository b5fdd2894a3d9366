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
                        "description": "Path of the file, relative to the workspace. It must have \
                                        been read before."
                    },
                    "edits": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": 100,
                        "description": "Carried out one after the other; all of them or none.",
                        "items": {
                            "type": "object",
                            "description": "One replacement.",
                            "properties": {
                                "old": {
                                    "type": "string",
                                    "description": "The text to replace, exactly as it is in the \
                                                    file and there only once."
                                },
                                "new": {
                                    "type": "string",
                                    "description": "What takes its place."
                                },
                                "replace_all": flag("Replace it wherever it is.")
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
                        "description": "For example `src/**/*.rs`; without a '/' it fits \
                                        names at any depth."
                    },
                    "path": {
                        "type": "string",
                        "description": "Directory to begin in; left out: the workspace."
                    },
                    "include_hidden": flag("Hidden files too."),
                    "include_ignored": flag("Files too that .gitignore names.")
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
                        "description": "Regular expression (Rust syntax), held against one \
                                        line at a time."
                    },
                    "path": {
                        "type": "string",
                        "description": "File or directory to search; left out: the workspace."
                    },
                    "glob": {
                        "type": "string",
                        "maxLength": 1000,
                        "description": "Only files that fit, such as `*.rs`, `src/**/*.ts` or \
                                        `!*.min.js`."
                    },
                    "type": {
                        "type": "string",
                        "description": "Only files of a type such as rust, py or js."
                    },
                    "mode": {
                        "type": "string",
                        "enum": ["content", "files", "count"],
                        "description": "What to show: lines, names of files, or counts; left \
                                        out: content."
                    },
                    "context": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 20,
                        "default": 0,
                        "description": "Lines around each match; left out: 0."
                    },
                    "ignore_case": flag("Upper and lower case are the same."),
                    "literal": flag("The pattern is plain text."),
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 1000,
                        "description": "Most lines or files to show; left out: 100."
                    },
                    "include_hidden": flag("Hidden files too."),
                    "include_ignored": flag("Files too that .gitignore names.")
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
        (
            "undo_edit",
            ToolEffect::WorkspaceWrite,
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ),
        (
            "write_file",
            ToolEffect::WorkspaceWrite,
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "Path of the file, relative to the workspace. Missing \
                                        directories are made."
                    },
                    "content": {
                        "type": "string",
                        "description": "All that the file will hold."
                    },
                    "overwrite": flag("Replace a file that exists; it must have been read before."),
                    "expected_sha256": {
                        "type": "string",
                        "minLength": 64,
                        "maxLength": 64,
                        "description": "SHA-256 in hex that the file to be replaced has; then it \
                                        need not have been read."
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

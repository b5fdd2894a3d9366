//! Tools for planning.

use agentd_domain::ToolEffect;
use serde_json::json;

use super::Told;

pub(super) fn told() -> Vec<Told> {
    vec![
        manage_goals(),
        manage_plan(),
        (
            "manage_todo_list",
            ToolEffect::Pure,
            json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "items": {
                        "type": "array",
                        "maxItems": 100,
                        "description": "In order; empty clears it.",
                        "items": {
                            "type": "object",
                            "description": "One thing to do.",
                            "properties": {
                                "label": {
                                    "type": "string",
                                    "minLength": 1,
                                    "maxLength": 500
                                },
                                "status": {
                                    "type": "string",
                                    "enum": ["pending", "running", "completed"],
                                    "description": "Left out: pending. One at most runs."
                                }
                            },
                            "required": ["label"],
                            "additionalProperties": false
                        }
                    }
                },
                "required": ["items"],
                "additionalProperties": false
            }),
        ),
    ]
}

fn manage_goals() -> Told {
    let parameters = json!({
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": ["add", "done", "drop", "list", "check"],
                "description": "done: it is reached. drop: it no longer matters. check: what is open \
                                or unfinished, and what comes next."
            },
            "content": {
                "type": "string",
                "description": "For add: what to reach, at most 2000 characters."
            },
            "priority": {
                "type": "integer",
                "minimum": 1,
                "maximum": 3,
                "description": "For add: 1 comes first, 3 last; left out: 2."
            },
            "id": {
                "type": "string",
                "description": "For done and drop; for list: only this goal, whole."
            }
        },
        "required": ["action"],
        "additionalProperties": false
    });
    ("manage_goals", ToolEffect::Pure, parameters)
}

fn manage_plan() -> Told {
    let verify = json!({
        "type": "object",
        "description": "The call that proves it, made after it begins.",
        "properties": {
            "tool": {"type": "string", "description": "Such as check_project."},
            "text": {
                "type": "string",
                "description": "What its arguments hold, such as 'cargo test'."
            }
        },
        "required": ["tool"],
        "additionalProperties": false
    });
    let step = json!({
        "type": "object",
        "description": "One step.",
        "properties": {
            "id": {"type": "string", "minLength": 1, "maxLength": 32},
            "objective": {"type": "string", "minLength": 1, "maxLength": 500},
            "needs": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids of steps that come before."
            },
            "verify": verify
        },
        "required": ["id", "objective", "verify"],
        "additionalProperties": false
    });
    let parameters = json!({
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": ["create", "begin", "done", "fail", "replan", "show", "drop"],
                "description": "replan gives new steps for all that are not done."
            },
            "goal": {"type": "string", "description": "For create."},
            "steps": {
                "type": "array",
                "minItems": 1,
                "maxItems": 6,
                "description": "For create and replan.",
                "items": step
            },
            "step": {"type": "string", "description": "Id, for begin, done and fail."},
            "why": {"type": "string", "description": "For fail and replan."}
        },
        "required": ["action"],
        "additionalProperties": false
    });
    ("manage_plan", ToolEffect::Pure, parameters)
}

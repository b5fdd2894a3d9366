//! Views of tools, of calls by hand and of what was changed.

use agentd_proto::v1;
use serde::Serialize;
use serde_json::Value;

use super::tool::{ActionView, CallFinishedView};

/// A tool.
#[derive(Debug, Serialize)]
pub(crate) struct ToolView<'a> {
    name: &'a str,
    description: &'a str,
    /// The schema itself, not its text.
    parameters: Value,
    capabilities: Option<CapabilitiesView>,
    aliases: &'a [String],
    missing: &'a str,
}

impl<'a> From<&'a v1::Tool> for ToolView<'a> {
    fn from(tool: &'a v1::Tool) -> Self {
        let v1::Tool { name, description, parameters_json, capabilities, aliases, missing } = tool;
        Self {
            name,
            description,
            parameters: serde_json::from_str(parameters_json).unwrap_or_default(),
            capabilities: capabilities.as_ref().map(CapabilitiesView::from),
            aliases,
            missing,
        }
    }
}

#[derive(Debug, Serialize)]
struct CapabilitiesView {
    effect: String,
    parallel_safe: bool,
    cacheable: bool,
    retry_same_args: bool,
    observes_workspace: bool,
}

impl From<&v1::ToolCapabilities> for CapabilitiesView {
    fn from(capabilities: &v1::ToolCapabilities) -> Self {
        let v1::ToolCapabilities {
            effect,
            parallel_safe,
            cacheable,
            retry_same_args,
            observes_workspace,
        } = *capabilities;
        Self {
            effect: super::tool_effect(effect),
            parallel_safe,
            cacheable,
            retry_same_args,
            observes_workspace,
        }
    }
}

/// A step of a call by hand.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum StepView<'a> {
    /// What it will do.
    Planned {
        /// Name of the tool.
        tool: &'a str,
        /// Arguments as JSON text.
        arguments_json: &'a str,
        /// What the tool may do.
        effect: String,
        /// What the call will do.
        action: Option<ActionView<'a>>,
        /// Whether it may.
        permission: String,
        /// Why.
        because: &'a str,
        /// Names the plan.
        fingerprint: &'a str,
    },
    /// What it shows.
    Output {
        /// A piece of it.
        text: &'a str,
    },
    /// Its result.
    Finished(CallFinishedView<'a>),
}

impl<'a> From<&'a v1::PlannedCall> for StepView<'a> {
    fn from(planned: &'a v1::PlannedCall) -> Self {
        let v1::PlannedCall {
            tool,
            arguments_json,
            effect,
            action,
            permission,
            because,
            fingerprint,
        } = planned;
        Self::Planned {
            tool,
            arguments_json,
            effect: super::tool_effect(*effect),
            action: action.as_ref().map(ActionView::from),
            permission: super::call_permission(*permission),
            because,
            fingerprint,
        }
    }
}

impl<'a> From<&'a v1::ToolCallFinished> for StepView<'a> {
    fn from(finished: &'a v1::ToolCallFinished) -> Self {
        Self::Finished(CallFinishedView::from(finished))
    }
}

/// What was changed.
#[derive(Debug, Serialize)]
pub(crate) struct ChangesView<'a> {
    files: Vec<FileDiffView<'a>>,
    changes: Vec<FileChangeView<'a>>,
}

impl<'a> From<&'a v1::ListChangesResponse> for ChangesView<'a> {
    fn from(changes: &'a v1::ListChangesResponse) -> Self {
        let v1::ListChangesResponse { files, changes } = changes;
        Self {
            files: files.iter().map(FileDiffView::from).collect(),
            changes: changes.iter().map(FileChangeView::from).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct FileDiffView<'a> {
    path: &'a str,
    diff: &'a str,
    problem: &'a str,
    changed_by_others: bool,
}

impl<'a> From<&'a v1::FileDiff> for FileDiffView<'a> {
    fn from(file: &'a v1::FileDiff) -> Self {
        let v1::FileDiff { path, diff, problem, changed_by_others } = file;
        Self { path, diff, problem, changed_by_others: *changed_by_others }
    }
}

#[derive(Debug, Serialize)]
struct FileChangeView<'a> {
    number: u64,
    paths: &'a [String],
}

impl<'a> From<&'a v1::FileChange> for FileChangeView<'a> {
    fn from(change: &'a v1::FileChange) -> Self {
        let v1::FileChange { number, paths } = change;
        Self { number: *number, paths }
    }
}

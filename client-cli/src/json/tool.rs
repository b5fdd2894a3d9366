//! Views of tool calls.

use agentd_proto::v1;
use agentd_proto::v1::action_target::Target;
use serde::Serialize;

/// A tool is about to run.
#[derive(Debug, Serialize)]
pub(super) struct CallStartedView<'a> {
    call_id: &'a str,
    name: &'a str,
    arguments_json: &'a str,
    effect: String,
    action: Option<ActionView<'a>>,
}

impl<'a> From<&'a v1::ToolCallStarted> for CallStartedView<'a> {
    fn from(started: &'a v1::ToolCallStarted) -> Self {
        let v1::ToolCallStarted { call_id, name, arguments_json, effect, action } = started;
        Self {
            call_id,
            name,
            arguments_json,
            effect: super::tool_effect(*effect),
            action: action.as_ref().map(ActionView::from),
        }
    }
}

/// What a call will do.
#[derive(Debug, Serialize)]
pub(crate) struct ActionView<'a> {
    summary: &'a str,
    targets: Vec<TargetView<'a>>,
}

impl<'a> From<&'a v1::Action> for ActionView<'a> {
    fn from(action: &'a v1::Action) -> Self {
        let v1::Action { summary, targets } = action;
        let targets = targets.iter().filter_map(|target| target.target.as_ref());
        Self { summary, targets: targets.map(TargetView::from).collect() }
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum TargetView<'a> {
    Read { path: &'a str },
    Write { path: &'a str, base_sha256: &'a str, new_sha256: &'a str, diff: &'a str },
    Run { argv: &'a [String], cwd: &'a str, confinement: Option<ConfinementView<'a>> },
    Request { method: &'a str, url: &'a str, host: &'a str },
}

impl<'a> From<&'a Target> for TargetView<'a> {
    fn from(target: &'a Target) -> Self {
        match target {
            Target::Read(v1::ReadTarget { path }) => Self::Read { path },
            Target::Write(v1::WriteTarget { path, base_sha256, new_sha256, diff }) => {
                Self::Write { path, base_sha256, new_sha256, diff }
            }
            Target::Run(v1::RunTarget { argv, cwd, confinement }) => {
                let confinement = confinement.as_ref().map(ConfinementView::from);
                Self::Run { argv, cwd, confinement }
            }
            Target::Request(v1::RequestTarget { method, url, host }) => {
                Self::Request { method, url, host }
            }
        }
    }
}

#[derive(Debug, Serialize)]
struct ConfinementView<'a> {
    backend: &'a str,
    writes: bool,
    network: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    hosts: &'a [String],
}

impl<'a> From<&'a v1::Confinement> for ConfinementView<'a> {
    fn from(confinement: &'a v1::Confinement) -> Self {
        let v1::Confinement { backend, writes, network, hosts } = confinement;
        Self { backend, writes: *writes, network: *network, hosts }
    }
}

/// The result of a call.
#[derive(Debug, Serialize)]
pub(crate) struct CallFinishedView<'a> {
    call_id: &'a str,
    name: &'a str,
    status: String,
    output: &'a str,
    error_code: &'a str,
    output_bytes: u64,
    elapsed_ms: u64,
    diff: &'a str,
    exit_code: Option<i32>,
    evidence: Vec<EvidenceView<'a>>,
    workspace_changed: bool,
    metrics: Option<MetricsView>,
}

impl<'a> From<&'a v1::ToolCallFinished> for CallFinishedView<'a> {
    fn from(finished: &'a v1::ToolCallFinished) -> Self {
        let v1::ToolCallFinished {
            call_id,
            name,
            status,
            output,
            error_code,
            output_bytes,
            elapsed_ms,
            diff,
            exit_code,
            evidence,
            workspace_changed,
            metrics,
        } = finished;
        Self {
            call_id,
            name,
            status: super::tool_status(*status),
            output,
            error_code,
            output_bytes: *output_bytes,
            elapsed_ms: *elapsed_ms,
            diff,
            exit_code: *exit_code,
            evidence: evidence.iter().map(EvidenceView::from).collect(),
            workspace_changed: *workspace_changed,
            metrics: metrics.as_ref().map(MetricsView::from),
        }
    }
}

#[derive(Debug, Serialize)]
struct EvidenceView<'a> {
    uri: &'a str,
    title: &'a str,
    excerpt: &'a str,
}

impl<'a> From<&'a v1::Evidence> for EvidenceView<'a> {
    fn from(evidence: &'a v1::Evidence) -> Self {
        let v1::Evidence { uri, title, excerpt } = evidence;
        Self { uri, title, excerpt }
    }
}

#[derive(Debug, Serialize)]
struct MetricsView {
    source: String,
    attempts: u32,
    waited_ms: u64,
    batch_size: u32,
    parallel_width: u32,
}

impl From<&v1::CallMetrics> for MetricsView {
    fn from(metrics: &v1::CallMetrics) -> Self {
        let v1::CallMetrics { source, attempts, waited_ms, batch_size, parallel_width } = *metrics;
        let source = super::result_source(source);
        Self { source, attempts, waited_ms, batch_size, parallel_width }
    }
}

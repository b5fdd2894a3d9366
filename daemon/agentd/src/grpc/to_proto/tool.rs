//! Tool calls: what they will do, how they were run, what they gave.

use agentd_domain::{
    Action, ActionTarget, CallMetrics, Capabilities, Confinement, Evidence, ResultSource,
    ToolCallFinished, ToolCallStarted, ToolEffect, ToolSpec, ToolStatus,
};
use agentd_proto::v1;
use agentd_proto::v1::action_target::Target;

pub(super) fn started(started: &ToolCallStarted) -> v1::ToolCallStarted {
    let ToolCallStarted { call_id, name, arguments_json, effect, action: what } = started;
    v1::ToolCallStarted {
        call_id: call_id.to_string(),
        name: name.clone(),
        arguments_json: arguments_json.clone(),
        effect: self::effect(*effect).into(),
        action: (!what.is_nothing()).then(|| action(what)),
    }
}

pub(in crate::grpc) fn finished(finished: &ToolCallFinished) -> v1::ToolCallFinished {
    let ToolCallFinished {
        call_id,
        name,
        status,
        output,
        error_code,
        output_bytes,
        elapsed_ms,
        diff,
        exit_code,
        evidence: pieces,
        workspace_changed,
        // For the model; people have the file.
        image: _,
        metrics: how,
    } = finished;
    v1::ToolCallFinished {
        call_id: call_id.to_string(),
        name: name.clone(),
        status: tool_status(*status).into(),
        output: output.clone(),
        error_code: error_code.clone(),
        output_bytes: *output_bytes,
        elapsed_ms: *elapsed_ms,
        diff: diff.clone(),
        exit_code: *exit_code,
        evidence: pieces.iter().map(evidence).collect(),
        workspace_changed: *workspace_changed,
        metrics: Some(metrics(how)),
    }
}

pub(in crate::grpc) fn action(action: &Action) -> v1::Action {
    let Action { summary, targets } = action;
    v1::Action { summary: summary.clone(), targets: targets.iter().map(target).collect() }
}

fn target(target: &ActionTarget) -> v1::ActionTarget {
    let target = match target.clone() {
        ActionTarget::Read { path, version: _ } => Target::Read(v1::ReadTarget { path }),
        ActionTarget::Write { path, base_sha256, new_sha256, diff } => {
            Target::Write(v1::WriteTarget {
                path,
                base_sha256: base_sha256.unwrap_or_default(),
                new_sha256: new_sha256.unwrap_or_default(),
                diff,
            })
        }
        ActionTarget::Run { argv, cwd, confinement } => Target::Run(v1::RunTarget {
            argv,
            cwd,
            confinement: confinement.map(|Confinement { backend, writes, network, hosts }| {
                v1::Confinement { backend, writes, network, hosts }
            }),
        }),
        ActionTarget::Request { method, url, host } => {
            Target::Request(v1::RequestTarget { method, url, host })
        }
    };
    v1::ActionTarget { target: Some(target) }
}

/// A tool, and why it cannot be used.
pub(in crate::grpc) fn tool(
    spec: &ToolSpec,
    aliases: &[&str],
    missing: Option<String>,
) -> v1::Tool {
    let ToolSpec { name, description, parameters, capabilities } = spec;
    let Capabilities { effect, parallel_safe, cacheable, retry_same_args, observes_workspace } =
        *capabilities;
    v1::Tool {
        name: name.clone(),
        description: description.clone(),
        parameters_json: parameters.to_string(),
        capabilities: Some(v1::ToolCapabilities {
            effect: self::effect(effect).into(),
            parallel_safe,
            cacheable,
            retry_same_args,
            observes_workspace,
        }),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        missing: missing.unwrap_or_default(),
    }
}

/// A tool that this daemon does not have.
pub(in crate::grpc) fn missing(name: &str, why: &str) -> v1::Tool {
    v1::Tool { name: name.to_owned(), missing: why.to_owned(), ..v1::Tool::default() }
}

fn evidence(evidence: &Evidence) -> v1::Evidence {
    let Evidence { uri, title, excerpt } = evidence.clone();
    v1::Evidence { uri, title, excerpt }
}

fn metrics(metrics: &CallMetrics) -> v1::CallMetrics {
    let CallMetrics { source, attempts, waited_ms, batch_size, parallel_width } = *metrics;
    let source = match source {
        ResultSource::Run => v1::ResultSource::Run,
        ResultSource::Cache => v1::ResultSource::Cache,
        ResultSource::Shared => v1::ResultSource::Shared,
        ResultSource::NotRun => v1::ResultSource::NotRun,
    };
    v1::CallMetrics { source: source.into(), attempts, waited_ms, batch_size, parallel_width }
}

pub(in crate::grpc) fn effect(effect: ToolEffect) -> v1::ToolEffect {
    match effect {
        ToolEffect::Pure => v1::ToolEffect::Pure,
        ToolEffect::WorkspaceRead => v1::ToolEffect::WorkspaceRead,
        ToolEffect::NetworkRead => v1::ToolEffect::NetworkRead,
        ToolEffect::WorkspaceWrite => v1::ToolEffect::WorkspaceWrite,
        ToolEffect::Process => v1::ToolEffect::Process,
        ToolEffect::Exclusive => v1::ToolEffect::Exclusive,
    }
}

fn tool_status(status: ToolStatus) -> v1::ToolStatus {
    match status {
        ToolStatus::Success => v1::ToolStatus::Success,
        ToolStatus::Partial => v1::ToolStatus::Partial,
        ToolStatus::Empty => v1::ToolStatus::Empty,
        ToolStatus::RetryableError => v1::ToolStatus::RetryableError,
        ToolStatus::FatalError => v1::ToolStatus::FatalError,
        ToolStatus::Repeated => v1::ToolStatus::Repeated,
        ToolStatus::Skipped => v1::ToolStatus::Skipped,
        ToolStatus::Interrupted => v1::ToolStatus::Interrupted,
    }
}

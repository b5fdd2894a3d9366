//! Calls of tools that the user makes: what will run is shown, asked for, and run.

use agentd_proto::v1;
use agentd_proto::v1::run_tool_request::Place;
use agentd_proto::v1::run_tool_response::Step;
use agentd_shared::Client;
use agentd_shared::format::approval::{self as approval_text, Extent};
use agentd_shared::transcript::{ToolCallItem, ToolCallState};

use crate::app::rpc_failure;
use crate::exit::{Exit, Failure};

/// How often it is asked when what would run becomes something else in the meantime.
const ATTEMPTS: usize = 3;

/// A call to make.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Where it works.
    pub(crate) place: Place,
    /// Name of the tool.
    pub(crate) tool: String,
    /// Arguments as JSON text.
    pub(crate) arguments_json: String,
    /// Who makes it.
    pub(crate) author: v1::Author,
}

/// What has come of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It has a result.
    Finished(Box<v1::ToolCallFinished>),
    /// Modes or rules forbid it.
    Denied(v1::PlannedCall),
    /// The user did not want what would have run.
    NotApproved,
}

/// What is told while a call goes on.
pub(crate) trait Audience {
    /// What will run.
    ///
    /// # Errors
    /// When it cannot be told.
    fn planned(&mut self, planned: &v1::PlannedCall) -> Result<(), Failure>;

    /// Whether what was planned may run.
    ///
    /// # Errors
    /// When nobody can be asked.
    fn approve(
        &mut self,
        planned: &v1::PlannedCall,
    ) -> impl Future<Output = Result<bool, Failure>> + Send;

    /// Something that the tool shows.
    ///
    /// # Errors
    /// When it cannot be told.
    fn shown(&mut self, text: &str) -> Result<(), Failure>;

    /// The result.
    ///
    /// # Errors
    /// When it cannot be told.
    fn finished(&mut self, finished: &v1::ToolCallFinished) -> Result<(), Failure>;
}

/// Makes a call. Dropping the future cancels it.
///
/// # Errors
/// A report when the daemon refuses, or nobody can be asked.
pub(crate) async fn run(
    client: &Client,
    call: &Call,
    audience: &mut (impl Audience + Send),
) -> Result<Outcome, Failure> {
    let mut approved = String::new();
    for _attempt in 0..ATTEMPTS {
        let request = v1::RunToolRequest {
            place: Some(call.place.clone()),
            tool: call.tool.clone(),
            arguments_json: call.arguments_json.clone(),
            approved_fingerprint: approved.clone(),
            author: Some(call.author.clone()),
        };
        let failed = |status| rpc_failure(&format!("cannot run {}", call.tool), status);
        let stream = client.tool().run_tool(request).await;
        let mut steps = stream.map_err(failed)?.into_inner();
        let mut planned = None;
        while let Some(step) = steps.message().await.map_err(failed)? {
            match step.step {
                Some(Step::Planned(plan)) => {
                    audience.planned(&plan)?;
                    planned = Some(plan);
                }
                Some(Step::Output(text)) => audience.shown(&text)?,
                Some(Step::Finished(finished)) => {
                    audience.finished(&finished)?;
                    return Ok(Outcome::Finished(Box::new(finished)));
                }
                None => {}
            }
        }
        let Some(planned) = planned else { break };
        match after(&planned, &approved) {
            After::Denied => return Ok(Outcome::Denied(planned)),
            After::Ask if audience.approve(&planned).await? => approved = planned.fingerprint,
            After::Ask => return Ok(Outcome::NotApproved),
            After::CutOff => break,
        }
    }
    Err(Failure::new(Exit::Failed, format!("{} was not run to its end", call.tool))
        .because("the daemon stopped, or what would have run kept changing")
        .hint("look at what it has done, and try again"))
}

/// What comes after a call that was planned and has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Denied,
    Ask,
    /// It was running and the daemon has stopped.
    CutOff,
}

/// `approved` is the fingerprint of what was approved for the call; nothing: none was.
fn after(planned: &v1::PlannedCall, approved: &str) -> After {
    match planned.permission() {
        v1::CallPermission::Deny => After::Denied,
        // What was approved has run, or some of it: nobody has approved that it runs twice.
        v1::CallPermission::Ask if !approved.is_empty() && planned.fingerprint == approved => {
            After::CutOff
        }
        v1::CallPermission::Ask => After::Ask,
        v1::CallPermission::Allow | v1::CallPermission::Unspecified => After::CutOff,
    }
}

/// Exactly what will run, in lines.
pub(crate) fn plan_lines(planned: &v1::PlannedCall, extent: Extent) -> Vec<String> {
    let action = planned.action.clone().unwrap_or_else(|| v1::Action {
        summary: planned.arguments_json.clone(),
        targets: Vec::new(),
    });
    let request = v1::ApprovalRequested {
        tool: planned.tool.clone(),
        action: Some(action),
        because: planned.because.clone(),
        ..v1::ApprovalRequested::default()
    };
    approval_text::lines(&request, extent)
}

/// A call by hand as an item of a transcript, for its card.
pub(crate) fn item(
    planned: Option<&v1::PlannedCall>,
    finished: &v1::ToolCallFinished,
) -> ToolCallItem {
    ToolCallItem {
        name: finished.name.clone(),
        arguments_json: planned.map(|plan| plan.arguments_json.clone()).unwrap_or_default(),
        effect: planned.map(v1::PlannedCall::effect),
        state: ToolCallState::Finished(finished.status()),
        output: finished.output.clone(),
        output_bytes: finished.output_bytes,
        error_code: finished.error_code.clone(),
        elapsed_ms: finished.elapsed_ms,
        diff: finished.diff.clone(),
        exit_code: finished.exit_code,
        source: finished.metrics.unwrap_or_default().source(),
        ..ToolCallItem::default()
    }
}

/// The exit code of a command that made a call.
pub(crate) fn exit_of(finished: &v1::ToolCallFinished) -> Exit {
    match finished.status() {
        v1::ToolStatus::Success | v1::ToolStatus::Empty | v1::ToolStatus::Repeated => Exit::Ok,
        v1::ToolStatus::Partial
        | v1::ToolStatus::RetryableError
        | v1::ToolStatus::FatalError
        | v1::ToolStatus::Skipped
        | v1::ToolStatus::Interrupted
        | v1::ToolStatus::Unspecified => Exit::Failed,
    }
}

/// The report about a call that did not run.
pub(crate) fn not_run(outcome: &Outcome, tool: &str) -> Option<Failure> {
    match outcome {
        Outcome::Finished(_) => None,
        Outcome::Denied(planned) => Some(
            Failure::new(Exit::Failed, format!("{tool} may not run")).because(&planned.because),
        ),
        Outcome::NotApproved => Some(Failure::new(Exit::Failed, format!("{tool} was not run"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_approved_and_cut_off_is_not_run_again() {
        let check = |permission: v1::CallPermission, approved: &str, expect: After| {
            let planned = v1::PlannedCall {
                permission: permission.into(),
                fingerprint: "now".into(),
                ..Default::default()
            };
            assert_eq!(after(&planned, approved), expect, "{permission:?} {approved:?}");
        };
        check(v1::CallPermission::Ask, "", After::Ask);
        check(v1::CallPermission::Ask, "before", After::Ask);
        check(v1::CallPermission::Ask, "now", After::CutOff);
        check(v1::CallPermission::Allow, "", After::CutOff);
        check(v1::CallPermission::Deny, "now", After::Denied);
    }
}

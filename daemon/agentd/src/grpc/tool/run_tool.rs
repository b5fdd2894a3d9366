//! Runs one call for its caller.

use std::pin::Pin;

use agentd_domain::{CallId, CallMetrics, ErrorKind, ResultSource, ToolCallFinished};
use agentd_engine::{HandCall, HandPlace, HandPlan, HandResult, HandStep};
use agentd_proto::v1;
use agentd_proto::v1::run_tool_request::Place;
use agentd_proto::v1::run_tool_response::Step;
use agentd_tools::Permission;
use futures_util::{Stream, StreamExt as _, stream};
use tonic::Status;

use super::{no_place, session};
use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) type StepStream =
    Pin<Box<dyn Stream<Item = Result<v1::RunToolResponse, Status>> + Send>>;

/// Most bytes of arguments: as much as a message may have.
const MAX_ARGUMENTS: usize = 1024 * 1024;
/// What is named instead of a call of a model.
const BY_HAND: &str = "by-hand";

pub(super) async fn handle(
    ctx: &Context,
    request: v1::RunToolRequest,
) -> Result<StepStream, Status> {
    let v1::RunToolRequest { place, tool, arguments_json, approved_fingerprint, author } = request;
    let place = match place {
        Some(Place::SessionId(id)) => session(&id)?,
        Some(Place::Workspace(path)) => HandPlace::Workspace(path),
        None => return Err(no_place()),
    };
    if arguments_json.len() > MAX_ARGUMENTS {
        return Err(status::bad_field(
            "arguments_json",
            &format!("it has {} bytes; at most {MAX_ARGUMENTS} are taken", arguments_json.len()),
            "put long material into a file of the workspace",
        ));
    }
    let call = HandCall {
        place,
        tool,
        arguments_json,
        approved: (!approved_fingerprint.is_empty()).then_some(approved_fingerprint),
        by: from_proto::author("author", author.as_ref())?,
    };
    let call_id: CallId = BY_HAND.parse().map_err(|error: agentd_domain::IdError| {
        status::error(ErrorKind::Internal, &error.to_string(), "report it", None)
    })?;
    let steps = ctx.engine.run_by_hand(call).await.map_err(|error| status::from_command(&error))?;
    // Dropping it drops the receiver, which cancels the call.
    let steps = stream::unfold(steps, |mut steps| async move {
        let step = steps.recv().await?;
        Some((step, steps))
    });
    let steps = steps.map(move |step| {
        Ok(v1::RunToolResponse {
            step: Some(match step {
                HandStep::Planned(plan) => Step::Planned(planned(plan)),
                HandStep::Output(text) => Step::Output(text),
                HandStep::Finished(result) => Step::Finished(finished(&call_id, *result)),
            }),
        })
    });
    Ok(Box::pin(steps))
}

fn planned(plan: HandPlan) -> v1::PlannedCall {
    let HandPlan { tool, arguments_json, effect, action, permission, fingerprint } = plan;
    let (permission, because) = match permission {
        Permission::Allow => (v1::CallPermission::Allow, String::new()),
        Permission::Ask { because } => (v1::CallPermission::Ask, because),
        Permission::Deny { because } => (v1::CallPermission::Deny, because),
    };
    v1::PlannedCall {
        tool,
        arguments_json,
        effect: to_proto::tool_effect(effect).into(),
        action: (!action.is_nothing()).then(|| to_proto::action(&action)),
        permission: permission.into(),
        because,
        fingerprint,
    }
}

fn finished(call_id: &CallId, result: HandResult) -> v1::ToolCallFinished {
    let HandResult { tool, result, output_bytes, elapsed_ms, was_run } = result;
    let metrics = if was_run {
        CallMetrics { attempts: 1, ..CallMetrics::default() }
    } else {
        CallMetrics { source: ResultSource::NotRun, ..CallMetrics::default() }
    };
    let finished = ToolCallFinished::of(call_id.clone(), tool, result, output_bytes, elapsed_ms);
    to_proto::tool_call_finished(&ToolCallFinished { metrics, ..finished })
}

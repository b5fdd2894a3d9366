//! Takes a change of files back. Who asks for it has said what is wanted: it is approved as planned.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::run_tool_request::Place;
use agentd_proto::v1::run_tool_response::Step;
use agentd_shared::{Client, RpcError, with_deadline};
use tonic::{Code, Status};

/// The tool.
const TOOL: &str = "undo_edit";
/// Longest wait for its end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Times that it is planned while what it would do keeps changing.
const ATTEMPTS: usize = 4;

pub(super) async fn undo(
    client: &Client,
    session_id: String,
    change: Option<u64>,
    author: v1::Author,
) -> Result<v1::ToolCallFinished, RpcError> {
    let arguments_json =
        change.map_or("{}".to_owned(), |number| format!("{{\"change\":{number}}}"));
    let mut approved = String::new();
    for _attempt in 0..ATTEMPTS {
        let request = v1::RunToolRequest {
            place: Some(Place::SessionId(session_id.clone())),
            tool: TOOL.to_owned(),
            arguments_json: arguments_json.clone(),
            approved_fingerprint: approved.clone(),
            author: Some(author.clone()),
        };
        let stream = client.tool().run_tool(with_deadline(request, PATIENCE)).await?;
        let mut steps = stream.into_inner();
        let mut planned = None;
        while let Some(step) = steps.message().await? {
            match step.step {
                Some(Step::Finished(finished)) => return Ok(finished),
                Some(Step::Planned(plan)) => planned = Some(plan),
                Some(Step::Output(_)) | None => {}
            }
        }
        let Some(planned) = planned else { break };
        match planned.permission() {
            v1::CallPermission::Deny => {
                return Err(Status::new(Code::PermissionDenied, planned.because).into());
            }
            v1::CallPermission::Ask if planned.fingerprint != approved => {
                approved = planned.fingerprint;
            }
            // What was approved has run, or some of it: it must not run twice.
            v1::CallPermission::Ask
            | v1::CallPermission::Allow
            | v1::CallPermission::Unspecified => break,
        }
    }
    let text = "it was not run to its end; look at /diff, and try again";
    Err(Status::new(Code::Aborted, text).into())
}

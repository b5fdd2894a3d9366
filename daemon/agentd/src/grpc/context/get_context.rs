//! Shows what the next request of a session would hold.

use agentd_engine::{ContextReport, SessionContext};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::GetContextRequest,
) -> Result<v1::GetContextResponse, Status> {
    let v1::GetContextRequest { session_id } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let failed = |error| status::from_command(&error);
    let project_document = ctx.engine.project_document(id).await.map_err(failed)?;
    let SessionContext { report, pins, summary } = ctx.engine.context(id).await.map_err(failed)?;
    let ContextReport {
        model,
        window,
        answer,
        layers,
        trim_above,
        compact_above,
        compact_above_turns,
        turns,
        counted_by,
        calibration,
        stopped,
    } = report;
    Ok(v1::GetContextResponse {
        model,
        window_tokens: window,
        answer_tokens: answer,
        layers: layers.iter().copied().map(to_proto::context_layer).collect(),
        trim_above_tokens: trim_above,
        compact_above_tokens: compact_above,
        compact_above_turns,
        turns,
        counted_by: counted_by.to_owned(),
        calibration,
        project_document,
        pins,
        summary_seq: summary.as_ref().map_or(0, |(seq, _)| seq.0),
        summary: summary.map(|(_, compacted)| to_proto::compacted(&compacted)),
        stopped,
    })
}

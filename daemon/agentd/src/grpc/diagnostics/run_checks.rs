//! Looks at everything that can be wrong with a daemon.

use agentd_proto::v1;

use crate::checks::{self, Check, Outcome, Subject};
use crate::grpc::Context;

pub(super) async fn handle(ctx: &Context, request: v1::RunChecksRequest) -> v1::RunChecksResponse {
    let v1::RunChecksRequest { offline } = request;
    let subject = Subject {
        control: &ctx.control,
        models: &ctx.models,
        store: ctx.engine.store(),
        engine: &ctx.engine,
        memories: &ctx.memories,
        clock: &*ctx.clock,
        remote: &ctx.remote,
        paths: &ctx.paths,
        traces: &ctx.traces,
        programs: ctx.programs.as_deref(),
    };
    let checks = checks::run(&subject, !offline).await.into_iter().map(to_proto).collect();
    v1::RunChecksResponse { checks }
}

fn to_proto(check: Check) -> v1::Check {
    let Check { name, outcome, detail, remedy } = check;
    let outcome = match outcome {
        Outcome::Ok => v1::CheckOutcome::Ok,
        Outcome::Warn => v1::CheckOutcome::Warn,
        Outcome::Fail => v1::CheckOutcome::Fail,
        Outcome::Skipped => v1::CheckOutcome::Skipped,
    };
    v1::Check { name: name.to_owned(), outcome: outcome.into(), detail, remedy }
}

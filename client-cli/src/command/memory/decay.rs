//! `agentctl memory decay`.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::memory::short;
use agentd_shared::input::duration;
use agentd_shared::text::one_line;
use clap::Args;

use super::table::columns;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::SweepView;

/// Columns of a text.
const TEXT_WIDTH: usize = 70;

/// Options of `memory decay`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DecayArgs {
    /// Change nothing, only show which would age
    #[arg(long)]
    dry_run: bool,
    /// Show which will have aged after this long, such as 30d
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "dry_run")]
    within: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lets memories age, or shows which would.
pub(super) async fn run(args: &DecayArgs, app: &App) -> Result<Exit, Failure> {
    let until_ms = match args.within {
        None => 0,
        Some(within) => i64::try_from(u128::from(now_ms()) + within.as_millis())
            .map_err(|_far| Failure::new(Exit::Usage, "--within is too far away"))?,
    };
    let client = app.client().await?;
    let request = v1::SweepMemoriesRequest { dry_run: args.dry_run, until_ms };
    let answer = client.memory().sweep_memories(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot let memories age", status))?;
    let answer = answer.into_inner();
    if args.json {
        app.output.json(&SweepView::from(&answer))?;
        return Ok(Exit::Ok);
    }
    for line in rows(&answer) {
        app.output.line(&line)?;
    }
    let would = if args.dry_run { "would " } else { "" };
    let v1::SweepMemoriesResponse { aged, expired, removed, .. } = answer;
    app.output.note(&format!("{aged} {would}age, {expired} {would}end"));
    if removed > 0 {
        let did = if args.dry_run { "would be" } else { "were" };
        app.output.note(&format!("{removed} that held no longer {did} removed for good"));
    }
    Ok(Exit::Ok)
}

fn rows(answer: &v1::SweepMemoriesResponse) -> Vec<String> {
    let mut rows = Vec::new();
    for v1::MemoryEdit { before, after } in &answer.would_age {
        let (Some(before), Some(after)) = (before, after) else { continue };
        let becomes = if after.status() == v1::MemoryStatus::Active {
            crate::json::memory_priority(after.priority)
        } else {
            crate::json::memory_status(after.status)
        };
        rows.push([
            short(&before.memory_id).to_owned(),
            format!("{} → {becomes}", crate::json::memory_priority(before.priority)),
            one_line(&before.content, TEXT_WIDTH),
        ]);
    }
    columns(&rows)
}

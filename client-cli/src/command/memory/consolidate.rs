//! `agentctl memory consolidate`.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::memory::short;
use agentd_shared::text::one_line;
use agentd_shared::with_deadline;
use clap::Args;

use super::table::columns;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::ConsolidateView;
use crate::progress::Progress;

/// Columns of a text.
const TEXT_WIDTH: usize = 50;
/// A model may be asked five times.
const DEADLINE: Duration = Duration::from_secs(900);

/// Options of `memory consolidate`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ConsolidateArgs {
    /// Change nothing and ask no model, only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Brings order into memories, or shows what that would do.
pub(super) async fn run(args: &ConsolidateArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = v1::ConsolidateMemoriesRequest { dry_run: args.dry_run };
    let request = with_deadline(request, DEADLINE);
    let working = Progress::wait(&app.output, "bringing order into memories");
    let answer = client.memory().consolidate_memories(request).await;
    drop(working);
    let answer =
        answer.map_err(|status| rpc_failure("cannot bring order into memories", status))?;
    let answer = answer.into_inner();
    if args.json {
        app.output.json(&ConsolidateView::from(&answer))?;
        return Ok(Exit::Ok);
    }
    let lines = match &answer.done {
        Some(done) => done_lines(done),
        None => would_lines(&answer),
    };
    for line in lines {
        app.output.line(&line)?;
    }
    Ok(Exit::Ok)
}

/// What a run did, one line for each kind of change.
pub(super) fn done_lines(done: &v1::MemoryConsolidation) -> Vec<String> {
    let v1::MemoryConsolidation {
        at_ms: _,
        merged,
        compared,
        superseded,
        proposed,
        adjusted,
        reflected,
        skipped,
    } = done;
    let mut lines = vec![
        format!("{merged} became part of others; {compared} pairs were compared"),
        format!("{superseded} gave way to newer ones; {proposed} would and wait to be confirmed"),
        format!("{adjusted} moved to other priorities; {reflected} summaries are new"),
    ];
    if !skipped.is_empty() {
        lines.push(one_line(skipped, 200));
    }
    lines
}

fn would_lines(answer: &v1::ConsolidateMemoriesResponse) -> Vec<String> {
    let row = |what: &str, v1::MemoryPair { older, newer }: &v1::MemoryPair| {
        let text = |memory: &Option<v1::Memory>| {
            let memory = memory.clone().unwrap_or_default();
            format!("[{}] {}", short(&memory.memory_id), one_line(&memory.content, TEXT_WIDTH))
        };
        [what.to_owned(), text(older), text(newer)]
    };
    let v1::ConsolidateMemoriesResponse {
        done: _,
        would_merge,
        would_compare,
        would_weigh,
        would_reflect,
        no_model,
    } = answer;
    let mut rows: Vec<[String; 3]> = Vec::new();
    rows.extend(would_merge.iter().map(|pair| row("merge", pair)));
    rows.extend(would_compare.iter().map(|pair| row("compare", pair)));
    let mut lines = columns(&rows);
    lines.push(if *no_model {
        "there is no model, so that nothing would be compared or weighed".to_owned()
    } else {
        format!("{would_weigh} would be weighed")
    });
    lines.push(format!("{would_reflect} summaries would be new"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(id: &str, content: &str) -> v1::Memory {
        let (memory_id, content) = (id.to_owned(), content.to_owned());
        v1::Memory { memory_id, content, ..Default::default() }
    }

    #[test]
    fn a_run_is_told_in_a_few_lines() {
        let done = v1::MemoryConsolidation {
            merged: 1,
            compared: 7,
            superseded: 2,
            skipped: "the model gave no answer".to_owned(),
            ..Default::default()
        };
        assert_eq!(
            done_lines(&done),
            [
                "1 became part of others; 7 pairs were compared",
                "2 gave way to newer ones; 0 would and wait to be confirmed",
                "0 moved to other priorities; 0 summaries are new",
                "the model gave no answer",
            ]
        );
    }

    #[test]
    fn a_dry_run_shows_pairs_by_what_would_become_of_them() {
        let pair = v1::MemoryPair {
            older: Some(memory("01AAAAAAAAAAAAAAAABERLIN01", "lives in Berlin")),
            newer: Some(memory("01AAAAAAAAAAAAAAAAPARIS001", "lives in\nParis")),
        };
        let answer = v1::ConsolidateMemoriesResponse {
            would_compare: vec![pair],
            would_weigh: 4,
            ..Default::default()
        };
        assert_eq!(
            would_lines(&answer),
            [
                "compare  [BERLIN01] lives in Berlin  [PARIS001] lives in Paris",
                "4 would be weighed",
                "0 summaries would be new",
            ]
        );
    }
}

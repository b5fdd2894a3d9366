//! `agentctl memory stats`.

use agentd_proto::v1;
use agentd_shared::text::one_line;

use super::consolidate::done_lines;
use super::table::{columns, date};
use crate::app::{App, rpc_failure};
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::MemoryStatsView;

/// Shows how many memories there are.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let stats = client.memory().get_memory_stats(v1::GetMemoryStatsRequest {}).await;
    let stats = stats.map_err(|status| rpc_failure("cannot count the memories", status))?;
    let stats = stats.into_inner();
    if args.json {
        app.output.json(&MemoryStatsView::from(&stats))?;
        return Ok(Exit::Ok);
    }
    for line in lines(&stats) {
        app.output.line(&line)?;
    }
    Ok(Exit::Ok)
}

fn lines(stats: &v1::GetMemoryStatsResponse) -> Vec<String> {
    use v1::MemoryPriority::{Critical, High, Low, Medium};
    let heading = ["STATUS", "ALL", "CRITICAL", "HIGH", "MEDIUM", "LOW"].map(str::to_owned);
    let mut rows = vec![heading];
    let mut statuses: Vec<i32> = stats.counts.iter().map(|row| row.status).collect();
    statuses.dedup();
    for status in statuses {
        let of = |priority: v1::MemoryPriority| {
            let rows = stats.counts.iter().filter(|row| row.status == status);
            rows.filter(|row| row.priority() == priority).map(|row| row.count).sum::<u32>()
        };
        let counts = [Critical, High, Medium, Low].map(of);
        let [critical, high, medium, low] = counts.map(|count| count.to_string());
        let all = counts.iter().sum::<u32>().to_string();
        rows.push([crate::json::memory_status(status), all, critical, high, medium, low]);
    }
    let mut lines =
        if rows.len() == 1 { vec!["nothing is remembered".to_owned()] } else { columns(&rows) };
    lines.push(format!(
        "at most {} hold; search: {}",
        stats.max_active,
        one_line(&stats.search, 400)
    ));
    if let Some(done) = &stats.last_consolidation {
        lines.push(format!("order was last brought into them {}:", date(done.at_ms)));
        lines.extend(done_lines(done).into_iter().map(|line| format!("  {line}")));
    }
    match stats.due_reminders {
        0 => {}
        1 => lines.push("1 reminder waits for a terminal".to_owned()),
        many => lines.push(format!("{many} reminders wait for a terminal")),
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_shown_by_status_and_priority() {
        let row = |status: v1::MemoryStatus, priority: v1::MemoryPriority, count| v1::MemoryCount {
            status: status.into(),
            priority: priority.into(),
            count,
        };
        let told = lines(&v1::GetMemoryStatsResponse {
            counts: vec![
                row(v1::MemoryStatus::Active, v1::MemoryPriority::Critical, 2),
                row(v1::MemoryStatus::Active, v1::MemoryPriority::Low, 10),
                row(v1::MemoryStatus::Quarantined, v1::MemoryPriority::Medium, 1),
            ],
            max_active: 10_000,
            search: "lexical".to_owned(),
            due_reminders: 1,
            undoable: None,
            last_consolidation: None,
        });
        assert_eq!(
            told,
            [
                "STATUS       ALL  CRITICAL  HIGH  MEDIUM  LOW",
                "active       12   2         0     0       10",
                "quarantined  1    0         0     1       0",
                "at most 10000 hold; search: lexical",
                "1 reminder waits for a terminal",
            ]
        );
    }
}

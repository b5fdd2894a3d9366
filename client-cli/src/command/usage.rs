//! `agentctl usage`.

use std::time::{SystemTime, UNIX_EPOCH};

use agentd_proto::v1;
use agentd_shared::format::{Role, usage};
use agentd_shared::text::one_line;
use agentd_shared::{Client, ids};
use clap::{Args, ValueEnum};
use unicode_width::UnicodeWidthStr as _;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::UsageReportView;

/// Options of `usage`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UsageArgs {
    /// What a row stands for
    #[arg(long, value_name = "WHAT", value_enum, default_value = "day")]
    pub(crate) by: UsageBy,
    /// How many days to look back, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    pub(crate) days: u32,
    /// Only this session: its id, a unique beginning of it, or `last`
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a row of `usage` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageBy {
    /// A day
    Day,
    /// A model
    Model,
    /// A session
    Session,
    /// A purpose, such as turns or titles
    Purpose,
}

/// Columns that a key may take.
const KEY_WIDTH: usize = 40;
/// Columns that a title may take.
const TITLE_WIDTH: usize = 30;

/// Shows what requests used and cost.
pub(super) async fn run(args: &UsageArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = match &args.session {
        Some(text) => ids::resolve(&client, text).await?,
        None => String::new(),
    };
    let request = v1::GetUsageRequest {
        group_by: grouping(args.by).into(),
        from_day: (today() + 1).saturating_sub(args.days).max(1),
        to_day: 0,
        session_id,
    };
    let report = fetch(&client, request).await?;
    if args.json {
        app.output.json(&UsageReportView::from(&report))?;
        return Ok(Exit::Ok);
    }
    let mut lines = lines(&report, args.by).into_iter();
    if let Some(titles) = lines.next() {
        app.output.line(&app.output.paint(Role::Heading, &titles))?;
    }
    for line in lines {
        app.output.line(&line)?;
    }
    Ok(Exit::Ok)
}

/// Asks the daemon.
///
/// # Errors
/// A report when it refuses.
pub(crate) async fn fetch(
    client: &Client,
    request: v1::GetUsageRequest,
) -> Result<v1::GetUsageResponse, Failure> {
    let answer = client.usage().get_usage(request).await;
    answer
        .map(tonic::Response::into_inner)
        .map_err(|status| rpc_failure("cannot ask the daemon what was used", status))
}

/// What was used today, in one line; none when a daemon of another release does not tell.
pub(crate) async fn today_line(client: &Client) -> Option<String> {
    today_row(client).await.as_ref().map(usage::line)
}

/// The sums of today; none when a daemon of another release does not tell.
pub(crate) async fn today_row(client: &Client) -> Option<v1::UsageRow> {
    let today = v1::GetUsageRequest { from_day: today(), ..Default::default() };
    fetch(client, today).await.ok()?.total
}

/// The day that it is (UTC), counted from 1970-01-01.
fn today() -> u32 {
    #[expect(clippy::disallowed_methods, reason = "which day the user means")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().and_then(|since| u32::try_from(since.as_secs() / 86_400).ok()).unwrap_or(0)
}

fn grouping(by: UsageBy) -> v1::UsageGrouping {
    match by {
        UsageBy::Day => v1::UsageGrouping::Day,
        UsageBy::Model => v1::UsageGrouping::Model,
        UsageBy::Session => v1::UsageGrouping::Session,
        UsageBy::Purpose => v1::UsageGrouping::Purpose,
    }
}

/// A report as an inert table, its column titles first, and the limits below it.
pub(crate) fn lines(report: &v1::GetUsageResponse, by: UsageBy) -> Vec<String> {
    let name = match by {
        UsageBy::Day => "DAY",
        UsageBy::Model => "MODEL",
        UsageBy::Session => "SESSION",
        UsageBy::Purpose => "PURPOSE",
    };
    let titles =
        [name, "REQUESTS", "PROMPT", "CACHED", "COMPLETION", "REASONING", "~ESTIMATED", "COST", ""]
            .map(str::to_owned);
    let mut table = vec![titles];
    table.extend(report.rows.iter().map(|row| cells(row, &row.key)));
    if let Some(total) = &report.total {
        table.push(cells(total, "total"));
    }
    let mut lines = aligned(&table);
    lines.extend(usage::cached(report).map(|cached| format!("\n{cached}")));
    let limits = usage::limits(report);
    if limits.is_empty() {
        lines.push(format!("\n{}", usage::NO_LIMITS));
    } else {
        lines.push(String::new());
        lines.extend(limits.iter().map(|(name, limit)| format!("limit  {name:<12}  {limit}")));
    }
    lines
}

fn cells(row: &v1::UsageRow, key: &str) -> [String; 9] {
    let exact = row.exact.unwrap_or_default();
    let estimated = row.estimated.unwrap_or_default();
    [
        one_line(key, KEY_WIDTH),
        row.requests.to_string(),
        exact.prompt_tokens.to_string(),
        exact.cached_prompt_tokens.to_string(),
        exact.completion_tokens.to_string(),
        exact.reasoning_tokens.to_string(),
        match estimated.prompt_tokens.saturating_add(estimated.completion_tokens) {
            0 => "0".to_owned(),
            tokens => format!("~{tokens}"),
        },
        usage::cost(row),
        one_line(&row.title, TITLE_WIDTH),
    ]
}

/// Numbers to the right, texts to the left.
fn aligned(table: &[[String; 9]]) -> Vec<String> {
    let width = |column: usize| {
        table.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: [usize; 9] = std::array::from_fn(width);
    let line = |row: &[String; 9]| {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let gap = " ".repeat(width.saturating_sub(cell.width()));
                if (1..7).contains(&column) { gap + cell } else { cell.clone() + &gap }
            })
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    table.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, requests: u64, estimated: u64, cost: v1::Cost) -> v1::UsageRow {
        v1::UsageRow {
            key: key.to_owned(),
            requests,
            exact: Some(v1::Usage {
                prompt_tokens: 12_345,
                completion_tokens: 678,
                reasoning_tokens: 90,
                cached_prompt_tokens: 9_000,
                ..Default::default()
            }),
            estimated: Some(v1::Usage { prompt_tokens: estimated, ..Default::default() }),
            cost: Some(cost),
            title: String::new(),
        }
    }

    #[test]
    fn the_table_lines_up_and_keeps_estimates_apart() {
        let exact = v1::Cost { nano_usd: 1_230_000_000, ..Default::default() };
        let mixed = v1::Cost {
            nano_usd: 1_240_000_000,
            estimated_nano_usd: 10_000_000,
            unpriced_requests: 2,
        };
        let budget = |scope: v1::BudgetScope, max_tokens, used_tokens| v1::BudgetStatus {
            scope: scope.into(),
            max_tokens,
            used_tokens,
            max_nano_usd: 5_000_000_000,
            used_nano_usd: 1_240_000_000,
        };
        let report = v1::GetUsageResponse {
            rows: vec![row("2026-11-28", 3, 0, exact), row("2026-11-29", 14, 55, mixed)],
            total: Some(row("", 17, 55, mixed)),
            budgets: vec![
                budget(v1::BudgetScope::Turn, 0, 0),
                budget(v1::BudgetScope::Day, 100_000, 25_000),
                v1::BudgetStatus {
                    scope: v1::BudgetScope::BackgroundDay.into(),
                    ..Default::default()
                },
            ],
            cache_hit_permille: 729,
        };
        insta::assert_snapshot!(lines(&report, UsageBy::Day).join("\n"), @r"
        DAY         REQUESTS  PROMPT  CACHED  COMPLETION  REASONING  ~ESTIMATED  COST
        2026-11-28         3   12345    9000         678         90           0  $1.23
        2026-11-29        14   12345    9000         678         90         ~55  $1.23 + ~$0.010 + 2 unpriced
        total             17   12345    9000         678         90         ~55  $1.23 + ~$0.010 + 2 unpriced

        72.9 % of the prompt tokens came from providers' caches

        limit  each turn     at most $5.00
        limit  each day      $1.24 of $5.00 (24 %), 25,000 tokens of 100,000 tokens (25 %)
        ");
    }

    #[test]
    fn nothing_used_and_nothing_limited_is_said() {
        let report =
            v1::GetUsageResponse { total: Some(v1::UsageRow::default()), ..Default::default() };
        insta::assert_snapshot!(lines(&report, UsageBy::Model).join("\n"), @r"
        MODEL  REQUESTS  PROMPT  CACHED  COMPLETION  REASONING  ~ESTIMATED  COST
        total         0       0       0           0          0           0  $0.00

        no limits are set; [budget] in the configuration sets some
        ");
    }
}

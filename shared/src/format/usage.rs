//! What requests used, and what is allowed.

use agentd_proto::v1;

use super::turn;
use crate::text::{grouped, human_usd};

/// All tokens of a row, those that were counted and those that were estimated.
pub fn tokens(row: &v1::UsageRow) -> u64 {
    let all = |usage: &v1::Usage| usage.prompt_tokens.saturating_add(usage.completion_tokens);
    [row.exact, row.estimated].iter().flatten().map(all).fold(0, u64::saturating_add)
}

/// What a row cost, its estimated part apart, and what is not in it.
pub fn cost(row: &v1::UsageRow) -> String {
    turn::cost(&row.cost.unwrap_or_default())
}

/// A row in one line.
pub fn line(row: &v1::UsageRow) -> String {
    let requests = match row.requests {
        1 => "1 request".to_owned(),
        requests => format!("{} requests", grouped(requests)),
    };
    format!("{} ({requests}, {} tokens)", cost(row), grouped(tokens(row)))
}

/// How much of the prompts came from caches; none when nothing was sent.
pub fn cached(report: &v1::GetUsageResponse) -> Option<String> {
    let exact = report.total.as_ref().and_then(|total| total.exact)?;
    let (whole, tenth) = (report.cache_hit_permille / 10, report.cache_hit_permille % 10);
    let text = format!("{whole}.{tenth} % of the prompt tokens came from providers' caches");
    (exact.prompt_tokens > 0).then_some(text)
}

/// What is told where nothing is limited.
pub const NO_LIMITS: &str = "no limits are set; [budget] in the configuration sets some";

/// The limits: what each is about, and how much of it is used.
pub fn limits(report: &v1::GetUsageResponse) -> Vec<(&'static str, String)> {
    report.budgets.iter().filter_map(limit).collect()
}

fn limit(budget: &v1::BudgetStatus) -> Option<(&'static str, String)> {
    let (name, is_of_day) = match budget.scope() {
        v1::BudgetScope::Unspecified => return None,
        v1::BudgetScope::Turn => ("each turn", false),
        v1::BudgetScope::Session => ("each session", false),
        v1::BudgetScope::Day => ("each day", true),
        v1::BudgetScope::BackgroundDay => ("background", true),
    };
    let part = |max: u64, used: u64, shown: fn(u64) -> String| {
        if max == 0 {
            return None;
        }
        if !is_of_day {
            return Some(format!("at most {}", shown(max)));
        }
        let percent = u128::from(used) * 100 / u128::from(max);
        Some(format!("{} of {} ({percent} %)", shown(used), shown(max)))
    };
    let count = |tokens: u64| format!("{} tokens", grouped(tokens));
    let parts = [
        part(budget.max_nano_usd, budget.used_nano_usd, human_usd),
        part(budget.max_tokens, budget.used_tokens, count),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| (name, parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_say_how_much_is_used_and_those_that_limit_nothing_are_not_told() {
        let budget = |scope: v1::BudgetScope, max_tokens, max_nano_usd| v1::BudgetStatus {
            scope: scope.into(),
            max_tokens,
            used_tokens: 25_000,
            max_nano_usd,
            used_nano_usd: 1_240_000_000,
        };
        let report = v1::GetUsageResponse {
            budgets: vec![
                budget(v1::BudgetScope::Turn, 0, 5_000_000_000),
                budget(v1::BudgetScope::Day, 100_000, 0),
                budget(v1::BudgetScope::BackgroundDay, 0, 0),
            ],
            ..Default::default()
        };
        let tokens = |count| format!("{} tokens", grouped(count));
        let expect = [
            ("each turn", "at most $5.00".to_owned()),
            ("each day", format!("{} of {} (25 %)", tokens(25_000), tokens(100_000))),
        ];
        assert_eq!(limits(&report), expect);
    }

    #[test]
    fn a_row_counts_what_was_estimated_too() {
        let usage = |tokens| Some(v1::Usage { prompt_tokens: tokens, ..Default::default() });
        let row = v1::UsageRow {
            requests: 1,
            exact: usage(100),
            estimated: usage(23),
            ..Default::default()
        };
        assert_eq!(line(&row), "$0.00 (1 request, 123 tokens)");
        let report = |row: v1::UsageRow| v1::GetUsageResponse {
            total: Some(row),
            cache_hit_permille: 729,
            ..Default::default()
        };
        let told = cached(&report(row)).unwrap();
        assert_eq!(told, "72.9 % of the prompt tokens came from providers' caches");
        assert_eq!(cached(&report(v1::UsageRow::default())), None);
    }
}

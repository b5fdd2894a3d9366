//! Sums of requests, and limits.

use agentd_domain::UsageSum;
use agentd_engine::{BudgetScope, BudgetStatus, Limit, UsageReport, UsageRow, Used};
use agentd_proto::v1;

use super::item;

pub(crate) fn report(report: &UsageReport, budgets: &[BudgetStatus]) -> v1::GetUsageResponse {
    let UsageReport { rows, total } = report;
    let prompt = total.exact.prompt_tokens;
    let cached = u128::from(total.exact.cached_prompt_tokens.min(prompt));
    let permille = (cached * 1_000).checked_div(u128::from(prompt)).unwrap_or(0);
    v1::GetUsageResponse {
        rows: rows.iter().map(row).collect(),
        total: Some(sum("", total, "")),
        budgets: budgets.iter().map(budget).collect(),
        cache_hit_permille: u32::try_from(permille).unwrap_or(1_000),
    }
}

fn row(row: &UsageRow) -> v1::UsageRow {
    let UsageRow { key, sum: of_row, title } = row;
    sum(key, of_row, title)
}

fn sum(key: &str, sum: &UsageSum, title: &str) -> v1::UsageRow {
    let UsageSum { requests, exact, estimated, cost } = sum;
    v1::UsageRow {
        key: key.to_owned(),
        requests: *requests,
        exact: Some(item::usage(exact)),
        estimated: Some(item::usage(estimated)),
        cost: Some(item::cost(cost)),
        title: title.to_owned(),
    }
}

fn budget(status: &BudgetStatus) -> v1::BudgetStatus {
    let BudgetStatus { scope, limit: Limit { tokens, nano_usd }, used } = *status;
    let Used { tokens: used_tokens, nano_usd: used_nano_usd } = used;
    let scope = match scope {
        BudgetScope::Turn => v1::BudgetScope::Turn,
        BudgetScope::Session => v1::BudgetScope::Session,
        BudgetScope::Day => v1::BudgetScope::Day,
        BudgetScope::BackgroundDay => v1::BudgetScope::BackgroundDay,
    };
    v1::BudgetStatus {
        scope: scope.into(),
        max_tokens: tokens,
        max_nano_usd: nano_usd,
        used_tokens,
        used_nano_usd,
    }
}

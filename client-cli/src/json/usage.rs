//! Views of sums and limits.

use agentd_proto::v1;
use serde::Serialize;

use super::event::{CostView, UsageView};

/// What requests used.
#[derive(Debug, Serialize)]
pub(crate) struct UsageReportView<'a> {
    rows: Vec<UsageRowView<'a>>,
    total: Option<UsageRowView<'a>>,
    budgets: Vec<BudgetView>,
    cache_hit_permille: u32,
}

/// Sums of several requests.
#[derive(Debug, Serialize)]
pub(crate) struct UsageRowView<'a> {
    key: &'a str,
    title: &'a str,
    requests: u64,
    exact: Option<UsageView>,
    estimated: Option<UsageView>,
    cost: Option<CostView>,
}

#[derive(Debug, Serialize)]
struct BudgetView {
    scope: String,
    max_tokens: u64,
    max_nano_usd: u64,
    used_tokens: u64,
    used_nano_usd: u64,
}

impl<'a> From<&'a v1::GetUsageResponse> for UsageReportView<'a> {
    fn from(report: &'a v1::GetUsageResponse) -> Self {
        let v1::GetUsageResponse { rows, total, budgets, cache_hit_permille } = report;
        Self {
            rows: rows.iter().map(UsageRowView::from).collect(),
            total: total.as_ref().map(UsageRowView::from),
            budgets: budgets.iter().map(BudgetView::from).collect(),
            cache_hit_permille: *cache_hit_permille,
        }
    }
}

impl<'a> From<&'a v1::UsageRow> for UsageRowView<'a> {
    fn from(row: &'a v1::UsageRow) -> Self {
        let v1::UsageRow { key, requests, exact, estimated, cost, title } = row;
        Self {
            key,
            title,
            requests: *requests,
            exact: exact.as_ref().map(UsageView::from),
            estimated: estimated.as_ref().map(UsageView::from),
            cost: cost.as_ref().map(CostView::from),
        }
    }
}

impl From<&v1::BudgetStatus> for BudgetView {
    fn from(budget: &v1::BudgetStatus) -> Self {
        let v1::BudgetStatus { scope, max_tokens, max_nano_usd, used_tokens, used_nano_usd } =
            *budget;
        Self {
            scope: super::budget_scope(scope),
            max_tokens,
            max_nano_usd,
            used_tokens,
            used_nano_usd,
        }
    }
}

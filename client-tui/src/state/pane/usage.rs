//! What requests used and cost.

use agentd_proto::v1;
use agentd_shared::format::usage;
use agentd_shared::text::{grouped, human_usd, one_line};
use crossterm::event::KeyCode;

use super::{Detail, Ink, PaneRow};
use crate::conn::Command;

pub(super) fn sums(grouping: v1::UsageGrouping) -> Command {
    let request =
        v1::GetUsageRequest { group_by: grouping.into(), ..v1::GetUsageRequest::default() };
    Command::GetUsage(request)
}

/// What a key sums by.
pub(super) fn grouping(code: KeyCode) -> Option<v1::UsageGrouping> {
    match code {
        KeyCode::Char('d') => Some(v1::UsageGrouping::Day),
        KeyCode::Char('m') => Some(v1::UsageGrouping::Model),
        KeyCode::Char('s') => Some(v1::UsageGrouping::Session),
        KeyCode::Char('p') => Some(v1::UsageGrouping::Purpose),
        _ => None,
    }
}

pub(super) fn heading(report: &v1::GetUsageResponse) -> String {
    let total = report.total.clone().unwrap_or_default();
    format!("30 days: {} in {} requests", cost(&total.cost.unwrap_or_default()), total.requests)
}

pub(super) fn rows(report: &v1::GetUsageResponse) -> Vec<PaneRow> {
    let row = |row: &v1::UsageRow| {
        let title = if row.title.is_empty() { &row.key } else { &row.title };
        PaneRow {
            mark: cost(&row.cost.unwrap_or_default()),
            ink: Ink::Plain,
            text: one_line(title, 400),
            side: format!("{} tokens, {} requests", grouped(usage::tokens(row)), row.requests),
        }
    };
    report.rows.iter().map(row).collect()
}

/// All counts of a row, and the limits.
pub(super) fn detail(report: &v1::GetUsageResponse, selected: usize) -> Option<Detail> {
    let row = report.rows.get(selected)?;
    let mut detail = Detail::new(one_line(&row.key, 80));
    if !row.title.is_empty() {
        detail.add(Ink::Plain, &row.title);
    }
    let exact = row.exact.unwrap_or_default();
    let estimated = row.estimated.unwrap_or_default();
    let counts = [
        ("requests", row.requests),
        ("prompt tokens", exact.prompt_tokens),
        ("  of them cached", exact.cached_prompt_tokens),
        ("tokens of answers", exact.completion_tokens),
        ("  of them reasoning", exact.reasoning_tokens),
        ("estimated tokens", estimated.prompt_tokens.saturating_add(estimated.completion_tokens)),
    ];
    for (name, count) in counts {
        detail.add(Ink::Plain, &format!("{name:<20} {:>16}", grouped(count)));
    }
    let spent = usage::cost(row);
    detail.add(Ink::Plain, &format!("{:<20} {spent:>16}", "cost"));
    detail.gap();
    detail.add(Ink::Heading, "limits");
    let limits = usage::limits(report);
    for (name, limit) in &limits {
        detail.add(Ink::Plain, &format!("{name}: {limit}"));
    }
    if limits.is_empty() {
        detail.add(Ink::Dim, usage::NO_LIMITS);
    }
    Some(detail)
}

/// A cost; `~` where it rests on estimates, and what is not in it.
pub fn cost(cost: &v1::Cost) -> String {
    let about = if cost.estimated_nano_usd > 0 { "~" } else { "" };
    match (cost.nano_usd, cost.unpriced_requests) {
        (0, unpriced) if unpriced > 0 => "no price".to_owned(),
        (nano_usd, 0) => format!("{about}{}", human_usd(nano_usd)),
        (nano_usd, _) => format!("{about}{}+", human_usd(nano_usd)),
    }
}

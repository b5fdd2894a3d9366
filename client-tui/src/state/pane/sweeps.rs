//! What the daemon does in its own time: memories age, and order is brought into them.

use agentd_proto::v1;
use agentd_shared::text::{one_line, relative_time};
use crossterm::event::KeyCode;

use super::{Detail, Ink, PaneRow};
use crate::conn::Command;

/// The lines, in their order.
const AGING: usize = 0;
const ORDER: usize = 1;

/// What a key does.
pub(super) enum Act {
    Nothing,
    Show,
    Send(Command),
    Ask(&'static str, Command),
}

pub(super) fn heading(stats: &v1::GetMemoryStatsResponse) -> String {
    let of = |status: v1::MemoryStatus| {
        let counts = stats.counts.iter().filter(|count| count.status() == status);
        counts.map(|count| count.count).sum::<u32>()
    };
    format!(
        "{} memories hold (at most {}), {} wait for you",
        of(v1::MemoryStatus::Active),
        stats.max_active,
        of(v1::MemoryStatus::Quarantined)
    )
}

pub(super) fn rows(stats: &v1::GetMemoryStatsResponse, now_ms: i64) -> Vec<PaneRow> {
    let row = |mark: &str, text: &str, side: String| PaneRow {
        mark: mark.to_owned(),
        ink: Ink::Plain,
        text: text.to_owned(),
        side,
    };
    let last = stats
        .last_consolidation
        .as_ref()
        .map_or("not yet".to_owned(), |last| format!("last {}", relative_time(last.at_ms, now_ms)));
    vec![
        row("aging", "memories that nobody uses fall and fade", "each hour".to_owned()),
        row("order", "what says the same becomes one; what was contradicted gives way", last),
    ]
}

pub(super) fn act(selected: usize, code: KeyCode) -> Act {
    let sweep =
        |dry_run: bool| Command::SweepMemories(v1::SweepMemoriesRequest { dry_run, until_ms: 0 });
    let order =
        |dry_run: bool| Command::ConsolidateMemories(v1::ConsolidateMemoriesRequest { dry_run });
    match (code, selected) {
        (KeyCode::Enter, _) => Act::Show,
        (KeyCode::Char('t'), AGING) => Act::Send(sweep(true)),
        (KeyCode::Char('t'), ORDER) => Act::Send(order(true)),
        (KeyCode::Char('r'), AGING) => Act::Ask("let memories age now? y/n", sweep(false)),
        (KeyCode::Char('r'), ORDER) => {
            Act::Ask("bring order into memories now? a model is asked; y/n", order(false))
        }
        _ => Act::Nothing,
    }
}

/// What is known of a line.
pub(super) fn detail(
    stats: &v1::GetMemoryStatsResponse,
    selected: usize,
    now_ms: i64,
) -> Option<Detail> {
    match selected {
        AGING => {
            let mut detail = Detail::new("aging".to_owned());
            detail.add(Ink::Plain, &heading(stats));
            for count in &stats.counts {
                let what = format!("{}, {}", status(count.status()), priority(count.priority()));
                detail.add(Ink::Plain, &format!("{:>6}  {what}", count.count));
            }
            detail.gap();
            detail.add(Ink::Dim, &format!("memories are found by: {}", stats.search));
            let due = format!("{} reminders are due and wait for a terminal", stats.due_reminders);
            detail.add(Ink::Dim, &due);
            Some(detail)
        }
        ORDER => {
            let mut detail = Detail::new("order".to_owned());
            match &stats.last_consolidation {
                Some(last) => done(&mut detail, last, now_ms),
                None => detail.add(Ink::Dim, "no order was brought into memories yet"),
            }
            Some(detail)
        }
        _ => None,
    }
}

fn status(status: v1::MemoryStatus) -> &'static str {
    match status {
        v1::MemoryStatus::Unspecified => "unknown",
        v1::MemoryStatus::Active => "hold",
        v1::MemoryStatus::Quarantined => "wait for you",
        v1::MemoryStatus::Forgotten => "forgotten",
        v1::MemoryStatus::Merged => "part of others",
        v1::MemoryStatus::Superseded => "replaced",
        v1::MemoryStatus::Expired => "ended",
        v1::MemoryStatus::Displaced => "pushed out",
        v1::MemoryStatus::Faded => "faded",
    }
}

fn priority(priority: v1::MemoryPriority) -> &'static str {
    match priority {
        v1::MemoryPriority::Unspecified => "any",
        v1::MemoryPriority::Critical => "critical",
        v1::MemoryPriority::High => "high",
        v1::MemoryPriority::Medium => "medium",
        v1::MemoryPriority::Low => "low",
    }
}

/// What time did, or would do.
pub(super) fn swept(dry_run: bool, swept: &v1::SweepMemoriesResponse) -> Detail {
    let mut detail = Detail::new(if dry_run { "aging, tried" } else { "aging" }.to_owned());
    let would = if dry_run { "would " } else { "" };
    for (count, what) in [
        (swept.aged, "age to a lower priority"),
        (swept.expired, "end"),
        (swept.removed, "be gone for good"),
    ] {
        detail.add(Ink::Plain, &format!("{count:>6}  {would}{what}"));
    }
    if !swept.would_age.is_empty() {
        detail.gap();
        detail.add(Ink::Heading, "those that would age");
    }
    for edit in &swept.would_age {
        let Some(before) = &edit.before else { continue };
        let to = edit.after.as_ref().map_or("gone", |after| priority(after.priority()));
        let text = one_line(&before.content, 200);
        detail.add(Ink::Plain, &format!("{} to {to}: {text}", priority(before.priority())));
    }
    detail
}

/// What was done to bring order, or would be.
pub(super) fn consolidated(answer: &v1::ConsolidateMemoriesResponse, now_ms: i64) -> Detail {
    if let Some(last) = &answer.done {
        let mut detail = Detail::new("order".to_owned());
        done(&mut detail, last, now_ms);
        return detail;
    }
    let mut detail = Detail::new("order, tried".to_owned());
    let pairs = |detail: &mut Detail, title: &str, pairs: &[v1::MemoryPair]| {
        detail.add(Ink::Heading, &format!("{title}: {}", pairs.len()));
        for pair in pairs {
            let text = |memory: &Option<v1::Memory>| {
                memory.as_ref().map_or(String::new(), |memory| one_line(&memory.content, 200))
            };
            detail.add(Ink::Plain, &format!("- {}", text(&pair.older)));
            detail.add(Ink::Plain, &format!("  {}", text(&pair.newer)));
        }
    };
    pairs(&mut detail, "would become one", &answer.would_merge);
    pairs(&mut detail, "a model would be asked about", &answer.would_compare);
    detail.add(Ink::Plain, &format!("{:>6}  would be weighed", answer.would_weigh));
    detail.add(Ink::Plain, &format!("{:>6}  summaries would be new", answer.would_reflect));
    if answer.no_model {
        detail.add(
            Ink::Warn,
            "there is no model to ask, so that nothing would be compared or weighed",
        );
    }
    detail
}

fn done(detail: &mut Detail, last: &v1::MemoryConsolidation, now_ms: i64) {
    detail.add(Ink::Heading, &format!("done {}", relative_time(last.at_ms, now_ms)));
    for (count, what) in [
        (last.merged, "became part of others"),
        (last.compared, "pairs were compared by a model"),
        (last.superseded, "gave way to newer ones"),
        (last.proposed, "would, and wait for you"),
        (last.adjusted, "were moved to other priorities"),
        (last.reflected, "summaries are new"),
    ] {
        detail.add(Ink::Plain, &format!("{count:>6}  {what}"));
    }
    if !last.skipped.is_empty() {
        detail.add(Ink::Warn, &format!("left out: {}", last.skipped));
    }
}

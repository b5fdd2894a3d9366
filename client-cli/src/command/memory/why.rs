//! `agentctl memory why`: where a memory is from, how it will age, and what was changed of it.

use agentd_proto::v1;
use agentd_shared::format::memory::author;
use agentd_shared::text::one_line;

use super::OneArgs;
use super::show::{about, fetch};
use super::table::date;
use crate::app::App;
use crate::exit::{Exit, Failure};
use crate::json::MemoryDetailView;

/// Columns of a text as it was.
const TEXT_WIDTH: usize = 70;
/// Columns of an id.
const ID_WIDTH: usize = 26;
/// Days after which it is told what will be left.
const CURVE_DAYS: [u32; 3] = [7, 30, 90];

/// Shows a memory with its history.
pub(super) async fn run(args: &OneArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let detail = fetch(&client, &args.id).await?;
    if args.json {
        app.output.json(&MemoryDetailView::from(&detail))?;
        return Ok(Exit::Ok);
    }
    for line in lines(&detail) {
        app.output.line(&line)?;
    }
    Ok(Exit::Ok)
}

fn lines(detail: &v1::GetMemoryResponse) -> Vec<String> {
    let v1::GetMemoryResponse { memory, retention, forecast, changes } = detail;
    let memory = memory.clone().unwrap_or_default();
    let mut lines = vec![
        format!("memory      {}", one_line(&memory.memory_id, ID_WIDTH)),
        format!("text        {}", one_line(&memory.content, TEXT_WIDTH)),
    ];
    lines.extend(about(&memory));
    lines.push(format!("from        {}", origin(&memory)));
    let used = match memory.uses {
        0 => "never".to_owned(),
        1 => format!("once, {}", date(memory.last_used_at_ms)),
        uses => format!("{uses} times, last {}", date(memory.last_used_at_ms)),
    };
    lines.push(format!("helped      {used}"));
    let told = match memory.last_told_at_ms {
        0 => "never".to_owned(),
        at => format!("last {}", date(at)),
    };
    lines.push(format!("told to     a model: {told}"));
    lines.push(format!(
        "retention   {:.0} % (1/e after {:.0} days without use)",
        retention * 100.0,
        memory.stability_days
    ));
    lines.push(format!("            without use {}", curve(*retention, memory.stability_days)));
    if forecast.is_empty() {
        let why = match memory.category() {
            _ if memory.pinned => "it is pinned",
            v1::MemoryCategory::Reminder => "it waits for its time",
            _ => "nothing is to become of it",
        };
        lines.push(format!("will age    no: {why}"));
    }
    for (at, step) in forecast.iter().enumerate() {
        let label = if at == 0 { "will age" } else { "" };
        let what = match step.falls_to() {
            v1::MemoryPriority::Unspecified => "no longer told".to_owned(),
            _ => crate::json::memory_priority(step.falls_to),
        };
        lines.push(format!("{label:<11} {}  {what}", date(step.at_ms)));
    }
    lines.push(String::new());
    lines.extend(changes.iter().flat_map(change));
    lines
}

/// What will be left of a retention: `e^(-t/S)` of it after the time `t` with the stability `S`.
fn curve(retention: f64, stability_days: f64) -> String {
    let left = CURVE_DAYS.map(|days| {
        let left = retention * (-f64::from(days) / stability_days.max(f64::MIN_POSITIVE)).exp();
        format!("{:.0} % in {days} days", left * 100.0)
    });
    left.join(", ")
}

fn origin(memory: &v1::Memory) -> String {
    let mut from = vec![author(memory.author.as_ref()), date(memory.created_at_ms)];
    if !memory.session_id.is_empty() {
        from.push(format!("session {}", one_line(&memory.session_id, ID_WIDTH)));
    }
    if memory.seq != 0 {
        from.push(format!("event {}", memory.seq));
    }
    from.join(", ")
}

/// A change in lines: what, who and when, and what it made of the memory.
pub(super) fn change(change: &v1::MemoryChange) -> Vec<String> {
    let mut heading = format!(
        "{}  {:<10} by {}  ({})",
        date(change.at_ms),
        crate::json::memory_change_kind(change.kind),
        author(change.author.as_ref()),
        one_line(&change.change_id, ID_WIDTH),
    );
    if !change.undone_by.is_empty() {
        heading += " taken back";
    }
    let mut lines = vec![heading];
    for v1::MemoryEdit { before, after } in &change.edits {
        let (Some(before), Some(after)) = (before, after) else { continue };
        lines.extend(differences(before, after).into_iter().map(|line| format!("    {line}")));
    }
    lines
}

fn differences(before: &v1::Memory, after: &v1::Memory) -> Vec<String> {
    use crate::json::{memory_category, memory_priority, memory_status};
    let mut lines = Vec::new();
    let mut differ = |what: &str, old: String, new: String| {
        if old != new {
            lines.push(format!(
                "{what}: {} → {}",
                one_line(&old, TEXT_WIDTH),
                one_line(&new, TEXT_WIDTH)
            ));
        }
    };
    differ("text", before.content.clone(), after.content.clone());
    differ("status", memory_status(before.status), memory_status(after.status));
    differ("priority", memory_priority(before.priority), memory_priority(after.priority));
    differ("kind", memory_category(before.category), memory_category(after.category));
    differ("importance", before.importance.to_string(), after.importance.to_string());
    differ("tags", before.tags.join(", "), after.tags.join(", "));
    differ("pinned", before.pinned.to_string(), after.pinned.to_string());
    let until = |at| if at == 0 { "never".to_owned() } else { date(at) };
    differ("ends", until(before.expires_at_ms), until(after.expires_at_ms));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_says_who_changed_what_and_what_is_to_come() {
        let before = v1::Memory {
            memory_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
            content: "likes tea".to_owned(),
            priority: v1::MemoryPriority::Medium.into(),
            importance: 3,
            category: v1::MemoryCategory::General.into(),
            status: v1::MemoryStatus::Active.into(),
            stability_days: 30.0,
            session_id: "S".to_owned(),
            seq: 7,
            author: Some(v1::MemoryAuthor { by: Some(v1::memory_author::By::Model(true)) }),
            ..Default::default()
        };
        let after = v1::Memory {
            content: "likes coffee\u{1b}[2J".to_owned(),
            pinned: true,
            ..before.clone()
        };
        let told = lines(&v1::GetMemoryResponse {
            memory: Some(before.clone()),
            retention: 0.5,
            forecast: vec![
                v1::MemoryStep { at_ms: 0, falls_to: v1::MemoryPriority::Low.into() },
                v1::MemoryStep::default(),
            ],
            changes: vec![v1::MemoryChange {
                change_id: "C".to_owned(),
                kind: v1::MemoryChangeKind::Edited.into(),
                edits: vec![v1::MemoryEdit { before: Some(before), after: Some(after) }],
                undone_by: "D".to_owned(),
                edit_count: 1,
                ..Default::default()
            }],
        });
        let has = |part: &str| {
            assert!(told.iter().any(|line| line.contains(part)), "{part}: {told:#?}");
        };
        has("from        the model, ");
        has(", session S, event 7");
        has("helped      never");
        has("retention   50 % (1/e after 30 days without use)");
        has("            without use 40 % in 7 days, 18 % in 30 days, 2 % in 90 days");
        has("  low");
        has("  no longer told");
        has("edited     by the daemon  (C) taken back");
        has("    text: likes tea → likes coffee\\u{1b}[2J");
        has("    pinned: false → true");
    }
}

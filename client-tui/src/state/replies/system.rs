//! What there is to tell of the daemon: its state, tools, memories, costs.

use agentd_proto::v1;
use agentd_shared::format::facts::Fact;
use agentd_shared::format::tools::{about, effect, one};
use agentd_shared::format::{Role, daemon, memory, usage};
use agentd_shared::text::{grouped, one_line};

use crate::state::overlay::TextLine;

/// Columns of what a limit is about.
const LIMIT: usize = 12;

/// How the daemon is.
pub(in crate::state) fn status(status: &v1::GetStatusResponse) -> Vec<TextLine> {
    let facts = daemon::status(status, None).into_iter();
    facts.map(|fact| TextLine::fact(fact, daemon::LABEL_WIDTH)).collect()
}

/// What requests used and cost, by model.
pub(in crate::state) fn used(report: &v1::GetUsageResponse) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let total = report.total.iter().map(|row| ("total", row));
    for (key, row) in report.rows.iter().map(|row| (row.key.as_str(), row)).chain(total) {
        let exact = row.exact.unwrap_or_default();
        let estimated = row.estimated.unwrap_or_default();
        lines.push(TextLine::of(Role::Heading, one_line(key, 200)));
        let guessed = estimated.prompt_tokens.saturating_add(estimated.completion_tokens);
        let guessed = match guessed {
            0 => String::new(),
            tokens => format!("; ~{} estimated", grouped(tokens)),
        };
        lines.push(TextLine::plain(format!(
            "  {} requests: {} prompt ({} cached), {} completion ({} reasoning){guessed}",
            grouped(row.requests),
            grouped(exact.prompt_tokens),
            grouped(exact.cached_prompt_tokens),
            grouped(exact.completion_tokens),
            grouped(exact.reasoning_tokens)
        )));
        lines.push(TextLine::plain(format!("  {}", usage::cost(row))));
    }
    lines.extend(usage::cached(report).map(|cached| TextLine::of(Role::Dim, cached)));
    let limits = usage::limits(report).into_iter();
    lines.extend(limits.map(|(name, limit)| TextLine::pair(name, LIMIT, &limit)));
    lines
}

/// All tools.
pub(in crate::state) fn tools(tools: &[v1::Tool]) -> Vec<TextLine> {
    let width = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0).min(32);
    let line = |tool: &v1::Tool| {
        let about = format!("{:<8}  {}", effect(tool), one_line(&about(tool), 200));
        let role = if tool.missing.is_empty() { Role::Plain } else { Role::Warn };
        TextLine { role, ..TextLine::pair(&tool.name, width, &about) }
    };
    tools.iter().map(line).collect()
}

/// One tool.
pub(in crate::state) fn tool(tool: &v1::Tool) -> Vec<TextLine> {
    let line = |fact: Fact| TextLine::of(fact.role, fact.text);
    one(tool).into_iter().map(line).collect()
}

/// What is remembered, and what waits for a yes.
pub(in crate::state) fn memories(found: &[v1::FoundMemory], all: u32) -> Vec<TextLine> {
    if found.is_empty() {
        return vec![TextLine::of(Role::Dim, memory::NOTHING)];
    }
    let mut lines = Vec::new();
    for known in found.iter().filter_map(|found| found.memory.as_ref()) {
        let waits = known.status() == v1::MemoryStatus::Quarantined;
        let (id, kind) = (memory::short(&known.memory_id), memory::kind(known));
        let tags = match known.tags.as_slice() {
            [] => String::new(),
            tags => format!(" · {}", tags.join(", ")),
        };
        let (role, state) = if waits {
            (Role::Warn, format!(" · waits for `agentctl memory confirm {id}`"))
        } else {
            (Role::Name, String::new())
        };
        lines.push(TextLine::of(role, format!("{id}  {kind}{tags}{state}")));
        lines.extend(known.content.lines().map(|line| TextLine::plain(format!("  {line}"))));
    }
    lines.extend(memory::more(found.len(), all).map(|text| TextLine::of(Role::Dim, text)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_says_what_it_lacks_and_a_memory_that_it_waits() {
        let tool =
            v1::Tool { name: "ocr".into(), missing: "tesseract".into(), ..Default::default() };
        assert_eq!(tools(&[tool])[0].whole(), "ocr  -         missing: tesseract");
        let memory = v1::Memory {
            memory_id: "01M".into(),
            content: "one\ntwo".into(),
            status: v1::MemoryStatus::Quarantined.into(),
            ..Default::default()
        };
        let told = memories(&[v1::FoundMemory { memory: Some(memory), score: 0.0 }], 3);
        let told: Vec<&str> = told.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            told,
            [
                "01M  unspecified, unspecified, quarantined · waits for `agentctl memory confirm 01M`",
                "  one",
                "  two",
                "1 of 3; `agentctl memory list` shows all"
            ]
        );
    }

    #[test]
    fn warnings_of_the_daemon_are_shown_as_such() {
        let told = status(&v1::GetStatusResponse {
            warnings: vec!["the disk is full".into()],
            ..Default::default()
        });
        let warning = told.iter().find(|line| line.role == Role::Warn).unwrap();
        assert_eq!(warning.whole(), "warning   the disk is full");
    }
}

//! What there is to tell of the daemon: its state, tools, memories, costs.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::Role;
use agentd_shared::format::names::tool_effect;
use agentd_shared::text::{grouped, human_bytes, human_duration, human_usd, one_line};

use crate::state::overlay::TextLine;

/// Columns of a label.
const LABEL: usize = 10;

/// How the daemon is.
pub(in crate::state) fn status(status: &v1::GetStatusResponse) -> Vec<TextLine> {
    let started = u64::try_from(status.started_at_ms).unwrap_or(0);
    let up = human_duration(Duration::from_millis(now_ms().saturating_sub(started)));
    let pair = |label: &str, text: &str| TextLine::pair(label, LABEL, text);
    let config = if status.config_file.is_empty() { "none" } else { &status.config_file };
    let mut lines = vec![
        pair("daemon", &format!("{} (pid {}), up {up}", status.version, status.pid)),
        pair("socket", &status.socket),
        pair("data", &status.data_dir),
        pair("config", config),
    ];
    if let Some(provider) = &status.provider {
        let place = match provider.base_url.as_str() {
            "" => String::new(),
            url => format!(" at {url}"),
        };
        lines.push(pair("provider", &format!("{}{place} ({})", provider.kind, provider.source)));
        lines.push(pair("model", &provider.model));
    }
    lines.push(pair(
        "sessions",
        &format!(
            "{} live; {} of {} turns running, {} waiting for a place; {} messages waiting; {} \
             terminals",
            status.live_sessions,
            status.running_turns,
            status.running_turns_limit,
            status.waiting_turns,
            status.queued_messages,
            status.attached_clients
        ),
    ));
    for endpoint in status.endpoints.iter().filter(|endpoint| !endpoint.base_url.is_empty()) {
        let circuit = match endpoint.circuit() {
            v1::CircuitState::Unspecified | v1::CircuitState::Closed => "",
            v1::CircuitState::Open => "; failed too often and is left alone for a while",
            v1::CircuitState::HalfOpen => "; the next request tries whether it is well again",
        };
        let text = format!(
            "{}: {} requests under way, {} waiting{circuit}",
            endpoint.base_url, endpoint.requests, endpoint.waiting_requests
        );
        lines.push(pair("endpoint", &text));
    }
    let disk = format!(
        "{}, {} free on the disk",
        human_bytes(status.store_bytes),
        human_bytes(status.free_disk_bytes)
    );
    lines.push(pair("store", &disk));
    if !status.listen_addresses.is_empty() {
        lines.push(pair("remote", &status.listen_addresses.join(", ")));
    }
    lines.push(pair("memory", &human_bytes(status.resident_bytes)));
    for warning in &status.warnings {
        lines.push(TextLine::of(Role::Warn, format!("warning: {warning}")));
    }
    if !status.warnings.is_empty() {
        lines.push(TextLine::of(Role::Dim, "`agentctl doctor` says what to do"));
    }
    lines
}

/// What requests used and cost, by model.
pub(in crate::state) fn usage(report: &v1::GetUsageResponse) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let total = report.total.iter().map(|row| ("total", row));
    for (key, row) in report.rows.iter().map(|row| (row.key.as_str(), row)).chain(total) {
        let exact = row.exact.unwrap_or_default();
        let estimated = row.estimated.unwrap_or_default();
        let cost = row.cost.unwrap_or_default();
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
        let unpriced = match cost.unpriced_requests {
            0 => String::new(),
            many => format!(" and {many} requests of unknown price"),
        };
        lines.push(TextLine::plain(format!("  {}{unpriced}", human_usd(cost.nano_usd))));
    }
    let (whole, tenth) = (report.cache_hit_permille / 10, report.cache_hit_permille % 10);
    let text = format!("{whole}.{tenth} % of the prompt tokens came from providers' caches");
    lines.push(TextLine::of(Role::Dim, text));
    lines
}

/// All tools.
pub(in crate::state) fn tools(tools: &[v1::Tool]) -> Vec<TextLine> {
    let width = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0).min(32);
    let line = |tool: &v1::Tool| {
        let effect = tool_effect(tool.capabilities.unwrap_or_default().effect());
        if tool.missing.is_empty() {
            let about = one_line(&tool.description, 200);
            TextLine::pair(&tool.name, width, &format!("{effect:<8}  {about}"))
        } else {
            let about = format!("missing: {}", tool.missing);
            TextLine { role: Role::Warn, ..TextLine::pair(&tool.name, width, &about) }
        }
    };
    tools.iter().map(line).collect()
}

/// One tool.
pub(in crate::state) fn tool(tool: &v1::Tool) -> Vec<TextLine> {
    let mut lines = vec![TextLine::of(Role::Heading, &*tool.name)];
    if !tool.missing.is_empty() {
        lines.push(TextLine::of(Role::Warn, format!("missing: {}", tool.missing)));
    }
    lines.extend(tool.description.lines().map(TextLine::plain));
    let does = tool_effect(tool.capabilities.unwrap_or_default().effect());
    lines.push(TextLine::of(Role::Dim, does));
    if !tool.aliases.is_empty() {
        let names = tool.aliases.join(", ");
        lines.push(TextLine::of(Role::Dim, format!("also known as {names}")));
    }
    lines.push(TextLine::of(Role::Heading, "parameters"));
    lines.extend(tool.parameters_json.lines().map(|line| TextLine::of(Role::Code, line)));
    lines
}

/// What is remembered, and what waits for a yes.
pub(in crate::state) fn memories(found: &[v1::FoundMemory], all: u32) -> Vec<TextLine> {
    if found.is_empty() {
        return vec![TextLine::of(Role::Dim, "nothing such is remembered")];
    }
    let mut lines = Vec::new();
    for memory in found.iter().filter_map(|found| found.memory.as_ref()) {
        let waits = memory.status() == v1::MemoryStatus::Quarantined;
        let pinned = if memory.pinned { " · pinned" } else { "" };
        let tags = match memory.tags.as_slice() {
            [] => String::new(),
            tags => format!(" · {}", tags.join(", ")),
        };
        let state = if waits { " · waits for `agentctl memory confirm`" } else { "" };
        let role = if waits { Role::Warn } else { Role::Name };
        lines.push(TextLine::of(role, format!("{}{pinned}{tags}{state}", memory.memory_id)));
        lines.extend(memory.content.lines().map(|line| TextLine::plain(format!("  {line}"))));
    }
    let shown = found.len();
    if usize::try_from(all).is_ok_and(|all| all > shown) {
        let text = format!("{shown} of {all}; `agentctl memory list` shows all");
        lines.push(TextLine::of(Role::Dim, text));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_says_what_it_lacks_and_a_memory_that_it_waits() {
        let tool =
            v1::Tool { name: "ocr".into(), missing: "tesseract".into(), ..Default::default() };
        assert_eq!(tools(&[tool])[0].whole(), "ocr  missing: tesseract");
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
                "01M · waits for `agentctl memory confirm`",
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
        assert_eq!(warning.text, "warning: the disk is full");
    }
}

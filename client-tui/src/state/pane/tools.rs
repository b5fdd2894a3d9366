//! The tools.

use agentd_proto::v1;
use agentd_shared::format::tools::{about, effect, other_names, what_calls_do};
use agentd_shared::text::one_line;

use super::{Detail, Ink, PaneRow};

/// Columns of a description in a list.
const SHOWN: usize = 400;

pub(super) fn heading(tools: &[v1::Tool]) -> String {
    let missing = tools.iter().filter(|tool| !tool.missing.is_empty()).count();
    match missing {
        0 => format!("{} tools", tools.len()),
        missing => format!("{} tools, {missing} of them cannot be used here", tools.len()),
    }
}

fn fitting<'t>(tools: &'t [v1::Tool], words: &str) -> impl Iterator<Item = &'t v1::Tool> {
    let wanted = words.to_lowercase();
    tools.iter().filter(move |tool| {
        let holds = |text: &str| text.to_lowercase().contains(&wanted);
        holds(&tool.name) || holds(&tool.description) || tool.aliases.iter().any(|name| holds(name))
    })
}

pub(super) fn rows(tools: &[v1::Tool], words: &str) -> Vec<PaneRow> {
    fitting(tools, words)
        .map(|tool| PaneRow {
            mark: one_line(&tool.name, 24),
            ink: if tool.missing.is_empty() { Ink::Plain } else { Ink::Warn },
            text: one_line(&tool.description, SHOWN),
            side: if tool.missing.is_empty() { effect(tool) } else { "missing" }.to_owned(),
        })
        .collect()
}

/// A tool with the schema of its arguments.
pub(super) fn detail(tools: &[v1::Tool], words: &str, selected: usize) -> Option<Detail> {
    let tool = fitting(tools, words).nth(selected)?;
    let mut detail = Detail::new(one_line(&tool.name, 60));
    if !tool.missing.is_empty() {
        detail.add(Ink::Warn, &about(tool));
        detail.gap();
    }
    detail.add(Ink::Plain, &tool.description);
    detail.gap();
    for fact in what_calls_do(tool).into_iter().chain(other_names(tool)) {
        detail.add(Ink::Dim, &fact.text);
    }
    detail.gap();
    detail.add(Ink::Heading, "arguments");
    let parsed: Result<serde_json::Value, _> = serde_json::from_str(&tool.parameters_json);
    let pretty = parsed.and_then(|schema| serde_json::to_string_pretty(&schema));
    // What is no JSON is shown as it is.
    detail.add(Ink::Plain, pretty.as_ref().unwrap_or(&tool.parameters_json));
    Some(detail)
}

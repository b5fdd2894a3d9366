//! Names of levels, modes and models as people write them.

use agentd_proto::v1;
use agentd_shared::text::grouped;

/// What there is to know of a model, in a line.
pub(super) fn detail(model: &v1::Model) -> String {
    let mut parts = Vec::new();
    if model.context_tokens > 0 {
        parts.push(format!("{} tokens", grouped(model.context_tokens)));
    }
    parts.extend(model.tools.then(|| "tools".to_owned()));
    parts.extend(model.vision.then(|| "images".to_owned()));
    let efforts: Vec<&str> = model.efforts().map(effort_name).collect();
    if !efforts.is_empty() {
        parts.push(efforts.join(" "));
    }
    if let Some(prices) = &model.prices {
        parts.push(format!("${}/${} per million", prices.prompt, prices.completion));
    }
    parts.join(" · ")
}

const EFFORTS: [(&str, v1::Effort); 7] = [
    ("default", v1::Effort::Unspecified),
    ("off", v1::Effort::Off),
    ("minimal", v1::Effort::Minimal),
    ("low", v1::Effort::Low),
    ("medium", v1::Effort::Medium),
    ("high", v1::Effort::High),
    ("max", v1::Effort::Max),
];
const MODES: [(&str, v1::PermissionMode); 4] = [
    ("plan", v1::PermissionMode::Plan),
    ("ask", v1::PermissionMode::Ask),
    ("auto-edit", v1::PermissionMode::AutoEdit),
    ("full", v1::PermissionMode::Full),
];
const WORKS: [(&str, v1::WorkMode); 6] = [
    ("design", v1::WorkMode::Design),
    ("develop", v1::WorkMode::Develop),
    ("test", v1::WorkMode::Test),
    ("review", v1::WorkMode::Review),
    ("docs", v1::WorkMode::Docs),
    ("devops", v1::WorkMode::Devops),
];

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

fn name_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// The level of a name.
pub(super) fn effort(name: &str) -> Option<v1::Effort> {
    named(&EFFORTS, name)
}

/// The name of a level.
pub(super) fn effort_name(effort: v1::Effort) -> &'static str {
    name_of(&EFFORTS, effort)
}

/// The permission mode of a name.
pub(super) fn mode(name: &str) -> Option<v1::PermissionMode> {
    named(&MODES, name)
}

/// The name of a permission mode.
pub(super) fn mode_name(mode: v1::PermissionMode) -> &'static str {
    name_of(&MODES, mode)
}

/// The work mode of a name.
pub(super) fn work(name: &str) -> Option<v1::WorkMode> {
    named(&WORKS, name)
}

/// The name of a work mode.
pub(super) fn work_name(work: v1::WorkMode) -> &'static str {
    name_of(&WORKS, work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::completion;

    #[test]
    fn what_is_completed_is_understood() {
        assert_eq!(EFFORTS.map(|(name, _)| name), completion::EFFORTS);
        assert_eq!(MODES.map(|(name, _)| name), completion::MODES);
        assert_eq!(WORKS.map(|(name, _)| name), completion::WORKS);
        assert_eq!(effort("HIGH"), Some(v1::Effort::High));
        assert_eq!(mode("auto-edit").map(mode_name), Some("auto-edit"));
        assert_eq!(work("nothing"), None);
    }
}

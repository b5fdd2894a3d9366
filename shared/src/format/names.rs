//! Modes and efforts as people write them.

use agentd_proto::v1;

/// Levels of effort, the least first; the first is what the model does unasked.
pub const EFFORTS: [(&str, v1::Effort); 7] = [
    ("default", v1::Effort::Unspecified),
    ("off", v1::Effort::Off),
    ("minimal", v1::Effort::Minimal),
    ("low", v1::Effort::Low),
    ("medium", v1::Effort::Medium),
    ("high", v1::Effort::High),
    ("max", v1::Effort::Max),
];
/// Permission modes, the strictest first.
pub const PERMISSION_MODES: [(&str, v1::PermissionMode); 4] = [
    ("plan", v1::PermissionMode::Plan),
    ("ask", v1::PermissionMode::Ask),
    ("auto-edit", v1::PermissionMode::AutoEdit),
    ("full", v1::PermissionMode::Full),
];
/// What a session can work on.
pub const WORK_MODES: [(&str, v1::WorkMode); 6] = [
    ("design", v1::WorkMode::Design),
    ("develop", v1::WorkMode::Develop),
    ("test", v1::WorkMode::Test),
    ("review", v1::WorkMode::Review),
    ("docs", v1::WorkMode::Docs),
    ("devops", v1::WorkMode::Devops),
];

/// What one of these tables holds under a name, however it is written.
pub fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

/// The name that one of these tables has for a value; empty for one that it does not hold.
pub fn name_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// The names that one of these tables holds.
pub fn names_of<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(name, _)| *name).collect()
}

/// What a call of a tool may do, in a word or two.
pub fn tool_effect(effect: v1::ToolEffect) -> &'static str {
    match effect {
        v1::ToolEffect::Pure => "computes",
        v1::ToolEffect::WorkspaceRead => "reads",
        v1::ToolEffect::NetworkRead => "network",
        v1::ToolEffect::WorkspaceWrite => "writes",
        v1::ToolEffect::Process => "runs",
        v1::ToolEffect::Exclusive => "acts",
        v1::ToolEffect::Unspecified => "-",
    }
}

/// A permission mode, such as `auto-edit`.
pub fn permission_mode(mode: v1::PermissionMode) -> String {
    written(mode.as_str_name(), "PERMISSION_MODE_")
}

/// What a session works on, such as `review`.
pub fn work_mode(mode: v1::WorkMode) -> String {
    written(mode.as_str_name(), "WORK_MODE_")
}

/// A level of effort, such as `high`.
pub fn effort(effort: v1::Effort) -> String {
    written(effort.as_str_name(), "EFFORT_")
}

/// How important a memory is, such as `high`.
pub fn memory_priority(priority: v1::MemoryPriority) -> String {
    written(priority.as_str_name(), "MEMORY_PRIORITY_")
}

/// What kind a memory is of, such as `preference`.
pub fn memory_category(category: v1::MemoryCategory) -> String {
    written(category.as_str_name(), "MEMORY_CATEGORY_")
}

/// What has become of a memory, such as `quarantined`.
pub fn memory_status(status: v1::MemoryStatus) -> String {
    written(status.as_str_name(), "MEMORY_STATUS_")
}

fn written(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_they_are_typed() {
        assert_eq!(permission_mode(v1::PermissionMode::AutoEdit), "auto-edit");
        assert_eq!(work_mode(v1::WorkMode::Devops), "devops");
        assert_eq!(effort(v1::Effort::Minimal), "minimal");
        assert_eq!(named(&EFFORTS, "HIGH"), Some(v1::Effort::High));
        assert_eq!(named(&WORK_MODES, "nothing"), None);
        assert_eq!(name_of(&PERMISSION_MODES, v1::PermissionMode::Unspecified), "");
    }

    #[cfg(feature = "clap")]
    #[test]
    fn options_take_the_names_of_the_tables() {
        use clap::ValueEnum;

        use crate::{EffortArg, ModeArg, WorkArg};

        fn options<T: ValueEnum>() -> Vec<String> {
            let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            values.map(|value| value.get_name().to_owned()).collect()
        }
        assert_eq!(options::<EffortArg>(), EFFORTS.map(|(name, _)| name));
        assert_eq!(options::<ModeArg>(), PERMISSION_MODES.map(|(name, _)| name));
        assert_eq!(options::<WorkArg>(), WORK_MODES.map(|(name, _)| name));
    }
}

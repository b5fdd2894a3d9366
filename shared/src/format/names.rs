//! Modes and efforts as people write them.

use agentd_proto::v1;

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
    }
}

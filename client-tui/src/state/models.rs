//! Names of levels, modes and models as people write them.

use agentd_proto::v1;
use agentd_shared::format::names::{EFFORTS, PERMISSION_MODES, WORK_MODES, name_of, named};
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
    named(&PERMISSION_MODES, name)
}

/// The name of a permission mode.
pub(super) fn mode_name(mode: v1::PermissionMode) -> &'static str {
    name_of(&PERMISSION_MODES, mode)
}

/// The work mode of a name.
pub(super) fn work(name: &str) -> Option<v1::WorkMode> {
    named(&WORK_MODES, name)
}

/// The name of a work mode.
pub(super) fn work_name(work: v1::WorkMode) -> &'static str {
    name_of(&WORK_MODES, work)
}

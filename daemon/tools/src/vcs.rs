//! Tools for the repository that the workspace is. They run git itself, in the sandbox, and none of
//! the programs that a repository's settings name.

pub(crate) mod git;
pub(crate) mod git_commit;
mod hardened;
mod identity;
mod names;
mod plain;

pub(crate) use identity::user_settings;
pub(crate) use plain::{has_hooks, is_plain_repository};

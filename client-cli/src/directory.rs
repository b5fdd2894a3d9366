//! Directories of the command line, as the daemon knows them.

use std::path::Path;

use agentd_shared::Endpoint;

use crate::exit::{Exit, Failure};

/// The absolute path of a directory that is named on the command line. A path of another machine is
/// none of this one: it is taken as it is.
///
/// # Errors
/// A report when there is no such directory, or another machine cannot know where it is.
pub(crate) fn named(endpoint: &Endpoint, path: &Path) -> Result<String, Failure> {
    let path = match endpoint.is_remote() {
        true if path.has_root() => path.to_owned(),
        true => {
            return Err(Failure::new(Exit::Usage, format!("cannot use {}", path.display()))
                .because("the daemon is on another machine")
                .hint("give the absolute path of the directory there"));
        }
        false => path.canonicalize().map_err(|error| {
            Failure::new(Exit::NotFound, format!("cannot use {}", path.display())).because(error)
        })?,
    };
    path.into_os_string()
        .into_string()
        .map_err(|path| Failure::new(Exit::Usage, format!("{} is not UTF-8", path.display())))
}

/// The directory where the user stands; none on another machine, which does not have it.
///
/// # Errors
/// A report when it is gone, or has no name that can be told.
pub(crate) fn current(endpoint: &Endpoint) -> Result<Option<String>, Failure> {
    if endpoint.is_remote() { Ok(None) } else { named(endpoint, Path::new(".")).map(Some) }
}

//! The directories that a session works in: its workspace, and further ones.
//!
//! None lies in another, so that each file has one name, and none is replaced by a link later: they
//! are kept without links.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::SessionRecord;
use agentd_tools::Registry;

use crate::engine::check_workspace;
use crate::error::CommandError;

/// Where a session works.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    /// Relative paths are below it.
    pub(crate) workspace: PathBuf,
    /// Those beside it.
    pub(crate) further: Arc<[PathBuf]>,
}

impl Roots {
    pub(crate) fn of(record: &SessionRecord) -> Self {
        let further = record.further_roots.iter().map(PathBuf::from).collect();
        Self { workspace: PathBuf::from(&record.workspace), further }
    }

    /// One directory.
    pub(crate) fn only(workspace: PathBuf) -> Self {
        Self { workspace, further: Arc::default() }
    }
}

/// Most further directories of a session.
const MAX_FURTHER_ROOTS: usize = 8;

/// Checks further directories, and gives them without links.
///
/// # Errors
/// When one cannot be used, holds another one or lies in it, or is the daemon's own.
pub(crate) async fn check(
    workspace: &str,
    further: &[String],
    tools: &Registry,
) -> Result<Vec<String>, CommandError> {
    let fail = |path: &str, problem: String| CommandError::FurtherRoot {
        path: agentd_domain::cut_line(path, 200),
        problem,
    };
    if further.len() > MAX_FURTHER_ROOTS {
        let path = further.last().map_or("", String::as_str);
        return Err(fail(path, format!("is one too many: at most {MAX_FURTHER_ROOTS} are taken")));
    }
    let mut known: Vec<PathBuf> = Vec::with_capacity(further.len() + 1);
    if !further.is_empty() {
        known.push(real(workspace).await.map_err(|error| fail(workspace, cannot(&error)))?);
    }
    let mut checked = Vec::with_capacity(further.len());
    for path in further {
        match check_workspace(path).await {
            Ok(()) => {}
            Err(CommandError::Workspace { problem, .. }) => return Err(fail(path, problem)),
            Err(error) => return Err(error),
        }
        let real = real(path).await.map_err(|error| fail(path, cannot(&error)))?;
        if let Some(other) = known.iter().find(|other| real.starts_with(other)) {
            return Err(fail(path, format!("is in {} already", other.display())));
        }
        if let Some(other) = known.iter().find(|other| other.starts_with(&real)) {
            return Err(fail(path, format!("holds {}; give that one alone", other.display())));
        }
        if tools.keeps_private(&real) {
            return Err(fail(path, "is the daemon's own".to_owned()));
        }
        let text = real.to_str().filter(|text| !text.chars().any(char::is_control));
        let text = text.ok_or_else(|| fail(path, "has a name that cannot be told".to_owned()))?;
        checked.push(text.to_owned());
        known.push(real);
    }
    Ok(checked)
}

async fn real(path: &str) -> std::io::Result<PathBuf> {
    tokio::fs::canonicalize(Path::new(path)).await
}

fn cannot(error: &std::io::Error) -> String {
    format!("cannot be used: {error}")
}

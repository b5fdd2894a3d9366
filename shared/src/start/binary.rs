//! Finds the program `agentd`.

use std::path::{Path, PathBuf};

use super::StartError;

/// Returns the program's absolute path: as wanted, else `AGENTD_BIN`, else beside this program, else
/// in `PATH`. What is named outright is not looked for elsewhere.
///
/// # Errors
/// [`StartError::NoBinary`] with the places that were looked at.
pub fn find_agentd(wanted: Option<&Path>) -> Result<PathBuf, StartError> {
    let variable = std::env::var_os("AGENTD_BIN").filter(|path| !path.is_empty());
    let named = wanted.map(Path::to_path_buf).or_else(|| variable.map(PathBuf::from));
    let candidates = named.map_or_else(usual_places, |path| vec![path]);
    let found = candidates.iter().filter(|path| path.is_file()).find_map(|path| {
        // The daemon starts in another directory.
        std::path::absolute(path).ok()
    });
    found.ok_or_else(|| {
        let looked_at: Vec<String> =
            candidates.iter().map(|path| path.display().to_string()).collect();
        StartError::NoBinary { looked_at: looked_at.join(", ") }
    })
}

fn usual_places() -> Vec<PathBuf> {
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .into_iter()
        .chain(std::env::split_paths(&path))
        .filter(|dir| !dir.as_os_str().is_empty())
        .map(|dir| dir.join("agentd"))
        .collect()
}

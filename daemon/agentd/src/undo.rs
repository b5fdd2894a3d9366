//! Where copies of what changes of files have replaced are kept.

use std::path::PathBuf;
use std::sync::Arc;

use agentd_tools::{CopyLimits, UndoCopies};

/// Opens the copies. That they cannot be kept is no reason not to run: then they are in memory, and
/// the warning says so.
pub(crate) async fn open(dir: PathBuf) -> (Option<Arc<UndoCopies>>, Option<String>) {
    let shown = dir.display().to_string();
    let opened =
        tokio::task::spawn_blocking(move || UndoCopies::open(&dir, CopyLimits::default())).await;
    match opened.map_err(std::io::Error::from).and_then(|opened| opened) {
        Ok(copies) => (Some(Arc::new(copies)), None),
        Err(error) => {
            tracing::warn!(dir = shown, %error, "no copies of what changes replace can be kept");
            let warning = format!(
                "changes of files can be taken back only until the daemon stops: {shown} cannot be \
                 used: {error}"
            );
            (None, Some(warning))
        }
    }
}

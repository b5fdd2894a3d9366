//! What keeps other daemons away from the data and from the socket.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentd_store::{InstanceLock, LockError};
use tokio::time::Instant;

/// How long a start waits for a daemon that is on its way out.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
/// Pause between two looks at the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// Held as long as the daemon runs.
#[derive(Debug)]
pub(super) struct Locks {
    pub(super) data: InstanceLock,
    /// None when systemd owns the socket.
    pub(super) socket: Option<InstanceLock>,
}

/// Goes on holding a lock that the run before this one held; takes it where that is not possible.
pub(super) async fn hold_lock(held: Option<File>, file: &Path) -> Result<InstanceLock, LockError> {
    if let Some(held) = held {
        match InstanceLock::adopt(held, file) {
            Ok(lock) => return Ok(lock),
            Err(error) => tracing::warn!(%error, "a lock that was handed over is taken anew"),
        }
    }
    take_lock(file).await
}

pub(super) async fn take_lock(file: &Path) -> Result<InstanceLock, LockError> {
    let patience = Instant::now() + LOCK_PATIENCE;
    loop {
        match InstanceLock::acquire(file) {
            Err(LockError::Held { .. }) if Instant::now() < patience => {
                tokio::time::sleep(LOCK_PAUSE).await;
            }
            taken => return taken,
        }
    }
}

/// The path with something behind its last part.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

//! The lock that makes one client at a time start a daemon.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::{StartError, log};

/// How often to try. A thread that blocks in the kernel could not be called off.
const TRY_INTERVAL: Duration = Duration::from_millis(25);

/// Waits for the lock, which the returned file holds until it is dropped. The kernel frees it also
/// when its holder is killed, and the daemon does not inherit it.
pub(super) async fn acquire(path: &Path, deadline: Instant) -> Result<File, StartError> {
    let failed = |source| StartError::Lock { path: path.to_path_buf(), source };
    let file = log::private_file(path, OpenOptions::new().write(true)).map_err(failed)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(StartError::LockBusy { path: path.to_path_buf() });
            }
            Err(TryLockError::WouldBlock) => tokio::time::sleep(TRY_INTERVAL).await,
        }
    }
}

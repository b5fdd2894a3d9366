//! The thread that starts programs.
//!
//! A box ends with the thread that started it (`--die-with-parent` asks the kernel for that), and
//! threads of a runtime come and go. This one lives as long as the sandbox and all of its children.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Starts that wait; each takes about a millisecond.
const WAITING: usize = 16;

#[derive(Debug, Clone)]
pub(crate) struct Spawner {
    jobs: Arc<SyncSender<Job>>,
}

#[derive(Debug)]
struct Job {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

impl Spawner {
    /// Starts the thread; it ends with the last handle.
    ///
    /// # Errors
    /// When there can be no more threads.
    pub(crate) fn start() -> io::Result<Self> {
        let (jobs, waiting) = sync_channel::<Job>(WAITING);
        std::thread::Builder::new().name("sandbox-spawner".to_owned()).spawn(move || {
            for Job { mut command, runtime, reply } in waiting {
                let _entered = runtime.enter();
                // Nobody waits any more: the child is dropped, which ends it.
                let _unheard = reply.send(command.spawn());
            }
        })?;
        Ok(Self { jobs: Arc::new(jobs) })
    }

    /// Starts a program.
    ///
    /// # Errors
    /// Of the system; `ResourceBusy` when too many starts wait.
    pub(crate) async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (reply, started) = oneshot::channel();
        let job = Job { command, runtime: Handle::current(), reply };
        self.jobs
            .try_send(job)
            .map_err(|error| io::Error::new(io::ErrorKind::ResourceBusy, error.to_string()))?;
        started.await.map_err(io::Error::other)?
    }
}

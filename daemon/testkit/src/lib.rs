//! What tests need and products do not: the scripted model server and, with the feature `daemon`, the
//! daemon in process, the daemon as a process that can be killed, clients and terminals.
//!
//! Its one job is to put the code under test into situations that real services seldom produce on
//! demand. It must never be a dependency of anything but tests and benchmarks. Servers and daemons
//! own their tasks and processes: dropping one ends them.

mod llm_server;
mod meaning;
mod page;
mod static_model;

#[cfg(feature = "daemon")]
mod clock;
#[cfg(feature = "daemon")]
mod daemon;
#[cfg(feature = "daemon")]
mod driver;
#[cfg(feature = "daemon")]
mod heap;
#[cfg(feature = "daemon")]
mod home;
#[cfg(feature = "daemon")]
mod log_watch;
#[cfg(feature = "daemon")]
mod passage;
#[cfg(feature = "daemon")]
mod process_daemon;
#[cfg(feature = "daemon")]
mod pty;
#[cfg(feature = "daemon")]
mod tools;

pub use llm_server::{Api, ChaosRates, Gate, LlmServer, Pace, RecordedRequest, Reply};
pub use page::{Page, verbatim};
pub use static_model::StaticModelFiles;

#[cfg(feature = "daemon")]
pub use clock::{FakeClock, SeqIds};
#[cfg(feature = "daemon")]
pub use daemon::{Daemon, DaemonBuilder};
#[cfg(feature = "daemon")]
pub use driver::{Driver, PATIENCE};
#[cfg(feature = "daemon")]
pub use heap::{CountingAllocator, HeapUse};
#[cfg(feature = "daemon")]
pub use home::Home;
#[cfg(feature = "daemon")]
pub use passage::Passage;
#[cfg(feature = "daemon")]
pub use process_daemon::{CRASH_AT, Ended, LOG_RECORDS, ProcessDaemon, ProcessDaemonBuilder};
#[cfg(feature = "daemon")]
pub use pty::{Cell, Color, CursorStyle, Modes, Pty, PtyBuilder, Screen};
#[cfg(feature = "daemon")]
pub use tools::{AppendLine, FixedOutput, SlowRead};

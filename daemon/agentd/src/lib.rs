//! The daemon: wiring, gRPC services, lifecycle.
//!
//! Its one job is to put the engine, the store, the models and the tools together, to serve them on
//! a socket, and to start and stop in an orderly way. It is the only daemon crate that knows the wire
//! format. It owns the process: the lock, the socket, the configuration. Read `daemon.rs` first.

pub mod allocator;
pub mod config;
pub mod control;
pub mod daemon;
pub mod embeddings;
mod environment;
pub mod logging;
pub mod provider;
pub mod remote;
pub mod supervisor;
pub mod traces;
mod undo;
pub mod upgrade;
mod upkeep;

mod access;
mod backups;
mod checks;
mod grpc;
mod listener;
mod metrics;
mod private_file;
mod process;
mod submit;

pub use access::TokenFileError;
pub use agentd_store::CrashPoints;
pub use daemon::{Daemon, DaemonOptions, Served, StartError, check_start};
pub use environment::Environment;
pub use supervisor::Supervisor;
pub use traces::Traces;

//! What the daemon and its clients share: where things are, and how a client talks to the daemon.
//!
//! Its one job is that every client behaves alike: it finds the daemon, starts it when none runs,
//! stays attached through restarts, folds events into the same transcript, says the same of them in
//! the same words, and lets no foreign text reach a terminal unchecked. It knows nothing of the
//! daemon's crates. It makes styled text, but owns no terminal: where and when that is drawn is up to
//! the client.
//!
//! Feature `paths` (default) has no tokio and no tonic and is all that the daemon takes; feature
//! `connect` is for clients, `clap` for those with a command line, and `format` for those that people
//! look at. The only tasks that this crate starts are owned by an [`AttachStream`] or a
//! [`SessionWatchStream`].

pub mod client_config;
pub mod identity;
pub mod paths;
pub mod text;

mod error_chain;
mod error_kind;

#[cfg(feature = "connect")]
pub mod attachment;
#[cfg(feature = "connect")]
pub mod client;
#[cfg(feature = "connect")]
pub mod client_ids;
#[cfg(feature = "connect")]
pub mod connect;
#[cfg(feature = "connect")]
pub mod connect_args;
#[cfg(feature = "connect")]
pub mod connector;
#[cfg(feature = "connect")]
pub mod contexts;
#[cfg(feature = "connect")]
pub mod directory;
#[cfg(feature = "connect")]
pub mod follow;
#[cfg(feature = "format")]
pub mod format;
#[cfg(feature = "connect")]
pub mod ids;
#[cfg(feature = "format")]
pub mod input;
#[cfg(feature = "connect")]
mod lasting;
#[cfg(feature = "connect")]
pub mod position;
#[cfg(feature = "connect")]
pub mod read_cursor;
#[cfg(feature = "connect")]
pub mod remote;
#[cfg(feature = "connect")]
pub mod session_args;
#[cfg(feature = "connect")]
pub mod session_board;
#[cfg(feature = "connect")]
pub mod session_watch;
#[cfg(feature = "connect")]
pub mod setup;
#[cfg(feature = "connect")]
pub mod start;
#[cfg(feature = "connect")]
pub mod status_error;
#[cfg(feature = "connect")]
pub mod submit;
#[cfg(feature = "connect")]
pub mod transcript;
#[cfg(feature = "connect")]
pub mod which;

pub use client_config::ClientConfig;
pub use error_chain::{chain, why};
pub use error_kind::ErrorKind;
pub use identity::Identity;
pub use paths::{Paths, PathsError, ensure_config_dir, ensure_private_dir};

#[cfg(feature = "connect")]
pub use attachment::{
    AttachEvent, AttachPosition, AttachStream, AttachTarget, Attachment, Recovery,
};
#[cfg(feature = "connect")]
pub use client::{Client, with_deadline};
#[cfg(feature = "connect")]
pub use connect::{ConnectError, DaemonChannel, Endpoint, connect};
#[cfg(feature = "connect")]
pub use connect_args::{ConnectArgs, RemoteArgs};
#[cfg(feature = "connect")]
pub use connector::{BrokenConfig, Connector, ConnectorError, Server, ServerError};
#[cfg(feature = "connect")]
pub use contexts::{Context, Contexts, ContextsError};
#[cfg(feature = "connect")]
pub use directory::DirectoryError;
#[cfg(feature = "connect")]
pub use follow::{Follow, Outcome};
#[cfg(feature = "connect")]
pub use ids::ResolveError;
#[cfg(feature = "connect")]
pub use position::first_position;
#[cfg(feature = "connect")]
pub use read_cursor::ReadCursor;
#[cfg(feature = "connect")]
pub use remote::{Remote, RemoteError, RemoteOptions, RemoteProblem, Token};
#[cfg(feature = "connect")]
pub use session_args::{EffortArg, ModeArg, WhichSession, Wishes, WorkArg};
#[cfg(feature = "connect")]
pub use session_board::{Attention, BoardChange, SessionBoard, Tally, is_unread};
#[cfg(feature = "connect")]
pub use session_watch::{SessionWatch, SessionWatchStream, WatchEvent};
#[cfg(feature = "connect")]
pub use start::{Holder, StartError, StartOptions, data_dir_holder, ensure_running};
#[cfg(feature = "connect")]
pub use status_error::RpcError;
#[cfg(feature = "connect")]
pub use submit::Outgoing;
#[cfg(feature = "connect")]
pub use transcript::{Change, Transcript};
#[cfg(feature = "connect")]
pub use which::{ChooseError, Chosen};

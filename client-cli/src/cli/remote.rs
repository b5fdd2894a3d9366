//! The command line's part about daemons on other machines.

use clap::Args;
use std::path::PathBuf;

/// How to reach a daemon on another machine. There is no option for the token itself: everybody on the
/// machine can read the arguments of a process.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Daemons on other machines")]
pub(crate) struct RemoteArgs {
    /// Daemon on another machine, such as https://host:7443
    #[arg(long, global = true, value_name = "URL", conflicts_with = "socket")]
    pub(crate) server: Option<String>,
    /// Named server, see `agentctl context`; `local` is the daemon on this machine
    #[arg(long, global = true, value_name = "NAME", conflicts_with_all = ["socket", "server"])]
    pub(crate) context: Option<String>,
    /// File with the token and nothing else, mode 0600; `-` is stdin
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// PEM file with the CA of the daemon's certificate
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// PEM file with a certificate of this client
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_cert: Option<PathBuf>,
    /// PEM file with its key, mode 0600
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_key: Option<PathBuf>,
    /// Name that the daemon's certificate is for, when it is not the URL's
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) server_name: Option<String>,
}

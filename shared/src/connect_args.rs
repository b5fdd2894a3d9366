//! The options by which every client finds its daemon, so that all of them take the same.
//!
//! With the feature `clap` they can be flattened into a command line.

use std::path::PathBuf;

/// Which daemon is meant, who asks, and whether a daemon may be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Global options"))]
pub struct ConnectArgs {
    /// Folder that holds configuration, data, state and socket
    #[cfg_attr(
        feature = "clap",
        arg(long, global = true, value_name = "DIR", env = "AGENTD_HOME", hide_env = true)
    )]
    pub home: Option<PathBuf>,
    /// Socket of a daemon that runs already; none is started
    #[cfg_attr(feature = "clap", arg(long, global = true, value_name = "PATH"))]
    pub socket: Option<PathBuf>,
    /// Name that stands for this terminal and keeps its place in each session
    #[cfg_attr(feature = "clap", arg(long, global = true, value_name = "NAME"))]
    pub client: Option<String>,
    /// Do not start a daemon when none runs
    #[cfg_attr(feature = "clap", arg(long, global = true))]
    pub no_start: bool,
    /// How to reach a daemon on another machine.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub remote: RemoteArgs,
}

/// How to reach a daemon on another machine. There is no option for the token itself: everybody on the
/// machine can read the arguments of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Daemons on other machines"))]
pub struct RemoteArgs {
    /// Daemon on another machine, such as https://host:7443
    #[cfg_attr(
        feature = "clap",
        arg(long, global = true, value_name = "URL", conflicts_with = "socket")
    )]
    pub server: Option<String>,
    /// Named server, see `agentctl context`; `local` is the daemon on this machine
    #[cfg_attr(
        feature = "clap",
        arg(long, global = true, value_name = "NAME", conflicts_with_all = ["socket", "server"])
    )]
    pub context: Option<String>,
    /// File with the token and nothing else, mode 0600; `-` is stdin
    #[cfg_attr(feature = "clap", arg(long, global = true, value_name = "FILE"))]
    pub token_file: Option<PathBuf>,
    /// PEM file with the CA of the daemon's certificate
    #[cfg_attr(feature = "clap", arg(long, global = true, value_name = "FILE"))]
    pub ca: Option<PathBuf>,
    /// PEM file with a certificate of this client
    #[cfg_attr(feature = "clap", arg(long, global = true, value_name = "FILE"))]
    pub client_cert: Option<PathBuf>,
    /// PEM file with its key, mode 0600
    #[cfg_attr(feature = "clap", arg(long, global = true, value_name = "FILE"))]
    pub client_key: Option<PathBuf>,
    /// Name that the daemon's certificate is for, when it is not the URL's
    #[cfg_attr(feature = "clap", arg(long, global = true, value_name = "NAME"))]
    pub server_name: Option<String>,
}

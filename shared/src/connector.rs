//! The way from a client's options to its daemon: which one is meant, where it is, and starting it.
//!
//! A [`Connector`] holds what does not change while a client runs. It prints nothing; what a client
//! tells its user comes back as errors, or through the closure that [`Connector::client`] takes.

mod error;
mod server;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use agentd_proto::v1;

use crate::attachment::{AttachPosition, AttachStream, AttachTarget, Attachment, Recovery};
use crate::client::Client;
use crate::client_config::{ClientConfig, ClientConfigError, LoadedClientConfig};
use crate::connect::{ConnectError, Endpoint};
use crate::connect_args::{ConnectArgs, RemoteArgs};
use crate::identity::Identity;
use crate::paths::{Paths, check_socket_path};
use crate::session_watch::{SessionWatch, SessionWatchStream};
use crate::start::{Holder, StartOptions, data_dir_holder, ensure_running};

pub use error::{ConnectorError, NotListening, ServerError};
pub use server::Server;

/// Longest wait for a daemon that runs to answer at all.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// How often a daemon is looked for or started when it ends at the very moment.
const ATTEMPTS: u32 = 3;
/// How long nothing is said while the daemon is started or waited for.
const SILENCE: Duration = Duration::from_secs(2);

/// What a client does about a configuration that it cannot use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenConfig {
    /// Does nothing and says why.
    Refuse,
    /// Goes on with the defaults; [`Connector::broken_config`] says what is wrong.
    UseDefaults,
}

/// Knows which daemon a client talks to, and how to get there.
#[derive(Debug)]
pub struct Connector {
    paths: Paths,
    identity: Identity,
    config: ClientConfig,
    warnings: Vec<String>,
    broken_config: Option<ClientConfigError>,
    socket: Option<PathBuf>,
    /// A daemon on another machine.
    server: Option<Server>,
    may_start: bool,
    named: bool,
}

impl Connector {
    /// Reads the environment and the configuration.
    ///
    /// # Errors
    /// [`ConnectorError`] when the paths cannot be used, or the configuration where that is refused.
    pub fn new(args: &ConnectArgs, broken_config: BrokenConfig) -> Result<Self, ConnectorError> {
        let paths = match args.home.as_deref().filter(|home| !home.as_os_str().is_empty()) {
            Some(home) => match std::path::absolute(home) {
                Ok(home) => Paths::under(home),
                Err(source) => {
                    return Err(ConnectorError::Home { home: home.to_owned(), source });
                }
            },
            None => Paths::from_env().map_err(ConnectorError::Paths)?,
        };
        let (loaded, broken_config) =
            match (ClientConfig::load(&paths.config_file()), broken_config) {
                (Ok(loaded), _) => (loaded, None),
                (Err(error), BrokenConfig::Refuse) => return Err(ConnectorError::Config(error)),
                (Err(error), BrokenConfig::UseDefaults) => {
                    (LoadedClientConfig::default(), Some(error))
                }
            };
        let LoadedClientConfig { config, warnings } = loaded;
        Ok(Self {
            identity: Identity::detect(args.client.as_deref()),
            // A socket that was named outright belongs to a daemon that somebody else looks after.
            may_start: !args.no_start && args.socket.is_none() && config.start_daemon,
            socket: args.socket.clone(),
            server: None,
            named: args.client.is_some()
                || std::env::var_os("AGENTCTL_CLIENT").is_some_and(|name| !name.is_empty()),
            config,
            warnings,
            broken_config,
            paths,
        })
    }

    /// Finds out which daemon the user means. Without this it is the one on this machine.
    ///
    /// # Errors
    /// [`ConnectorError::Server`] when what is meant cannot be used.
    pub fn choose_server(&mut self, args: &RemoteArgs) -> Result<(), ConnectorError> {
        if self.socket.is_none() {
            self.server = Server::choose(args, &self.paths)?;
            // Nobody can start a daemon elsewhere.
            self.may_start &= self.server.is_none();
        }
        Ok(())
    }

    /// Where files are.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Who we are.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Us, as the wire has it.
    pub fn author(&self) -> v1::Author {
        self.identity.author()
    }

    /// How clients behave.
    pub fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// What was odd about the configuration, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Why the defaults are used instead of the configuration.
    pub fn broken_config(&self) -> Option<&ClientConfigError> {
        self.broken_config.as_ref()
    }

    /// The daemon on another machine, when that is meant.
    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// Whether a daemon that does not run may be started.
    pub fn may_start(&self) -> bool {
        self.may_start
    }

    /// Whether the user has given this terminal or script a name.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// Where the daemon listens.
    ///
    /// # Errors
    /// [`ConnectorError::Paths`] when the path of its socket is too long.
    pub fn endpoint(&self) -> Result<Endpoint, ConnectorError> {
        if let Some(server) = &self.server {
            return Ok(server.endpoint.clone());
        }
        let socket = self.socket.clone().unwrap_or_else(|| self.paths.socket());
        check_socket_path(&socket).map_err(ConnectorError::Paths)?;
        Ok(Endpoint::new(socket))
    }

    /// Connects to the daemon, starting one if that is allowed. `on_wait` is called when that takes
    /// so long that the user should be told, once for each attempt.
    ///
    /// # Errors
    /// [`ConnectorError`] when there is no daemon and none can be started.
    pub async fn client(&self, mut on_wait: impl FnMut()) -> Result<Client, ConnectorError> {
        if !self.may_start {
            return self.running_client().await;
        }
        let options = StartOptions::default();
        let mut attempts = ATTEMPTS;
        loop {
            attempts -= 1;
            let mut running = std::pin::pin!(ensure_running(&self.paths, &options));
            let at_once = tokio::time::timeout(SILENCE, &mut running).await;
            let endpoint = if let Ok(endpoint) = at_once {
                endpoint
            } else {
                on_wait();
                running.await
            };
            match Client::connect(&endpoint?).await {
                Ok(client) => return Ok(client),
                // It went away after it had answered.
                Err(ConnectError::NotRunning { .. } | ConnectError::Stopping { .. })
                    if attempts > 0 => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Connects to a daemon that runs already.
    ///
    /// # Errors
    /// [`ConnectorError`] when there is none, or it does not answer.
    pub async fn running_client(&self) -> Result<Client, ConnectorError> {
        if let Some(client) = self.try_running_client().await? {
            return Ok(client);
        }
        if let Some(holder) = self.data_dir_holder() {
            return Err(self.held(holder));
        }
        let socket = self.endpoint()?.socket().to_path_buf();
        Err(ConnectError::NotRunning { socket }.into())
    }

    /// Connects to a daemon that runs already; `None` when there is none.
    ///
    /// # Errors
    /// [`ConnectorError`] when there is one that does not answer.
    pub async fn try_running_client(&self) -> Result<Option<Client>, ConnectorError> {
        let answered = match Client::connect(&self.endpoint()?).await {
            Ok(client) => client.check_serving(ANSWER_PATIENCE).await.map(|()| client),
            Err(error) => Err(error),
        };
        match answered {
            Ok(client) => Ok(Some(client)),
            Err(ConnectError::NotRunning { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts a daemon when none runs and that is allowed, for a command that is tried again.
    pub async fn revive(&self) {
        if self.may_start {
            // The retried command reports what is wrong.
            drop(ensure_running(&self.paths, &StartOptions::default()).await);
        }
    }

    /// Who has the data directory, whether it listens or not. Nothing is known of that for a socket
    /// that was named outright.
    pub fn data_dir_holder(&self) -> Option<Holder> {
        self.is_usual().then(|| data_dir_holder(&self.paths)).flatten()
    }

    /// Whether the daemon that is meant is this user's usual one, with the files of [`Self::paths`].
    pub fn is_usual(&self) -> bool {
        self.socket.is_none() && self.server.is_none()
    }

    /// The error for a daemon that has the data directory and does not listen.
    pub fn held(&self, holder: Holder) -> ConnectorError {
        ConnectorError::Held {
            pid: holder.pid,
            source: NotListening {
                data_dir: self.paths.data_dir.clone(),
                socket: self.paths.socket(),
            },
        }
    }

    /// Attaches this terminal to a session, on a connection of its own. Call it inside a tokio runtime.
    pub fn attach(
        &self,
        client: &Client,
        session_id: &str,
        position: AttachPosition,
    ) -> AttachStream {
        let target = AttachTarget {
            session_id: session_id.to_owned(),
            identity: self.identity.clone(),
            position,
        };
        Attachment::open(client.endpoint().clone(), target, self.recovery())
    }

    /// Watches all sessions, on a connection of its own; a snapshot has at most `limit` of them. Call it
    /// inside a tokio runtime.
    pub fn watch_sessions(&self, client: &Client, limit: u32) -> SessionWatchStream {
        SessionWatch::open(client.endpoint().clone(), limit, self.recovery())
    }

    /// What to do about a daemon that goes away.
    fn recovery(&self) -> Recovery {
        if self.may_start {
            Recovery::Restart { paths: self.paths.clone(), options: StartOptions::default() }
        } else {
            Recovery::Wait
        }
    }
}

//! What every command works with: output, paths, identity, and the way to the daemon.

use std::path::PathBuf;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::client_config::{LoadedClientConfig, When};
use agentd_shared::paths::check_socket_path;
use agentd_shared::{
    AttachPosition, AttachStream, AttachTarget, Attachment, Client, ClientConfig, ConnectError,
    Endpoint, ErrorKind, Holder, Identity, Paths, PathsError, Recovery, RpcError, StartError,
    StartOptions, data_dir_holder, ensure_running,
};

use crate::cli::Global;
use crate::exit::{Exit, Failure, chain};
use crate::output::{ColorChoice, Output};
use crate::server::{self, Server};

/// Longest wait for a daemon that runs to answer at all.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// How often a daemon is looked for or started when it ends at the very moment.
const ATTEMPTS: u32 = 3;
/// How long nothing is said while the daemon is started or waited for.
const SILENCE: Duration = Duration::from_secs(2);

/// The surroundings of one command.
#[derive(Debug)]
pub(crate) struct App {
    /// Where text goes.
    pub(crate) output: Output,
    /// Where files are.
    pub(crate) paths: Paths,
    /// Who we are.
    pub(crate) identity: Identity,
    /// How clients behave.
    pub(crate) config: ClientConfig,
    socket: Option<PathBuf>,
    /// A daemon on another machine.
    server: Option<Server>,
    may_start: bool,
    /// The user has given this terminal or script a name.
    named: bool,
}

/// What a command does about a configuration that its client cannot use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrokenConfig {
    /// Does nothing and says why.
    Refuse,
    /// Goes on with the defaults and says so: it looks at what is wrong, or stops it.
    Warn,
    /// Has the daemon's program say what is wrong with it, or where it is.
    Pass,
}

impl App {
    /// Reads the environment and the configuration.
    ///
    /// # Errors
    /// A report when the paths cannot be used, or the configuration where that is refused.
    pub(crate) fn new(global: &Global, broken_config: BrokenConfig) -> Result<Self, Failure> {
        let paths = match global.home.as_deref().filter(|home| !home.as_os_str().is_empty()) {
            Some(home) => match std::path::absolute(home) {
                Ok(home) => Paths::under(home),
                Err(error) => {
                    let what = format!("--home {} cannot be used", home.display());
                    return Err(Failure::new(Exit::Usage, what).because(error));
                }
            },
            None => Paths::from_env().map_err(|error| paths_failure(&error))?,
        };
        let file = paths.config_file();
        let loaded = match (ClientConfig::load(&file), broken_config) {
            (Ok(loaded), _) => loaded,
            (Err(error), BrokenConfig::Refuse) => {
                return Err(Failure::new(Exit::Usage, "the configuration cannot be used")
                    .because(chain(&error))
                    .hint(error.hint()));
            }
            (Err(error), BrokenConfig::Warn) => {
                let defaults = "this command goes on with the defaults of [client]";
                LoadedClientConfig {
                    warnings: vec![format!("{}\n  {}; {defaults}", chain(&error), error.hint())],
                    ..LoadedClientConfig::default()
                }
            }
            (Err(_told_by_the_command), BrokenConfig::Pass) => LoadedClientConfig::default(),
        };
        let color = match (global.color, loaded.config.color) {
            (ColorChoice::Auto, When::Always) => ColorChoice::Always,
            (ColorChoice::Auto, When::Never) => ColorChoice::Never,
            (choice, _) => choice,
        };
        let output = Output::new(color);
        for warning in &loaded.warnings {
            output.note(&format!("warning: {warning}"));
        }
        Ok(Self {
            output,
            identity: Identity::detect(global.client.as_deref()),
            // A socket that was named outright belongs to a daemon that somebody else looks after.
            may_start: !global.no_start && global.socket.is_none() && loaded.config.start_daemon,
            socket: global.socket.clone(),
            server: None,
            named: global.client.is_some()
                || std::env::var_os("AGENTCTL_CLIENT").is_some_and(|name| !name.is_empty()),
            config: loaded.config,
            paths,
        })
    }

    /// Finds out which daemon the user means. Without this it is the one on this machine.
    ///
    /// # Errors
    /// A report when what is meant cannot be used.
    pub(crate) fn choose_server(&mut self, global: &Global) -> Result<(), Failure> {
        if self.socket.is_none() {
            self.server = server::choose(&global.remote, &self.paths)?;
            // Nobody can start a daemon elsewhere.
            self.may_start &= self.server.is_none();
        }
        Ok(())
    }

    /// The daemon on another machine, when that is meant.
    pub(crate) fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// Connects to the daemon, starting one if that is allowed.
    ///
    /// # Errors
    /// A report with [`Exit::Unreachable`].
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
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
                self.output.note("waiting for the daemon ...");
                running.await
            };
            let endpoint = endpoint.map_err(|error| start_failure(&error))?;
            match Client::connect(&endpoint).await {
                Ok(client) => return Ok(client),
                // It went away after it had answered.
                Err(ConnectError::NotRunning { .. } | ConnectError::Stopping { .. })
                    if attempts > 0 => {}
                Err(error) => return Err(connect_failure(&error)),
            }
        }
    }

    /// Connects to a daemon that runs already.
    ///
    /// # Errors
    /// A report with [`Exit::Unreachable`].
    pub(crate) async fn running_client(&self) -> Result<Client, Failure> {
        if let Some(client) = self.try_running_client().await? {
            return Ok(client);
        }
        if let Some(holder) = self.data_dir_holder() {
            return Err(self.holder_failure(holder));
        }
        let socket = self.endpoint()?.socket().to_path_buf();
        Err(connect_failure(&ConnectError::NotRunning { socket }))
    }

    /// Connects to a daemon that runs already; `None` when there is none.
    ///
    /// # Errors
    /// A report with [`Exit::Unreachable`] when there is one that does not answer.
    pub(crate) async fn try_running_client(&self) -> Result<Option<Client>, Failure> {
        let answered = match Client::connect(&self.endpoint()?).await {
            Ok(client) => client.check_serving(ANSWER_PATIENCE).await.map(|()| client),
            Err(error) => Err(error),
        };
        match answered {
            Ok(client) => Ok(Some(client)),
            Err(ConnectError::NotRunning { .. }) => Ok(None),
            Err(error) => Err(connect_failure(&error)),
        }
    }

    /// Who has the data directory, whether it listens or not. Nothing is known of that for a socket
    /// that was named outright.
    pub(crate) fn data_dir_holder(&self) -> Option<Holder> {
        let is_ours = self.socket.is_none() && self.server.is_none();
        is_ours.then(|| data_dir_holder(&self.paths)).flatten()
    }

    /// A failure for a daemon that has the data directory and does not listen.
    pub(crate) fn holder_failure(&self, holder: Holder) -> Failure {
        let (who, stop) = match holder.pid {
            Some(pid) => (format!(" (pid {pid})"), format!("`kill {pid}` stops it")),
            None => (String::new(), "find it with `pgrep agentd`".to_owned()),
        };
        Failure::new(Exit::Unreachable, format!("a daemon{who} runs and cannot be reached"))
            .because(format!(
                "it holds {}, and none listens at {}",
                self.paths.data_dir.display(),
                self.paths.socket().display()
            ))
            .hint(format!("try again in a moment, it may be starting or stopping; else {stop}"))
    }

    fn endpoint(&self) -> Result<Endpoint, Failure> {
        if let Some(server) = &self.server {
            return Ok(server.endpoint.clone());
        }
        let socket = self.socket.clone().unwrap_or_else(|| self.paths.socket());
        check_socket_path(&socket).map_err(|error| paths_failure(&error))?;
        Ok(Endpoint::new(socket))
    }

    /// Attaches this terminal to a session, on a connection of its own.
    pub(crate) fn attach(
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
        let recovery = if self.may_start {
            Recovery::Restart { paths: self.paths.clone(), options: StartOptions::default() }
        } else {
            Recovery::Wait
        };
        Attachment::open(client.endpoint().clone(), target, recovery)
    }

    /// Whether a daemon that does not run may be started.
    pub(crate) fn may_start(&self) -> bool {
        self.may_start
    }

    /// Whether the place of this terminal in a session is worth keeping: it has a name that lasts,
    /// and somebody looks at it.
    pub(crate) fn keeps_place(&self) -> bool {
        self.named || (self.output.is_terminal() && self.identity.is_lasting())
    }

    /// Starts a daemon when none runs and that is allowed, for a command that is tried again.
    pub(crate) async fn revive(&self) {
        if self.may_start {
            // The retried command reports what is wrong.
            drop(ensure_running(&self.paths, &StartOptions::default()).await);
        }
    }

    /// Whether answers are rendered, or printed as the model wrote them.
    pub(crate) fn renders_markdown(&self) -> bool {
        match self.config.markdown {
            When::Auto => self.output.can_draw(),
            When::Always => true,
            When::Never => false,
        }
    }

    /// Us, as the wire has it.
    pub(crate) fn author(&self) -> v1::Author {
        self.identity.author()
    }
}

/// A failure for a refused or broken call.
pub(crate) fn rpc_failure(what: &str, error: impl Into<RpcError>) -> Failure {
    let error: RpcError = error.into();
    let exit = match error.kind() {
        ErrorKind::NotFound => Exit::NotFound,
        ErrorKind::Unavailable => Exit::Unreachable,
        ErrorKind::Invalid
        | ErrorKind::Conflict
        | ErrorKind::Busy
        | ErrorKind::Denied
        | ErrorKind::Cancelled
        | ErrorKind::Corrupt
        | ErrorKind::Internal => Exit::Failed,
    };
    let violations = error
        .violations
        .iter()
        // A single violation is often the message itself.
        .filter(|found| !error.message.contains(&found.problem))
        .map(|found| format!("; {}: {}", found.field, found.problem));
    let why: String = std::iter::once(error.message.clone()).chain(violations).collect();
    let failure = Failure::new(exit, what).because(why);
    match (&error.hint, error.retry_after) {
        (Some(hint), _) => failure.hint(hint.clone()),
        (None, Some(delay)) => {
            let delay = agentd_shared::text::human_duration(delay);
            failure.hint(format!("try again in {delay}"))
        }
        (None, None) if exit == Exit::NotFound => failure.hint("see `agentctl sessions list`"),
        (None, None) => failure,
    }
}

/// What is said when a stream is lost and being made anew.
pub(crate) fn lost(error: &RpcError) -> String {
    if error.is_stopping() {
        return "the daemon was stopped; waiting for it to come back ...".to_owned();
    }
    if error.is_outage() {
        return "connection lost; waiting for the daemon ...".to_owned();
    }
    let hint = error.hint.as_ref().map_or(String::new(), |hint| format!("\n  hint: {hint}"));
    format!("{}{hint}\ntrying again ...", error.message)
}

fn paths_failure(error: &PathsError) -> Failure {
    Failure::new(Exit::Usage, "the directories of agentd cannot be used")
        .because(chain(error))
        .hint(error.hint())
}

fn connect_failure(error: &ConnectError) -> Failure {
    Failure::new(Exit::Unreachable, "cannot reach the daemon")
        .because(chain(error))
        .hint(error.hint())
}

fn start_failure(error: &StartError) -> Failure {
    if let StartError::Connect(error) = error {
        return connect_failure(error);
    }
    Failure::new(Exit::Unreachable, "cannot start the daemon")
        .because(chain(error))
        .hint(error.hint())
}

#[cfg(test)]
mod tests {
    use tonic::{Code, Status};

    use super::*;

    #[test]
    fn a_lost_stream_tells_its_reason_unless_the_daemon_is_only_gone() {
        let check = |error: RpcError, expect: &str| assert_eq!(lost(&error), expect);
        let gone = RpcError::from(Status::new(Code::Unavailable, "stopping"));
        check(gone, "connection lost; waiting for the daemon ...");
        let mut stopped = RpcError::from(Status::new(Code::Unavailable, "stopping"));
        stopped.reason = "DAEMON_STOPPING".to_owned();
        check(stopped, "the daemon was stopped; waiting for it to come back ...");
        let mut full = RpcError::from(Status::new(Code::ResourceExhausted, "too many terminals"));
        check(full.clone(), "too many terminals\ntrying again ...");
        full.hint = Some("detach one".to_owned());
        check(full, "too many terminals\n  hint: detach one\ntrying again ...");
    }
}

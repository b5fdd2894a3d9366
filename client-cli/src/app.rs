//! What every command works with: output, paths, identity, and the way to the daemon.

use agentd_proto::v1;
use agentd_shared::client_config::When;
use agentd_shared::{
    AttachPosition, AttachStream, Client, ClientConfig, Connector, ErrorKind, Identity, Paths,
    RemoteArgs, RpcError, Server, SessionWatchStream,
};

use crate::cli::Global;
use crate::exit::{Exit, Failure, chain};
use crate::output::{ColorChoice, Output};

/// The surroundings of one command.
#[derive(Debug)]
pub(crate) struct App {
    /// Where text goes.
    pub(crate) output: Output,
    connector: Connector,
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
        let connector = match broken_config {
            BrokenConfig::Refuse => {
                Connector::new(&global.connect, agentd_shared::BrokenConfig::Refuse)?
            }
            BrokenConfig::Warn | BrokenConfig::Pass => {
                Connector::new(&global.connect, agentd_shared::BrokenConfig::UseDefaults)?
            }
        };
        let color = match (global.color, connector.config().color) {
            (ColorChoice::Auto, When::Always) => ColorChoice::Always,
            (ColorChoice::Auto, When::Never) => ColorChoice::Never,
            (choice, _) => choice,
        };
        let output = Output::new(color);
        for warning in connector.warnings() {
            output.note(&format!("warning: {warning}"));
        }
        if let Some(error) = connector.broken_config()
            && broken_config == BrokenConfig::Warn
        {
            let defaults = "this command goes on with the defaults of [client]";
            output.note(&format!("warning: {}\n  {}; {defaults}", chain(error), error.hint()));
        }
        Ok(Self { output, connector })
    }

    /// Finds out which daemon the user means. Without this it is the one on this machine.
    ///
    /// # Errors
    /// A report when what is meant cannot be used.
    pub(crate) fn choose_server(&mut self, remote: &RemoteArgs) -> Result<(), Failure> {
        Ok(self.connector.choose_server(remote)?)
    }

    /// The way to the daemon.
    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Where files are.
    pub(crate) fn paths(&self) -> &Paths {
        self.connector.paths()
    }

    /// Who we are.
    pub(crate) fn identity(&self) -> &Identity {
        self.connector.identity()
    }

    /// How clients behave.
    pub(crate) fn config(&self) -> &ClientConfig {
        self.connector.config()
    }

    /// The daemon on another machine, when that is meant.
    pub(crate) fn server(&self) -> Option<&Server> {
        self.connector.server()
    }

    /// Connects to the daemon, starting one if that is allowed.
    ///
    /// # Errors
    /// A report with [`Exit::Unreachable`].
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        Ok(self.connector.client(|| self.output.note("waiting for the daemon ...")).await?)
    }

    /// Connects to a daemon that runs already.
    ///
    /// # Errors
    /// A report with [`Exit::Unreachable`].
    pub(crate) async fn running_client(&self) -> Result<Client, Failure> {
        Ok(self.connector.running_client().await?)
    }

    /// Connects to a daemon that runs already; `None` when there is none.
    ///
    /// # Errors
    /// A report with [`Exit::Unreachable`] when there is one that does not answer.
    pub(crate) async fn try_running_client(&self) -> Result<Option<Client>, Failure> {
        Ok(self.connector.try_running_client().await?)
    }

    /// Attaches this terminal to a session, on a connection of its own.
    pub(crate) fn attach(
        &self,
        client: &Client,
        session_id: &str,
        position: AttachPosition,
    ) -> AttachStream {
        self.connector.attach(client, session_id, position)
    }

    /// Watches all sessions, on a connection of its own.
    pub(crate) fn watch(&self, client: &Client, limit: u32) -> SessionWatchStream {
        self.connector.watch_sessions(client, limit)
    }

    /// Whether the place of this terminal in a session is worth keeping: it has a name that lasts,
    /// and somebody looks at it.
    pub(crate) fn keeps_place(&self) -> bool {
        self.connector.is_named() || (self.output.is_terminal() && self.identity().is_lasting())
    }

    /// Whether answers are rendered, or printed as the model wrote them.
    pub(crate) fn renders_markdown(&self) -> bool {
        match self.config().markdown {
            When::Auto => self.output.can_draw(),
            When::Always => true,
            When::Never => false,
        }
    }

    /// Us, as the wire has it.
    pub(crate) fn author(&self) -> v1::Author {
        self.connector.author()
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

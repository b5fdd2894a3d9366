//! What every command works with: output, paths, identity, and the way to the daemon.

use std::io::IsTerminal as _;

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

    /// Whether nobody is there to answer what a turn asks: neither end is a terminal.
    pub(crate) fn is_unattended(&self) -> bool {
        !self.output.is_terminal() && !std::io::stderr().is_terminal()
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
    let failure = Failure::new(exit, what).because(error.why());
    match error.remedy() {
        Some(remedy) => failure.hint(remedy),
        None if exit == Exit::NotFound => failure.hint("see `agentctl sessions list`"),
        None => failure,
    }
}

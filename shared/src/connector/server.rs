//! Which daemon is meant: the one on this machine, or one that the user named.

use std::path::{Path, PathBuf};

use super::ServerError;
use crate::connect::Endpoint;
use crate::connect_args::RemoteArgs;
use crate::contexts::{Context, Contexts, LOCAL};
use crate::paths::Paths;
use crate::remote::{Remote, RemoteError, RemoteOptions, Token};

/// A daemon on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// What the user calls it; `None` when it was given by its URL.
    pub context: Option<String>,
    /// How it is reached.
    pub endpoint: Endpoint,
}

impl Server {
    /// The URL.
    pub fn url(&self) -> String {
        self.endpoint.socket().display().to_string()
    }

    /// Finds out which daemon is meant: `--server` or `--context`, then the environment
    /// (`AGENTD_SERVER`, `AGENTD_TOKEN`), then the context in use. `None`: the one on this machine.
    ///
    /// # Errors
    /// [`ServerError`] when what is meant cannot be used.
    pub fn choose(args: &RemoteArgs, paths: &Paths) -> Result<Option<Self>, ServerError> {
        Self::choose_in(args, paths, |name| std::env::var(name).ok())
    }

    pub(super) fn choose_in(
        args: &RemoteArgs,
        paths: &Paths,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, ServerError> {
        let variable = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let token_variable = variable("AGENTD_TOKEN");
        let from_env = variable("AGENTD_SERVER").filter(|_| args.context.is_none());
        let (context, options) = if let Some(server) = args.server.clone().or(from_env) {
            (None, RemoteOptions { server, ..RemoteOptions::default() })
        } else {
            let contexts = Contexts::load(&paths.contexts_file())?;
            let name = args.context.as_deref().or(contexts.current()).filter(|name| *name != LOCAL);
            let Some(name) = name else {
                return refuse_stray(args).map(|()| None);
            };
            let mut context = contexts.get(name)?.clone();
            // A token that is given outright makes the context's own, which may be gone, needless.
            if args.token_file.is_some() || token_variable.is_some() {
                context = Context { token: None, token_file: None, ..context };
            }
            (Some(name.to_owned()), context.options()?)
        };
        let RemoteOptions { server, token, ca, client_cert, client_key, server_name } = options;
        let options = RemoteOptions {
            server,
            token: match token_given(args, token_variable)? {
                Some(given) => Some(given),
                None => token,
            },
            ca: args.ca.clone().or(ca),
            client_cert: args.client_cert.clone().or(client_cert),
            client_key: args.client_key.clone().or(client_key),
            server_name: args.server_name.clone().or(server_name),
        };
        let remote = Remote::new(options)?;
        Ok(Some(Self { context, endpoint: Endpoint::remote(remote) }))
    }
}

/// Options for a daemon elsewhere say that one is meant.
fn refuse_stray(args: &RemoteArgs) -> Result<(), ServerError> {
    let RemoteArgs { server: _, context: _, token_file, ca, client_cert, client_key, server_name } =
        args;
    let stray = [
        ("--token-file", token_file.is_some()),
        ("--ca", ca.is_some()),
        ("--client-cert", client_cert.is_some()),
        ("--client-key", client_key.is_some()),
        ("--server-name", server_name.is_some()),
    ];
    match stray.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(ServerError::Stray { option }),
    }
}

/// The token of the command line or of the environment.
fn token_given(args: &RemoteArgs, variable: Option<String>) -> Result<Option<Token>, RemoteError> {
    match &args.token_file {
        Some(file) if file == Path::new("-") => Token::read(std::io::stdin().lock()).map(Some),
        Some(file) => Token::from_file(file).map(Some),
        None => variable.map(|text| Token::new(&text)).transpose(),
    }
}

impl Context {
    /// A context of what a command line says. Its files are named from the root, as clients run
    /// anywhere; a token comes from stdin when its file is `-`.
    ///
    /// # Errors
    /// [`ServerError`] when something is missing or cannot be used.
    pub fn of_args(args: &RemoteArgs) -> Result<Self, ServerError> {
        let Some(server) = args.server.clone() else { return Err(ServerError::NoServer) };
        let absolute = |file: &Option<PathBuf>| {
            file.as_deref().map(std::path::absolute).transpose().map_err(ServerError::Path)
        };
        let from_stdin = args.token_file.as_deref() == Some(Path::new("-"));
        let context = Self {
            server,
            token: if from_stdin { token_given(args, None)? } else { None },
            token_file: if from_stdin { None } else { absolute(&args.token_file)? },
            ca: absolute(&args.ca)?,
            client_cert: absolute(&args.client_cert)?,
            client_key: absolute(&args.client_key)?,
            server_name: args.server_name.clone(),
        };
        // What cannot be used should not get a name.
        Remote::new(context.options()?)?;
        Ok(context)
    }
}

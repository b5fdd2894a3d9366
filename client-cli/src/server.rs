//! Which daemon commands talk to: the one on this machine, or one that the user named.

use std::path::{Path, PathBuf};

use agentd_shared::contexts::LOCAL;
use agentd_shared::{
    Context, Contexts, ContextsError, Endpoint, Paths, Remote, RemoteError, RemoteOptions, Token,
};

use crate::cli::RemoteArgs;
use crate::exit::{Exit, Failure, chain};

/// A daemon on another machine.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// What the user calls it; `None` when it was given by its URL.
    pub(crate) context: Option<String>,
    /// How it is reached.
    pub(crate) endpoint: Endpoint,
}

impl Server {
    /// The URL.
    pub(crate) fn url(&self) -> String {
        self.endpoint.socket().display().to_string()
    }
}

/// Finds out which daemon is meant: `--server` or `--context`, then the environment, then the context in
/// use. `None`: the one on this machine.
///
/// # Errors
/// A report when what is meant cannot be used.
pub(crate) fn choose(args: &RemoteArgs, paths: &Paths) -> Result<Option<Server>, Failure> {
    let from_env = variable("AGENTD_SERVER");
    let server = args.server.clone().or_else(|| from_env.filter(|_| args.context.is_none()));
    let (context, options) = if let Some(server) = server {
        (None, RemoteOptions { server, ..RemoteOptions::default() })
    } else {
        let contexts = load(paths)?;
        let name = args.context.as_deref().or(contexts.current()).filter(|name| *name != LOCAL);
        let Some(name) = name else { return refuse_stray(args) };
        let mut context = contexts.get(name).map_err(|error| contexts_failure(&error))?.clone();
        // A token that is given outright makes the context's own, which may be gone, needless.
        if args.token_file.is_some() || variable("AGENTD_TOKEN").is_some() {
            context = Context { token: None, token_file: None, ..context };
        }
        let options = context.options().map_err(|error| remote_failure(&error))?;
        (Some(name.to_owned()), options)
    };
    let RemoteOptions { server, token, ca, client_cert, client_key, server_name } = options;
    let options = RemoteOptions {
        server,
        token: match token_given(args)? {
            Some(given) => Some(given),
            None => token,
        },
        ca: args.ca.clone().or(ca),
        client_cert: args.client_cert.clone().or(client_cert),
        client_key: args.client_key.clone().or(client_key),
        server_name: args.server_name.clone().or(server_name),
    };
    let remote = Remote::new(options).map_err(|error| remote_failure(&error))?;
    Ok(Some(Server { context, endpoint: Endpoint::remote(remote) }))
}

/// Options for a daemon elsewhere say that one is meant.
fn refuse_stray(args: &RemoteArgs) -> Result<Option<Server>, Failure> {
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
        None => Ok(None),
        Some((option, _)) => {
            Err(Failure::new(Exit::Usage, format!("{option} is for a daemon on another machine"))
                .hint("say which with --server or --context"))
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The token of the command line or of the environment.
fn token_given(args: &RemoteArgs) -> Result<Option<Token>, Failure> {
    let token = match &args.token_file {
        Some(file) if file == Path::new("-") => Token::read(std::io::stdin().lock()).map(Some),
        Some(file) => Token::from_file(file).map(Some),
        None => variable("AGENTD_TOKEN").map(|text| Token::new(&text)).transpose(),
    };
    token.map_err(|error| remote_failure(&error))
}

/// A context of what the command line says. Its files are named from the root, as commands run anywhere.
///
/// # Errors
/// A report when something is missing or cannot be used.
pub(crate) fn context_of(args: &RemoteArgs) -> Result<Context, Failure> {
    let Some(server) = args.server.clone() else {
        return Err(Failure::new(Exit::Usage, "a context needs a server")
            .hint("give it with --server https://host:7443"));
    };
    let absolute = |file: &Option<PathBuf>| {
        let absolute = file.as_deref().map(std::path::absolute).transpose();
        absolute.map_err(|error| Failure::new(Exit::Usage, "a path is not usable").because(error))
    };
    let from_stdin = args.token_file.as_deref() == Some(Path::new("-"));
    let context = Context {
        server,
        token: if from_stdin { token_given(args)? } else { None },
        token_file: if from_stdin { None } else { absolute(&args.token_file)? },
        ca: absolute(&args.ca)?,
        client_cert: absolute(&args.client_cert)?,
        client_key: absolute(&args.client_key)?,
        server_name: args.server_name.clone(),
    };
    // What cannot be used should not get a name.
    context.options().and_then(Remote::new).map_err(|error| remote_failure(&error))?;
    Ok(context)
}

/// Reads the contexts.
///
/// # Errors
/// A report when they cannot be used.
pub(crate) fn load(paths: &Paths) -> Result<Contexts, Failure> {
    Contexts::load(&paths.contexts_file()).map_err(|error| contexts_failure(&error))
}

/// A failure about contexts.
pub(crate) fn contexts_failure(error: &ContextsError) -> Failure {
    let exit = match error {
        ContextsError::Unknown(_) => Exit::NotFound,
        ContextsError::Name(_) => Exit::Usage,
        ContextsError::Io { .. }
        | ContextsError::Dir(_)
        | ContextsError::Damaged { .. }
        | ContextsError::Exists(_) => Exit::Failed,
    };
    Failure::new(exit, chain(error)).hint(error.hint())
}

fn remote_failure(error: &RemoteError) -> Failure {
    Failure::new(Exit::Usage, "the daemon on the other machine cannot be used")
        .because(chain(error))
        .hint(error.hint())
}

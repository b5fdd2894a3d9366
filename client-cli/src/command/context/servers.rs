//! `agentctl context add|use|list|show|remove`: names for daemons on other machines. No daemon is asked.

use agentd_shared::{Context, Contexts, RemoteArgs};
use clap::{Args, Subcommand};
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::app::App;
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};

/// Commands about named servers.
#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// Give a server a name
    #[command(after_help = "\
Takes --server and, where needed, --token-file, --ca, --client-cert,
--client-key and --server-name. A token from stdin is kept in the contexts'
file, which is yours alone; a file with a token is read at each use.

Examples:
  agentctl context add home --server https://box.lan:7443 --ca ca.pem \\
      --token-file -
  agentctl context use home")]
    Add(ContextName),
    /// Use a named server from now on, or with `local` the daemon on this machine
    #[command(after_help = "\
Examples:
  agentctl context use home
  agentctl context use local")]
    Use(ContextName),
    /// List named servers; the one in use has a star
    #[command(after_help = "\
Examples:
  agentctl context list --json")]
    List(JsonArgs),
    /// Show one named server, without its token
    #[command(after_help = "\
Examples:
  agentctl context show home")]
    Show(ContextShowArgs),
    /// Forget a named server
    #[command(after_help = "\
Examples:
  agentctl context remove home")]
    Remove(ContextName),
}

/// One context.
#[derive(Debug, Clone, Args)]
pub(crate) struct ContextName {
    /// What the server is called here
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `context show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ContextShowArgs {
    /// What the server is called here; without it: the one in use
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs a command about contexts.
pub(crate) fn run(
    command: &ServersCommand,
    remote: &RemoteArgs,
    app: &App,
) -> Result<Exit, Failure> {
    let mut contexts = Contexts::load(&app.paths().contexts_file())?;
    match command {
        ServersCommand::Add(args) => {
            let context = Context::of_args(remote)?;
            let has_token = context.token.is_some() || context.token_file.is_some();
            contexts.add(&args.name, context)?;
            save(&contexts, app)?;
            if args.json {
                let view = ContextView::new(&args.name, get(&contexts, &args.name)?, &contexts);
                app.output.json(&view)?;
            }
            app.output.note(&format!("added; `agentctl context use {}` uses it", args.name));
            if !has_token {
                app.output.note("it has no token: give one with AGENTD_TOKEN or --token-file");
            }
        }
        ServersCommand::Use(args) => {
            contexts.select(&args.name)?;
            save(&contexts, app)?;
            if args.json {
                app.output.json(&CurrentView { current: contexts.current() })?;
            }
            let what = match contexts.current() {
                Some(name) => format!("{name}, {}", get(&contexts, name)?.server),
                None => "the daemon on this machine".to_owned(),
            };
            app.output.note(&format!("commands now use {what}"));
        }
        ServersCommand::Remove(args) => {
            let was_current = contexts.current() == Some(args.name.as_str());
            contexts.remove(&args.name)?;
            save(&contexts, app)?;
            if args.json {
                app.output.json(&CurrentView { current: contexts.current() })?;
            }
            if was_current {
                app.output.note("commands now use the daemon on this machine");
            }
        }
        ServersCommand::List(args) => {
            let views: Vec<ContextView<'_>> = contexts
                .iter()
                .map(|(name, context)| ContextView::new(name, context, &contexts))
                .collect();
            if args.json {
                app.output.json(&views)?;
            } else if views.is_empty() {
                app.output.note("no servers have names; `agentctl context add NAME` gives one");
            } else {
                let width = views.iter().map(|view| view.name.width()).max().unwrap_or(0);
                for view in &views {
                    let star = if view.current { '*' } else { ' ' };
                    let padding = " ".repeat(width - view.name.width());
                    app.output
                        .foreign_line(&format!("{star} {}{padding}  {}", view.name, view.server))?;
                }
            }
        }
        ServersCommand::Show(args) => {
            let name = args.name.as_deref().or(contexts.current());
            let Some(name) = name else {
                return Err(Failure::new(Exit::NotFound, "no context is in use")
                    .because("commands use the daemon on this machine")
                    .hint("give a name; `agentctl context list` shows those there are"));
            };
            let view = ContextView::new(name, get(&contexts, name)?, &contexts);
            if args.json { app.output.json(&view)? } else { show(&view, app)? }
        }
    }
    Ok(Exit::Ok)
}

fn save(contexts: &Contexts, app: &App) -> Result<(), Failure> {
    Ok(contexts.save(&app.paths().contexts_file())?)
}

fn get<'a>(contexts: &'a Contexts, name: &str) -> Result<&'a Context, Failure> {
    Ok(contexts.get(name)?)
}

/// Which context is in use; `null`: the daemon on this machine.
#[derive(Debug, Serialize)]
struct CurrentView<'a> {
    current: Option<&'a str>,
}

/// A context without its token.
#[derive(Debug, Serialize)]
struct ContextView<'a> {
    name: &'a str,
    current: bool,
    server: &'a str,
    /// "stored", "file" or "none".
    token: &'static str,
    token_file: Option<String>,
    ca: Option<String>,
    client_cert: Option<String>,
    client_key: Option<String>,
    server_name: Option<&'a str>,
}

impl<'a> ContextView<'a> {
    fn new(name: &'a str, context: &'a Context, contexts: &Contexts) -> Self {
        let Context { server, token, token_file, ca, client_cert, client_key, server_name } =
            context;
        let path = |file: &Option<std::path::PathBuf>| {
            file.as_ref().map(|file| file.display().to_string())
        };
        Self {
            name,
            current: contexts.current() == Some(name),
            server,
            token: match (token_file, token) {
                (Some(_), _) => "file",
                (None, Some(_)) => "stored",
                (None, None) => "none",
            },
            token_file: path(token_file),
            ca: path(ca),
            client_cert: path(client_cert),
            client_key: path(client_key),
            server_name: server_name.as_deref(),
        }
    }
}

fn show(view: &ContextView<'_>, app: &App) -> Result<(), Failure> {
    let token = view.token_file.as_deref().unwrap_or(view.token);
    let lines = [
        ("name", Some(view.name)),
        ("server", Some(view.server)),
        ("token", Some(token)),
        ("ca", view.ca.as_deref()),
        ("cert", view.client_cert.as_deref()),
        ("key", view.client_key.as_deref()),
        ("tls name", view.server_name),
    ];
    for (label, value) in lines {
        if let Some(value) = value {
            app.output.foreign_line(&format!("{label:<9} {value}"))?;
        }
    }
    Ok(())
}

//! `agentctl tools run`.

use std::path::PathBuf;

use agentd_proto::v1::run_tool_request::Place;
use agentd_shared::{Client, directory, ids};
use clap::Args;

use super::{arguments, show};
use crate::app::App;
use crate::by_hand::{self, Call, Outcome};
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::terminal_audience::TerminalAudience;

/// Options of `tools run`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Name of the tool
    #[arg(value_name = "NAME")]
    name: String,
    /// Its arguments; a value is JSON where the tool does not take text
    #[arg(value_name = "KEY=VALUE", conflicts_with = "json_args")]
    arguments: Vec<String>,
    /// All arguments as a JSON object
    #[arg(long, value_name = "JSON")]
    json_args: Option<String>,
    /// Directory that it works in; without it the current one
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    workspace: Option<PathBuf>,
    /// Session in whose workspace and by whose rules it works
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Run what would have to be asked for
    #[arg(long)]
    yes: bool,
    /// Print the steps as JSON Lines
    #[arg(long)]
    json: bool,
}

/// Runs a tool.
pub(super) async fn run(args: &RunArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let place = place(args, &client).await?;
    let arguments_json = match &args.json_args {
        Some(json) => json.clone(),
        None if args.arguments.is_empty() => String::new(),
        None => {
            let tool = show::fetch(&client, &args.name).await?;
            arguments::from_words(&args.arguments, &tool.parameters_json)?
        }
    };
    let call = Call { place, tool: args.name.clone(), arguments_json, author: app.author() };
    make(app, &client, &call, TerminalAudience::new(app, args.yes, args.json)).await
}

/// Makes a call and gives the exit code; Ctrl-C cancels it.
///
/// # Errors
/// A report when it does not run.
pub(crate) async fn make(
    app: &App,
    client: &Client,
    call: &Call,
    mut audience: TerminalAudience<'_>,
) -> Result<Exit, Failure> {
    let mut signals = Signals::new()
        .map_err(|error| Failure::new(Exit::Failed, "cannot listen for signals").because(error))?;
    let Ok(outcome) = signals.unless(by_hand::run(client, call, &mut audience)).await else {
        app.output.note("cancelled");
        return Ok(Exit::CtrlC);
    };
    match outcome? {
        Outcome::Finished(finished) => Ok(by_hand::exit_of(&finished)),
        other => by_hand::not_run(&other, &call.tool).map_or(Ok(Exit::Failed), Err),
    }
}

async fn place(args: &RunArgs, client: &Client) -> Result<Place, Failure> {
    if let Some(session) = &args.session {
        return Ok(Place::SessionId(ids::resolve(client, session).await?));
    }
    let endpoint = client.endpoint();
    let directory = match &args.workspace {
        Some(path) => Some(directory::named(endpoint, path)?),
        None => directory::current(endpoint)?,
    };
    directory.map(Place::Workspace).ok_or_else(|| {
        Failure::new(Exit::Usage, "it is not said where the tool works")
            .because("the daemon is on another machine")
            .hint("add --session ID, or --workspace DIR with an absolute path there")
    })
}

//! `agentctl chat`.

use std::io::IsTerminal as _;

use agentd_shared::setup::{Offered, offer};
use agentd_shared::{WhichSession, Wishes, ensure_private_dir, which};
use clap::Args;

use crate::app::App;
use crate::chat::conversation::Conversation;
use crate::chat::input::PipeLines;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;

/// Options of `chat`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChatArgs {
    /// Which session.
    #[command(flatten)]
    pub(crate) which: WhichSession,
    /// Model and effort.
    #[command(flatten)]
    pub(crate) wishes: Wishes,
    /// Let everything run that the turns of its own messages ask for; those of others are left to them
    #[arg(long)]
    pub(crate) yes: bool,
    /// Do not ask for a model, also where none is configured or found
    #[arg(long)]
    pub(crate) no_setup: bool,
}

/// Opens the chat; with a script on stdin it sends one line after the other.
pub(super) async fn run(args: &ChatArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let scripted = !std::io::stdin().is_terminal();
    // Before the editor: it puts back the handlers that it finds.
    let mut signals = Signals::new()
        .map_err(|error| Failure::new(Exit::Failed, "cannot listen for signals").because(error))?;
    if !args.no_setup {
        match offer(app.connector(), &client, &app.output, signals.next()).await? {
            Offered::GoOn => {}
            Offered::Left(_) => return Ok(Exit::CtrlC),
        }
    }
    let mut script = scripted.then(PipeLines::new);
    // Who says nothing gets no session.
    if let Some(script) = &mut script
        && args.which.session.is_none()
    {
        match signals.unless(script.has_line()).await {
            Ok(true) => {}
            Ok(false) => return Ok(Exit::Ok),
            Err(_stop) => return Ok(Exit::CtrlC),
        }
    }
    let chosen = which::choose(&client, app.author(), &args.which, &args.wishes).await?;
    if !scripted && let Err(error) = ensure_private_dir(&app.paths().state_dir) {
        app.output.note(&format!("warning: no history is kept: {error}"));
    }
    let conversation = Box::pin(Conversation::open(app, client, &chosen, script, args.yes)).await?;
    Box::pin(conversation.run(&mut signals)).await
}

//! `agentctl context pin|unpin`: what the model keeps to in a session, whatever is folded.

use agentd_proto::v1;
use agentd_shared::{Client, ids};
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};

/// Options of `context pin`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PinArgs {
    /// What to keep to, at most 500 characters
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(long, value_name = "ID", default_value = "last")]
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Options of `context unpin`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UnpinArgs {
    /// Number of what is pinned, as `agentctl context` shows it
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(long, value_name = "ID", default_value = "last")]
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Pins a text.
pub(super) async fn pin(args: &PinArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let pins = add(&client, app.author(), &session_id, &args.text.join(" ")).await?;
    show(&pins, args.json, app)
}

/// Unpins one.
pub(super) async fn unpin(args: &UnpinArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let pins = remove(&client, app.author(), &session_id, args.number).await?;
    show(&pins, args.json, app)
}

fn show(pins: &[String], json: bool, app: &App) -> Result<Exit, Failure> {
    if json {
        app.output.json(&pins)?;
        return Ok(Exit::Ok);
    }
    for line in lines(pins) {
        app.output.line(&line)?;
    }
    Ok(Exit::Ok)
}

/// What is pinned, in lines.
pub(crate) fn lines(pins: &[String]) -> Vec<String> {
    if pins.is_empty() {
        return vec!["nothing is pinned".to_owned()];
    }
    std::iter::once("pinned:".to_owned())
        .chain(agentd_shared::format::context::pins(pins))
        .collect()
}

/// Asks the daemon to pin a text; gives all pins.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn add(
    client: &Client,
    author: v1::Author,
    session_id: &str,
    text: &str,
) -> Result<Vec<String>, Failure> {
    let request = v1::PinTextRequest {
        session_id: session_id.to_owned(),
        text: text.to_owned(),
        author: Some(author),
    };
    let answer = client.context().pin_text(request).await;
    answer
        .map(|answer| answer.into_inner().pins)
        .map_err(|status| rpc_failure("cannot pin the text", status))
}

/// Asks the daemon to unpin one; gives what is left.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn remove(
    client: &Client,
    author: v1::Author,
    session_id: &str,
    number: u32,
) -> Result<Vec<String>, Failure> {
    let request =
        v1::UnpinTextRequest { session_id: session_id.to_owned(), number, author: Some(author) };
    let answer = client.context().unpin_text(request).await;
    answer
        .map(|answer| answer.into_inner().pins)
        .map_err(|status| rpc_failure("cannot unpin the text", status))
}

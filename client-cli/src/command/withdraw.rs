//! `agentctl withdraw`: takes back a message that no turn has used yet.

use agentd_proto::v1;
use agentd_shared::ids;
use agentd_shared::input::pick;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::command::sessions::show::fetch;
use crate::exit::{Exit, Failure};
use crate::json::WithdrawnView;

/// Options of `withdraw`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WithdrawArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    session: String,
    /// The message by its number or id, as `sessions show` has it; without it the only one
    #[arg(value_name = "MESSAGE", default_value = "", hide_default_value = true)]
    message: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Takes a message back.
pub(super) async fn run(args: &WithdrawArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let queue = fetch(&client, &session_id).await?.queue;
    let waiting: Vec<&str> = queue.iter().map(|message| message.item_id.as_str()).collect();
    let Some(item_id) = pick::queued(&waiting, &args.message) else {
        let why = match waiting.len() {
            0 => "nothing waits in it".to_owned(),
            count => format!("{count} messages wait in it"),
        };
        return Err(Failure::new(Exit::NotFound, "no such message waits")
            .because(why)
            .hint("`agentctl sessions show ID` lists what waits, with numbers"));
    };
    let request = v1::WithdrawMessageRequest {
        session_id: session_id.clone(),
        item_id: item_id.to_owned(),
        author: Some(app.author()),
    };
    let answer = client.turn().withdraw_message(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot take the message back", status))?;
    let seq = answer.into_inner().seq;
    if args.json {
        app.output.json(&WithdrawnView { session_id: &session_id, item_id, seq })?;
    } else {
        app.output.note(&format!("taken back: {item_id}"));
    }
    Ok(Exit::Ok)
}

//! `agentctl token revoke`.

use agentd_proto::v1;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};

/// Options of `token revoke`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TokenRevokeArgs {
    /// Id of the token, as `token list` shows it
    #[arg(value_name = "ID")]
    pub(crate) token: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Makes a token useless.
pub(super) async fn run(args: &TokenRevokeArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = v1::RevokeTokenRequest { token_id: args.token.clone() };
    let answer = client.access().revoke_token(request).await;
    answer.map_err(|status| rpc_failure("cannot revoke the token", status))?;
    if args.json {
        app.output.json(&serde_json::json!({ "token_id": args.token }))?;
    } else {
        app.output.note("revoked; connections that used it are closed");
    }
    Ok(Exit::Ok)
}

//! `agentctl token`: what remote clients come in with.

mod create;
mod list;
mod revoke;

use agentd_proto::v1;
use clap::Subcommand;
use serde::Serialize;

use crate::app::App;
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};

use create::TokenCreateArgs;
use revoke::TokenRevokeArgs;

/// Commands about tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; its text is printed once and stored nowhere
    #[command(after_help = "\
The text goes to stdout, alone, everything else to stderr.

Examples:
  agentctl token create phone
  agentctl token create dashboard --scope read --expires 90d
  agentctl token create ci --expires 12h > token")]
    Create(TokenCreateArgs),
    /// List tokens, the newest first
    #[command(after_help = "\
Examples:
  agentctl token list --json")]
    List(JsonArgs),
    /// Make a token useless and close the connections that use it
    #[command(after_help = "\
Examples:
  agentctl token revoke 3f2a")]
    Revoke(TokenRevokeArgs),
}

/// Runs a command about tokens.
pub(super) async fn run(command: &TokenCommand, app: &App) -> Result<Exit, Failure> {
    match command {
        TokenCommand::Create(args) => create::run(args, app).await,
        TokenCommand::List(args) => list::run(args, app).await,
        TokenCommand::Revoke(args) => revoke::run(args, app).await,
    }
}

/// A token as JSON.
#[derive(Debug, Serialize)]
struct TokenView<'a> {
    token_id: &'a str,
    name: &'a str,
    scope: String,
    created_at_ms: i64,
    expires_at_ms: i64,
    last_used_at_ms: i64,
}

impl<'a> From<&'a v1::Token> for TokenView<'a> {
    fn from(token: &'a v1::Token) -> Self {
        let v1::Token { token_id, name, scope, created_at_ms, expires_at_ms, last_used_at_ms } =
            token;
        Self {
            token_id,
            name,
            scope: crate::json::token_scope(*scope),
            created_at_ms: *created_at_ms,
            expires_at_ms: *expires_at_ms,
            last_used_at_ms: *last_used_at_ms,
        }
    }
}

//! `agentctl token create`.

use agentd_proto::v1;
use agentd_shared::text::human_duration;
use serde::Serialize;

use super::TokenView;
use crate::app::{App, rpc_failure};
use crate::cli::{ScopeChoice, TokenCreateArgs};
use crate::exit::{Exit, Failure};

/// The token with its text.
#[derive(Debug, Serialize)]
struct CreatedView<'a> {
    #[serde(flatten)]
    token: TokenView<'a>,
    secret: &'a str,
}

/// Makes a token and prints its text, once.
pub(super) async fn run(args: &TokenCreateArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let ttl_ms = args.expires.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let scope = match args.scope {
        ScopeChoice::Read => v1::TokenScope::Read,
        ScopeChoice::Chat => v1::TokenScope::Chat,
        ScopeChoice::Admin => v1::TokenScope::Admin,
    };
    let request = v1::CreateTokenRequest { name: args.name.clone(), scope: scope.into(), ttl_ms };
    let answer = client.access().create_token(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot make a token", status))?;
    let v1::CreateTokenResponse { token, secret } = answer.into_inner();
    let token = token.unwrap_or_default();
    if args.json {
        app.output.json(&CreatedView { token: TokenView::from(&token), secret: &secret })?;
    } else {
        app.output.foreign_line(&secret)?;
        let until = match args.expires {
            Some(time) => format!("for {}", human_duration(time)),
            None => "until it is revoked".to_owned(),
        };
        app.output.note(&format!(
            "token {} ({}), good {until}; its text is not shown again",
            token.token_id,
            crate::json::token_scope(token.scope)
        ));
    }
    Ok(Exit::Ok)
}

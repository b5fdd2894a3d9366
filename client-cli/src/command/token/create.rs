//! `agentctl token create`.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::input::duration;
use agentd_shared::text::human_duration;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::TokenView;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};

/// Options of `token create`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TokenCreateArgs {
    /// Who or what will use it; others see it beside the names of its users
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What it allows
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: ScopeChoice,
    /// How long it is good for, such as 12h, 30d or 8w; without it: until it is revoked
    #[arg(long, value_name = "TIME", value_parser = parse_lifetime)]
    pub(crate) expires: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ScopeChoice {
    /// Looking at sessions.
    Read,
    /// Looking, and talking in sessions.
    #[default]
    Chat,
    /// Everything.
    Admin,
}

/// How long a token is good for, which is never no time at all.
fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = duration::parse(text)?;
    if lifetime.is_zero() { Err("the time must not be zero".to_owned()) } else { Ok(lifetime) }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_some_time() {
        assert_eq!(parse_lifetime("30d"), Ok(Duration::from_secs(2_592_000)));
        for wrong in ["0d", "0s", "soon"] {
            parse_lifetime(wrong).unwrap_err();
        }
    }
}

//! Makes a token.

use std::sync::Arc;
use std::time::Duration;

use agentd_proto::v1;
use tonic::Status;

use super::{blocking, token};
use crate::access::Scope;
use crate::grpc::{Context, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::CreateTokenRequest,
) -> Result<v1::CreateTokenResponse, Status> {
    let v1::CreateTokenRequest { name, scope, ttl_ms } = request;
    let scope = match v1::TokenScope::try_from(scope) {
        Ok(v1::TokenScope::Read) => Scope::Read,
        Ok(v1::TokenScope::Chat) => Scope::Chat,
        Ok(v1::TokenScope::Admin) => Scope::Admin,
        Ok(v1::TokenScope::Unspecified) | Err(_) => {
            let problem = format!("{scope} is not a scope");
            let hint = "use TOKEN_SCOPE_READ, TOKEN_SCOPE_CHAT or TOKEN_SCOPE_ADMIN";
            return Err(status::bad_field("scope", &problem, hint));
        }
    };
    let ttl = (ttl_ms > 0).then(|| Duration::from_millis(ttl_ms));
    let tokens = Arc::clone(&ctx.remote.tokens);
    let (info, text) = blocking(move || tokens.create(&name, scope, ttl)).await?;
    Ok(v1::CreateTokenResponse { token: Some(token(info)), secret: text.reveal() })
}

//! `AccessService`: one file per method.

mod create_token;
mod list_tokens;
mod revoke_token;

use agentd_domain::ErrorKind;
use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::peer::{is_local, is_owner, peer_uid};
use super::{Service, status};
use crate::access::{Scope, TokenError, TokenInfo};

#[tonic::async_trait]
impl v1::access_service_server::AccessService for Service {
    async fn create_token(
        &self,
        request: Request<v1::CreateTokenRequest>,
    ) -> Result<Response<v1::CreateTokenResponse>, Status> {
        may_change(request.extensions())?;
        create_token::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn list_tokens(
        &self,
        _request: Request<v1::ListTokensRequest>,
    ) -> Result<Response<v1::ListTokensResponse>, Status> {
        list_tokens::handle(&self.ctx).map(Response::new)
    }

    async fn revoke_token(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Result<Response<v1::RevokeTokenResponse>, Status> {
        may_change(request.extensions())?;
        revoke_token::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}

/// Refuses those who may only talk to the daemon because they are in the socket's group: a token that
/// one of them made would outlast the membership, and revoking shuts out others. Who comes with a token
/// was checked for its scope already.
fn may_change(extensions: &tonic::Extensions) -> Result<(), Status> {
    if !is_local(extensions) || is_owner(peer_uid(extensions)) {
        return Ok(());
    }
    Err(status::error(
        ErrorKind::Denied,
        "only the daemon's own user, root, and holders of a token of scope admin may make and revoke tokens",
        "ask an administrator of this machine to do it",
        None,
    ))
}

fn token(info: TokenInfo) -> v1::Token {
    let TokenInfo { id, name, scope, created_at_ms, expires_at_ms, last_used_at_ms } = info;
    let scope = match scope {
        Scope::Read => v1::TokenScope::Read,
        Scope::Chat => v1::TokenScope::Chat,
        Scope::Admin => v1::TokenScope::Admin,
    };
    v1::Token {
        token_id: id,
        name,
        scope: scope.into(),
        created_at_ms,
        expires_at_ms,
        last_used_at_ms,
    }
}

fn refused(error: &TokenError) -> Status {
    let (kind, hint, field) = match error {
        TokenError::Name(problem) => {
            let hint = "give 1 to 100 printable characters";
            return status::bad_field("name", problem, hint);
        }
        TokenError::Taken(_) => {
            (ErrorKind::Conflict, "take another name, or revoke that one first", Some("name"))
        }
        TokenError::Ttl => {
            (ErrorKind::Invalid, "give a shorter time, or 0 for none", Some("ttl_ms"))
        }
        TokenError::TooMany => (ErrorKind::Precondition, "revoke some that nobody uses", None),
        TokenError::NoToken(_) => {
            (ErrorKind::NotFound, "`agentctl token list` shows the ids", Some("token_id"))
        }
        TokenError::Write(_) => {
            (ErrorKind::Unavailable, "check space and mode of the data directory", None)
        }
        TokenError::Unusable(_) => {
            (ErrorKind::Precondition, "correct the file of tokens, then start agentd again", None)
        }
        TokenError::NoRandomness => (ErrorKind::Internal, "try again", None),
    };
    status::error(kind, &error.to_string(), hint, field)
}

/// Runs what blocks on the disk. It runs to its end although the client may leave.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TokenError> + Send + 'static,
) -> Result<T, Status> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| refused(&error)),
        Err(_panicked) => Err(status::internal("changing the tokens")),
    }
}

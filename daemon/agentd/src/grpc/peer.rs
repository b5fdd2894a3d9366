//! Who may talk to the daemon: its own user and root.

use agentd_domain::ErrorKind;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Request, Status};

use super::status;

/// Refuses requests of other users. The socket's directory already keeps them out; this holds when
/// somebody has opened it.
///
/// # Errors
/// PERMISSION_DENIED with the remedy.
pub(crate) fn check_peer(request: Request<()>) -> Result<Request<()>, Status> {
    let own = rustix::process::geteuid().as_raw();
    let peer = request
        .extensions()
        .get::<UdsConnectInfo>()
        .and_then(|info| info.peer_cred)
        .map(|credentials| credentials.uid());
    match peer {
        Some(uid) if uid == own || uid == 0 => Ok(request),
        peer => {
            let who = peer.map_or_else(|| "an unknown user".to_owned(), |uid| format!("uid {uid}"));
            tracing::warn!(peer = who, "refused a request of another user");
            Err(status::error(
                ErrorKind::Denied,
                &format!("this daemon belongs to uid {own} and does not serve {who}"),
                "run your own agentd, or become the user that this one belongs to",
                None,
            ))
        }
    }
}

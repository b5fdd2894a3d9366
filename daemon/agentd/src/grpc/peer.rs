//! Who may talk to the daemon: its own user and root.

use agentd_domain::ErrorKind;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Request, Status};

use super::status;

/// Who is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peers {
    /// The daemon's own user and root. The socket's directory already keeps others out; this holds
    /// when somebody has opened it.
    OwnUser,
    /// Whoever the kernel let connect to a socket that systemd made for a group.
    Admitted,
}

impl Peers {
    /// Refuses requests of other users.
    ///
    /// # Errors
    /// PERMISSION_DENIED with the remedy.
    pub(crate) fn check(self, request: Request<()>) -> Result<Request<()>, Status> {
        let own = rustix::process::geteuid().as_raw();
        match (self, peer_uid(request.extensions())) {
            (Self::Admitted, Some(_)) => Ok(request),
            (Self::OwnUser, peer) if is_owner(peer) => Ok(request),
            (_, peer) => {
                let who =
                    peer.map_or_else(|| "an unknown user".to_owned(), |uid| format!("uid {uid}"));
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
}

/// The user at the other end of a Unix socket, as the kernel knows it; none for other connections.
pub(crate) fn peer_uid(extensions: &tonic::Extensions) -> Option<u32> {
    let credentials = extensions.get::<UdsConnectInfo>()?.peer_cred?;
    Some(credentials.uid())
}

/// True for a call that came over the socket.
pub(super) fn is_local(extensions: &tonic::Extensions) -> bool {
    extensions.get::<UdsConnectInfo>().is_some()
}

/// True for the daemon's own user and root, who can do all that the daemon can without it.
pub(super) fn is_owner(peer: Option<u32>) -> bool {
    let own = rustix::process::geteuid().as_raw();
    peer.is_some_and(|uid| uid == own || uid == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_the_sockets_group_do_not_own_the_daemon() {
        let own = rustix::process::geteuid().as_raw();
        assert!(is_owner(Some(own)) && is_owner(Some(0)));
        assert!(!is_owner(Some(own + 4_242)) && !is_owner(None));
    }
}

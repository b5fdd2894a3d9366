//! Why the daemon does not listen for remote clients.

use std::net::SocketAddr;
use std::path::PathBuf;

use agentd_domain::ErrorKind;

/// Why the daemon does not listen for remote clients.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// Not an address with a port.
    #[error("remote.listen: '{0}' is not an address with a port")]
    Address(String),
    /// Connections would not be encrypted.
    #[error("remote.listen: {0} needs TLS")]
    NoTls(SocketAddr),
    /// A file of certificates or a key cannot be used.
    #[error("{key}: {} {problem}", .file.display())]
    File {
        /// The key of the configuration.
        key: &'static str,
        /// The file.
        file: PathBuf,
        /// What is wrong, as the end of a sentence about it.
        problem: String,
    },
    /// Certificate and key do not work together.
    #[error("remote.tls_cert and remote.tls_key: {0}")]
    Tls(#[from] rustls::Error),
}

impl RemoteError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Address(_) | Self::NoTls(_) | Self::File { .. } | Self::Tls(_) => {
                ErrorKind::Invalid
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Address(_) => "write it like 0.0.0.0:7443 or [::]:7443",
            Self::NoTls(_) => {
                "set remote.tls_cert and remote.tls_key (`agentd tls init` makes them)"
            }
            Self::File { .. } => "`agentd tls init` makes a certificate and its key",
            Self::Tls(_) => "the key must be that of the first certificate in remote.tls_cert",
        }
    }
}

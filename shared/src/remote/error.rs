//! Why options for a daemon on another machine cannot be used.

use std::path::PathBuf;

/// Why options for a daemon on another machine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The URL is not good.
    #[error("'{server}' cannot be a server: {problem}")]
    Url {
        /// The URL.
        server: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No certificate can be for that.
    #[error("'{0}' is not a name or address that a certificate can be for")]
    ServerName(String),
    /// There is no token, or what there is cannot be one.
    #[error("that is not a token")]
    Token,
    /// A file cannot be used.
    #[error("{option}: {} {problem}", .file.display())]
    File {
        /// The option that names it.
        option: &'static str,
        /// The file.
        file: PathBuf,
        /// What is wrong, as the end of a sentence about it.
        problem: String,
    },
    /// Only one of two options is there.
    #[error("{present} is of no use without {missing}")]
    Half {
        /// The option that is there.
        present: &'static str,
        /// The option that is not.
        missing: &'static str,
    },
    /// Certificate and key do not work together.
    #[error("the certificate of this client cannot be used")]
    Tls(#[from] rustls::Error),
    /// Nobody is trusted.
    #[error("this system trusts no CA")]
    NoRoots,
}

impl RemoteError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Url { .. } => "write it like https://host:7443",
            Self::ServerName(_) => "give the name that the daemon's certificate was made for",
            Self::Token => "take the text that `agentctl token create` printed, in one line",
            Self::File { .. } => "check the file's name, owner and mode",
            Self::Half { .. } => "give both",
            Self::Tls(_) => "the key must be that of the first certificate in the file",
            Self::NoRoots => "give the CA of the daemon's certificate with --ca",
        }
    }
}

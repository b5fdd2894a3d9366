//! What keeps a client from a daemon on another machine, and what to do about it.

use std::error::Error;
use std::{fmt, io};

use rustls::{AlertDescription, CertificateError};

use crate::ErrorKind;

/// What keeps a client from a daemon on another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteProblem {
    /// Nobody listens there.
    Refused,
    /// The name or the address leads nowhere.
    Unreachable,
    /// Nothing comes back in time.
    Silent,
    /// The other side closed the connection without a word.
    Closed,
    /// The two sides do not believe each other.
    Tls(TlsProblem),
}

/// Why the two sides do not believe each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsProblem {
    /// The certificate is not of a CA that is trusted here.
    UnknownCa,
    /// Its time is over.
    Expired,
    /// Its time has not come.
    NotYetValid,
    /// It is for another name.
    WrongName,
    /// The daemon wants a certificate of this client, or another one.
    ClientCertificate,
    /// The other side speaks no TLS, or no version that this one does.
    NoTls,
    /// Something else.
    Other,
}

impl RemoteProblem {
    /// Finds out what an error comes from, with what was said about it. None: it is not of the network.
    pub(crate) fn find(error: &(dyn Error + 'static)) -> Option<(Self, String)> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(io) = error.downcast_ref::<io::Error>() {
                return Some((Self::of(io), io.to_string()));
            }
            next = error.source();
        }
        None
    }

    fn of(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(tls) = inner {
            return Self::Tls(TlsProblem::of(tls));
        }
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::TimedOut => Self::Silent,
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Unreachable,
        }
    }

    /// What sort of trouble it is.
    pub fn kind(self) -> ErrorKind {
        match self {
            Self::Refused | Self::Unreachable | Self::Silent | Self::Closed => {
                ErrorKind::Unavailable
            }
            Self::Tls(_) => ErrorKind::Denied,
        }
    }

    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Refused => {
                "check that agentd runs there and that its remote.listen has this port (`agentctl status` on that machine)"
            }
            Self::Unreachable => "check the host's name and the network between",
            Self::Silent => {
                "check the host's name, the port and the network between; a daemon with a certificate is asked with https://"
            }
            Self::Closed => {
                "the daemon may be at its limit of connections, or something else listens there; its log tells"
            }
            Self::Tls(problem) => problem.hint(),
        }
    }
}

impl TlsProblem {
    fn of(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(certificate) => match certificate {
                CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownCa,
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    Self::Expired
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    Self::NotYetValid
                }
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::WrongName,
                _ => Self::Other,
            },
            rustls::Error::AlertReceived(
                AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied,
            ) => Self::ClientCertificate,
            rustls::Error::InvalidMessage(_)
            | rustls::Error::AlertReceived(AlertDescription::ProtocolVersion) => Self::NoTls,
            _ => Self::Other,
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::UnknownCa => {
                "give the CA's file with --ca; `agentd tls init` on the daemon's machine printed where it is"
            }
            Self::Expired => {
                "make a new certificate on the daemon's machine and run `agentctl reload` there; if it is new, check the clocks"
            }
            Self::NotYetValid => "check the clocks of both machines",
            Self::WrongName => {
                "connect by a name that the certificate is for, or say with --server-name which one it is"
            }
            Self::ClientCertificate => {
                "give a certificate of the CA in the daemon's remote.client_ca with --client-cert and --client-key"
            }
            Self::NoTls => "check the port; something without TLS listens there",
            Self::Other => "the daemon's log may tell more",
        }
    }
}

impl fmt::Display for RemoteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "nobody listens there",
            Self::Unreachable => "it cannot be reached",
            Self::Silent => "it does not answer in time",
            Self::Closed => "it closes the connection",
            Self::Tls(TlsProblem::UnknownCa) => {
                "its certificate is not of a CA that is trusted here"
            }
            Self::Tls(TlsProblem::Expired) => "its certificate has expired",
            Self::Tls(TlsProblem::NotYetValid) => "its certificate is not valid yet",
            Self::Tls(TlsProblem::WrongName) => "its certificate is for another name",
            Self::Tls(TlsProblem::ClientCertificate) => {
                "it does not take this client's certificate, or wants one"
            }
            Self::Tls(TlsProblem::NoTls) => "it does not speak TLS",
            Self::Tls(TlsProblem::Other) => "TLS fails",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_of_tls_has_its_own_remedy() {
        let check = |error: rustls::Error, expect: TlsProblem| {
            let io = io::Error::new(io::ErrorKind::InvalidData, error);
            let (found, detail) = RemoteProblem::find(&io).unwrap();
            assert_eq!(found, RemoteProblem::Tls(expect), "{detail}");
        };
        let bad = rustls::Error::InvalidCertificate;
        check(bad(CertificateError::UnknownIssuer), TlsProblem::UnknownCa);
        check(bad(CertificateError::Expired), TlsProblem::Expired);
        check(bad(CertificateError::NotValidYet), TlsProblem::NotYetValid);
        check(bad(CertificateError::NotValidForName), TlsProblem::WrongName);
        check(
            rustls::Error::AlertReceived(AlertDescription::CertificateRequired),
            TlsProblem::ClientCertificate,
        );
        check(rustls::Error::HandshakeNotComplete, TlsProblem::Other);
    }

    #[test]
    fn what_the_network_does_is_not_taken_for_tls() {
        let check = |kind: io::ErrorKind, expect: RemoteProblem| {
            let found = RemoteProblem::find(&io::Error::from(kind)).map(|(problem, _)| problem);
            assert_eq!(found, Some(expect), "{kind:?}");
        };
        check(io::ErrorKind::ConnectionRefused, RemoteProblem::Refused);
        check(io::ErrorKind::UnexpectedEof, RemoteProblem::Closed);
        check(io::ErrorKind::TimedOut, RemoteProblem::Silent);
        check(io::ErrorKind::HostUnreachable, RemoteProblem::Unreachable);
        assert_eq!(RemoteProblem::find(&fmt::Error), None);
    }
}

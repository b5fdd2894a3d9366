//! Directories that a user names, as the daemon knows them.

use std::io;
use std::path::{Path, PathBuf};

use crate::ErrorKind;
use crate::connect::Endpoint;

/// Why a directory cannot be named to the daemon.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// A relative path means nothing on another machine.
    #[error("cannot use {}", .path.display())]
    Elsewhere {
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: OnAnotherMachine,
    },
    /// There is none, or it cannot be reached.
    #[error("cannot use {}", .path.display())]
    Missing {
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The daemon takes text.
    #[error("{} is not UTF-8", .path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
}

/// Where the daemon is that cannot know what a relative path means.
#[derive(Debug, thiserror::Error)]
#[error("the daemon is on another machine")]
pub struct OnAnotherMachine;

impl DirectoryError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Elsewhere { .. } | Self::NotUtf8 { .. } => ErrorKind::Invalid,
            Self::Missing { .. } => ErrorKind::NotFound,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Elsewhere { .. } => "give the absolute path of the directory there",
            Self::Missing { .. } => "give a directory that exists and that you can enter",
            Self::NotUtf8 { .. } => "give the directory a name in UTF-8",
        }
    }
}

/// The absolute path of a directory that is named on the command line. A path of another machine is
/// none of this one: it is taken as it is.
///
/// # Errors
/// [`DirectoryError`] when there is no such directory, or another machine cannot know where it is.
pub fn named(endpoint: &Endpoint, path: &Path) -> Result<String, DirectoryError> {
    let path = match endpoint.is_remote() {
        true if path.has_root() => path.to_owned(),
        true => {
            return Err(DirectoryError::Elsewhere {
                path: path.to_owned(),
                source: OnAnotherMachine,
            });
        }
        false => path
            .canonicalize()
            .map_err(|source| DirectoryError::Missing { path: path.to_owned(), source })?,
    };
    path.into_os_string()
        .into_string()
        .map_err(|path| DirectoryError::NotUtf8 { path: path.into() })
}

/// The directory where the user stands; none on another machine, which does not have it.
///
/// # Errors
/// [`DirectoryError`] when it is gone, or has no name that can be told.
pub fn current(endpoint: &Endpoint) -> Result<Option<String>, DirectoryError> {
    if endpoint.is_remote() { Ok(None) } else { named(endpoint, Path::new(".")).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Remote, RemoteOptions};

    #[test]
    fn a_path_is_looked_up_where_the_daemon_is() {
        let dir = tempfile::tempdir().unwrap();
        let here = Endpoint::new("/s");
        let server = "http://127.0.0.1:1".to_owned();
        let remote = Remote::new(RemoteOptions { server, ..RemoteOptions::default() }).unwrap();
        let there = Endpoint::remote(remote);
        let whole = dir.path().canonicalize().unwrap().display().to_string();
        let dotted = dir.path().join(".");
        assert_eq!(named(&here, &dotted).unwrap(), whole);
        let error = named(&here, &dir.path().join("none")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert_eq!(named(&there, Path::new("/there/../x")).unwrap(), "/there/../x");
        let error = named(&there, Path::new("src")).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::Invalid, "cannot use src".into())
        );
        assert!(current(&here).unwrap().is_some());
        assert_eq!(current(&there).unwrap(), None);
    }
}

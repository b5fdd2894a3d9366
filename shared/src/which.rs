//! The session that a client works in: a named one, the last one, or a new one.

use std::path::PathBuf;

use agentd_proto::v1;

use crate::ErrorKind;
use crate::client::Client;
use crate::client_ids::new_ulid;
use crate::directory::{self, DirectoryError};
use crate::ids::{self, ResolveError};
use crate::session_args::{WhichSession, Wishes};
use crate::status_error::RpcError;

/// A session to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// ULID.
    pub session_id: String,
    /// It was made just now.
    pub is_new: bool,
}

/// Why there is no session to work in.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// None is found.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A directory for a new one cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A directory is wished for a session that exists.
    #[error("cannot add a directory to a session that exists")]
    DirectoryOfExisting(#[source] ChosenAtCreation),
    /// The daemon does not make one.
    #[error("cannot create a session")]
    Create(#[source] RpcError),
    /// The daemon does not set what is wished for.
    #[error("cannot change the session")]
    Change(#[source] RpcError),
}

/// Why a session gets no further directory.
#[derive(Debug, thiserror::Error)]
#[error("its directories are chosen when it is made")]
pub struct ChosenAtCreation;

impl ChooseError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Resolve(error) => error.kind(),
            Self::Directory(error) => error.kind(),
            Self::DirectoryOfExisting(_) => ErrorKind::Invalid,
            Self::Create(error) | Self::Change(error) => error.kind(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Resolve(error) => error.hint(),
            Self::Directory(error) => Some(error.hint().to_owned()),
            Self::DirectoryOfExisting(_) => {
                Some("leave --add-dir out, or begin a session with --new".to_owned())
            }
            Self::Create(error) | Self::Change(error) => error.remedy(),
        }
    }
}

/// Finds or creates the session that the options name, and sets what is wished for it.
///
/// # Errors
/// [`ChooseError`] when there is no such session, or the daemon refuses.
pub async fn choose(
    client: &Client,
    author: v1::Author,
    which: &WhichSession,
    wishes: &Wishes,
) -> Result<Chosen, ChooseError> {
    let found = match &which.session {
        Some(wanted) => Some(ids::resolve(client, wanted).await?),
        None if which.resume => {
            let newest = ids::newest(client).await.map_err(ResolveError::List)?;
            newest.map(|session| session.session_id)
        }
        None => None,
    };
    let Some(session_id) = found else { return create(client, wishes).await };
    set(client, author, &session_id, wishes).await?;
    Ok(Chosen { session_id, is_new: false })
}

/// Creates a session in the directory where the user stands, and further ones; on another machine,
/// which does not have that one, where its daemon works by default.
///
/// # Errors
/// [`ChooseError`] when the daemon refuses, or a directory cannot be used.
pub async fn create(client: &Client, wishes: &Wishes) -> Result<Chosen, ChooseError> {
    let Wishes { model, effort, mode, work, add_dir } = wishes;
    let named = |path: &PathBuf| directory::named(client.endpoint(), path);
    let further_roots = add_dir.iter().map(named).collect::<Result<_, _>>()?;
    let request = v1::CreateSessionRequest {
        effort: effort.map_or(v1::Effort::Unspecified, v1::Effort::from).into(),
        permission_mode: mode.map_or(0, |mode| v1::PermissionMode::from(mode).into()),
        work_mode: work.map_or(0, |mode| v1::WorkMode::from(mode).into()),
        session_id: new_ulid(),
        title: String::new(),
        // One that cannot be told is none.
        workspace: directory::current(client.endpoint()).ok().flatten().unwrap_or_default(),
        further_roots,
        model: model_on_the_wire(model.as_deref().unwrap_or_default()).to_owned(),
    };
    let answer = client.session().create_session(request).await;
    let answer = answer.map_err(|status| ChooseError::Create(status.into()))?;
    let session = answer.into_inner().session.unwrap_or_default();
    Ok(Chosen { session_id: session.session_id, is_new: true })
}

/// Sets model, effort and modes of a session; nothing is asked where nothing is wished.
///
/// # Errors
/// [`ChooseError`] when the daemon refuses, or directories are wished for.
pub async fn set(
    client: &Client,
    author: v1::Author,
    session_id: &str,
    wishes: &Wishes,
) -> Result<(), ChooseError> {
    let Wishes { model, effort, mode, work, add_dir } = wishes;
    if !add_dir.is_empty() {
        return Err(ChooseError::DirectoryOfExisting(ChosenAtCreation));
    }
    if model.is_none() && effort.is_none() && mode.is_none() && work.is_none() {
        return Ok(());
    }
    let request = v1::UpdateSessionRequest {
        effort: effort.map(|effort| v1::Effort::from(effort).into()),
        permission_mode: mode.map(|mode| v1::PermissionMode::from(mode).into()),
        work_mode: work.map(|mode| v1::WorkMode::from(mode).into()),
        session_id: session_id.to_owned(),
        title: None,
        model: model.as_deref().map(|model| model_on_the_wire(model).to_owned()),
        author: Some(author),
    };
    let answer = client.session().update_session(request).await;
    answer.map(drop).map_err(|status| ChooseError::Change(status.into()))
}

/// The daemon's default has no name on the wire.
pub fn model_on_the_wire(model: &str) -> &str {
    if model == "default" { "" } else { model }
}

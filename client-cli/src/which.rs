//! The session that a command works in: a named one, the last one, or a new one.

use std::path::PathBuf;

use agentd_proto::v1;
use agentd_shared::Client;

use crate::app::rpc_failure;
use crate::cli::{EffortArg, ModeArg, WhichSession, Wishes, WorkArg};
use crate::exit::{Exit, Failure};
use crate::{directory, ids, submit};

/// A session to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// ULID.
    pub(crate) session_id: String,
    /// It was made for this command.
    pub(crate) is_new: bool,
}

/// Finds or creates the session that the options name, and sets what is wished for it.
///
/// # Errors
/// A report when there is no such session, or the daemon refuses.
pub(crate) async fn choose(
    client: &Client,
    author: v1::Author,
    which: &WhichSession,
    wishes: &Wishes,
) -> Result<Chosen, Failure> {
    let found = match &which.session {
        Some(wanted) => Some(ids::resolve(client, wanted).await?),
        None if which.resume => ids::newest(client).await?.map(|session| session.session_id),
        None => None,
    };
    let Some(session_id) = found else { return create(client, wishes).await };
    set(client, author, &session_id, wishes).await?;
    Ok(Chosen { session_id, is_new: false })
}

/// Creates a session.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn create(client: &Client, wishes: &Wishes) -> Result<Chosen, Failure> {
    let named = |path: &PathBuf| directory::named(client.endpoint(), path);
    let further = wishes.add_dir.iter().map(named).collect::<Result<_, _>>()?;
    let session = submit::create_session(client, wishes, further)
        .await
        .map_err(|error| rpc_failure("cannot create a session", error))?;
    Ok(Chosen { session_id: session.session_id, is_new: true })
}

/// Sets model, effort and modes of a session; nothing is asked where nothing is wished.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn set(
    client: &Client,
    author: v1::Author,
    session_id: &str,
    wishes: &Wishes,
) -> Result<(), Failure> {
    let Wishes { model, effort, mode, work, add_dir } = wishes;
    if !add_dir.is_empty() {
        return Err(Failure::new(Exit::Usage, "cannot add a directory to a session that exists")
            .because("its directories are chosen when it is made")
            .hint("leave --add-dir out, or begin a session with --new"));
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
    answer.map(drop).map_err(|status| rpc_failure("cannot change the session", status))
}

/// The daemon's default has no name on the wire.
pub(crate) fn model_on_the_wire(model: &str) -> &str {
    if model == "default" { "" } else { model }
}

impl From<ModeArg> for v1::PermissionMode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Plan => Self::Plan,
            ModeArg::Ask => Self::Ask,
            ModeArg::AutoEdit => Self::AutoEdit,
            ModeArg::Full => Self::Full,
        }
    }
}

impl From<WorkArg> for v1::WorkMode {
    fn from(mode: WorkArg) -> Self {
        match mode {
            WorkArg::Design => Self::Design,
            WorkArg::Develop => Self::Develop,
            WorkArg::Test => Self::Test,
            WorkArg::Review => Self::Review,
            WorkArg::Docs => Self::Docs,
            WorkArg::Devops => Self::Devops,
        }
    }
}

impl From<EffortArg> for v1::Effort {
    fn from(effort: EffortArg) -> Self {
        match effort {
            EffortArg::Default => Self::Unspecified,
            EffortArg::Off => Self::Off,
            EffortArg::Minimal => Self::Minimal,
            EffortArg::Low => Self::Low,
            EffortArg::Medium => Self::Medium,
            EffortArg::High => Self::High,
            EffortArg::Max => Self::Max,
        }
    }
}

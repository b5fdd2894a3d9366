//! Sessions as users name them: a whole id, the beginning of one, or `last`.

use agentd_proto::v1;

use crate::ErrorKind;
use crate::client::Client;
use crate::status_error::RpcError;
use crate::text::one_line;

/// Characters of a ULID.
const ULID_CHARS: usize = 26;
/// Fewest characters that name a session.
const MIN_PREFIX: usize = 4;
/// Characters of an id that are shown: the whole time part, so that two are seldom alike.
const SHOWN: usize = 12;
/// Most sessions that an ambiguous prefix lists.
const MAX_CANDIDATES: usize = 8;
/// Most sessions that are asked for at once.
const PAGE: u32 = 1000;

/// Why a text names no session.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The daemon does not tell which there are.
    #[error("cannot list sessions")]
    List(#[from] RpcError),
    /// The last one was asked for, and there is none.
    #[error("there is no session yet")]
    NoSessions,
    /// The text is too short to be looked for.
    #[error("\"{wanted}\" is too short to name a session")]
    TooShort {
        /// The text.
        wanted: String,
    },
    /// No id begins with it.
    #[error("no session begins with \"{wanted}\"")]
    Unknown {
        /// The text.
        wanted: String,
    },
    /// More than one id begins with it.
    #[error("\"{wanted}\" fits {count} sessions")]
    Ambiguous {
        /// The text.
        wanted: String,
        /// How many.
        count: usize,
        /// Which.
        #[source]
        source: Candidates,
    },
}

/// Sessions that an ambiguous beginning may mean, the most recently used first.
#[derive(Debug, thiserror::Error)]
#[error("they are\n    {}", .listed.join("\n    "))]
pub struct Candidates {
    /// One line each, with id and title, and how many more there are.
    pub listed: Vec<String>,
}

impl ResolveError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::List(error) => error.kind(),
            Self::NoSessions | Self::Unknown { .. } => ErrorKind::NotFound,
            Self::TooShort { .. } | Self::Ambiguous { .. } => ErrorKind::Invalid,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::List(error) => return error.remedy(),
            Self::NoSessions => "begin one with `agentctl chat`",
            Self::TooShort { .. } => {
                return Some(format!("give at least {MIN_PREFIX} characters of its id, or `last`"));
            }
            Self::Unknown { .. } => "see `agentctl sessions list`",
            Self::Ambiguous { .. } => "give more characters of the id",
        };
        Some(hint.to_owned())
    }
}

/// Finds a session by what the user typed.
///
/// # Errors
/// [`ResolveError`] when nothing or more than one session fits, or the daemon refuses.
pub async fn resolve(client: &Client, wanted: &str) -> Result<String, ResolveError> {
    if wanted.eq_ignore_ascii_case("last") {
        let newest = newest(client).await?;
        return newest.map(|session| session.session_id).ok_or(ResolveError::NoSessions);
    }
    if wanted.len() == ULID_CHARS {
        return Ok(wanted.to_ascii_uppercase());
    }
    pick(&all(client).await?, wanted)
}

/// The session that was used last.
///
/// # Errors
/// What the daemon refuses it with.
pub async fn newest(client: &Client) -> Result<Option<v1::Session>, RpcError> {
    let request = v1::ListSessionsRequest { page_size: 1, page_token: String::new() };
    let page = client.session().list_sessions(request).await?;
    Ok(page.into_inner().sessions.into_iter().next())
}

/// All sessions, the most recently used first.
///
/// # Errors
/// What the daemon refuses it with.
pub async fn all(client: &Client) -> Result<Vec<v1::Session>, RpcError> {
    Ok(up_to(client, usize::MAX).await?.sessions)
}

/// The beginning of the list of sessions.
#[derive(Debug)]
pub struct Listed {
    /// The most recently used first.
    pub sessions: Vec<v1::Session>,
    /// There are others after them.
    pub has_more: bool,
}

/// At most `limit` sessions.
///
/// # Errors
/// What the daemon refuses it with.
pub async fn up_to(client: &Client, limit: usize) -> Result<Listed, RpcError> {
    let mut sessions = Vec::new();
    let mut page_token = String::new();
    loop {
        let missing = u32::try_from(limit - sessions.len()).unwrap_or(PAGE).min(PAGE);
        let request = v1::ListSessionsRequest { page_size: missing, page_token };
        let page = client.session().list_sessions(request).await?.into_inner();
        sessions.extend(page.sessions);
        page_token = page.next_page_token;
        if page_token.is_empty() || sessions.len() >= limit {
            let has_more = !page_token.is_empty() || sessions.len() > limit;
            sessions.truncate(limit);
            return Ok(Listed { sessions, has_more });
        }
    }
}

/// Picks the session whose id begins with what was typed.
fn pick(sessions: &[v1::Session], wanted: &str) -> Result<String, ResolveError> {
    let prefix = wanted.to_ascii_uppercase();
    let wanted = || wanted.to_owned();
    if prefix.chars().count() < MIN_PREFIX {
        return Err(ResolveError::TooShort { wanted: wanted() });
    }
    let fits: Vec<&v1::Session> =
        sessions.iter().filter(|session| session.session_id.starts_with(&prefix)).collect();
    match fits.as_slice() {
        [] => Err(ResolveError::Unknown { wanted: wanted() }),
        [only] => Ok(only.session_id.clone()),
        several => {
            let mut listed: Vec<String> = several
                .iter()
                .take(MAX_CANDIDATES)
                .map(|session| format!("{} {}", session.session_id, one_line(&session.title, 40)))
                .collect();
            if several.len() > MAX_CANDIDATES {
                listed.push(format!("and {} more", several.len() - MAX_CANDIDATES));
            }
            let count = several.len();
            Err(ResolveError::Ambiguous { wanted: wanted(), count, source: Candidates { listed } })
        }
    }
}

/// The part of an id that is shown in lists.
pub fn short(id: &str) -> &str {
    id.get(..SHOWN).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(ids: &[&str]) -> Vec<v1::Session> {
        let session = |id: &&str| v1::Session { session_id: (*id).into(), ..Default::default() };
        ids.iter().map(session).collect()
    }

    #[test]
    fn a_beginning_names_the_only_session_that_has_it() {
        let known = sessions(&["01JZAAAA", "01JZABBB", "01KCCCCC"]);
        let check = |wanted: &str, expect: Result<&str, ErrorKind>| {
            let got = pick(&known, wanted).map_err(|error| error.kind());
            assert_eq!(got.as_deref().map_err(|kind| *kind), expect, "{wanted}");
        };
        check("01JZAA", Ok("01JZAAAA"));
        check("01kc", Ok("01KCCCCC"));
        check("01JZ", Err(ErrorKind::Invalid));
        check("01X0", Err(ErrorKind::NotFound));
        check("01K", Err(ErrorKind::Invalid));
        check("", Err(ErrorKind::Invalid));
        check("世界世界", Err(ErrorKind::NotFound));
    }

    #[test]
    fn an_ambiguous_beginning_lists_what_fits() {
        let ids: Vec<String> = (0..10).map(|index| format!("01JZ{index}")).collect();
        let known = sessions(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        let error = pick(&known, "01JZ").unwrap_err();
        assert_eq!(error.to_string(), "\"01JZ\" fits 10 sessions");
        let why = crate::chain(&error);
        assert!(why.contains("01JZ0") && why.contains("and 2 more"), "{why}");
    }

    #[test]
    fn shown_ids_are_cut_only_when_long() {
        assert_eq!(short("01JZABCDEFGHJKMNPQRSTVWXYZ"), "01JZABCDEFGH");
        assert_eq!(short("世"), "世");
    }
}

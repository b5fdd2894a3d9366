//! Sessions as users name them: a whole id, the beginning of one, or `last`.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::text::one_line;

use crate::app::rpc_failure;
use crate::exit::{Exit, Failure};

/// Characters of a ULID.
const ULID_CHARS: usize = 26;
/// Fewest characters that name a session.
const MIN_PREFIX: usize = 4;
/// Characters of an id that are shown: the whole time part, so that two are seldom alike.
const SHOWN: usize = 12;
/// Most sessions that an ambiguous prefix lists.
const MAX_CANDIDATES: usize = 8;
const PAGE: u32 = 1000;

/// Finds a session by what the user typed.
///
/// # Errors
/// A report when nothing or more than one session fits, or the daemon refuses.
pub(crate) async fn resolve(client: &Client, wanted: &str) -> Result<String, Failure> {
    if wanted.eq_ignore_ascii_case("last") {
        let newest = newest(client).await?;
        return newest.map(|session| session.session_id).ok_or_else(no_sessions);
    }
    if wanted.len() == ULID_CHARS {
        return Ok(wanted.to_ascii_uppercase());
    }
    pick(&all(client).await?, wanted)
}

/// The session that was used last.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn newest(client: &Client) -> Result<Option<v1::Session>, Failure> {
    let request = v1::ListSessionsRequest { page_size: 1, page_token: String::new() };
    let page = client.session().list_sessions(request).await;
    let page = page.map_err(|status| rpc_failure("cannot list sessions", status))?;
    Ok(page.into_inner().sessions.into_iter().next())
}

/// All sessions, the most recently used first.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn all(client: &Client) -> Result<Vec<v1::Session>, Failure> {
    Ok(up_to(client, usize::MAX).await?.sessions)
}

/// The beginning of the list of sessions.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The most recently used first.
    pub(crate) sessions: Vec<v1::Session>,
    /// There are others after them.
    pub(crate) has_more: bool,
}

/// At most `limit` sessions.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn up_to(client: &Client, limit: usize) -> Result<Listed, Failure> {
    let mut sessions = Vec::new();
    let mut page_token = String::new();
    loop {
        let missing = u32::try_from(limit - sessions.len()).unwrap_or(PAGE).min(PAGE);
        let request = v1::ListSessionsRequest { page_size: missing, page_token };
        let page = client.session().list_sessions(request).await;
        let page = page.map_err(|status| rpc_failure("cannot list sessions", status))?.into_inner();
        sessions.extend(page.sessions);
        page_token = page.next_page_token;
        if page_token.is_empty() || sessions.len() >= limit {
            let has_more = !page_token.is_empty() || sessions.len() > limit;
            sessions.truncate(limit);
            return Ok(Listed { sessions, has_more });
        }
    }
}

fn no_sessions() -> Failure {
    Failure::new(Exit::NotFound, "there is no session yet").hint("begin one with `agentctl chat`")
}

/// Picks the session whose id begins with what was typed.
fn pick(sessions: &[v1::Session], wanted: &str) -> Result<String, Failure> {
    let prefix = wanted.to_ascii_uppercase();
    if prefix.chars().count() < MIN_PREFIX {
        let what = format!("\"{wanted}\" is too short to name a session");
        return Err(Failure::new(Exit::Usage, what)
            .hint(format!("give at least {MIN_PREFIX} characters of its id, or `last`")));
    }
    let fits: Vec<&v1::Session> =
        sessions.iter().filter(|session| session.session_id.starts_with(&prefix)).collect();
    match fits.as_slice() {
        [] => Err(Failure::new(Exit::NotFound, format!("no session begins with \"{wanted}\""))
            .hint("see `agentctl sessions list`")),
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
            let what = format!("\"{wanted}\" fits {} sessions", several.len());
            Err(Failure::new(Exit::Usage, what)
                .because(format!("they are\n    {}", listed.join("\n    ")))
                .hint("give more characters of the id"))
        }
    }
}

/// The part of an id that is shown in lists.
pub(crate) fn short(id: &str) -> &str {
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
        let check = |wanted: &str, expect: Result<&str, Exit>| {
            let got = pick(&known, wanted).map_err(|failure| failure.exit());
            assert_eq!(got.as_deref().map_err(|exit| *exit), expect, "{wanted}");
        };
        check("01JZAA", Ok("01JZAAAA"));
        check("01kc", Ok("01KCCCCC"));
        check("01JZ", Err(Exit::Usage));
        check("01X0", Err(Exit::NotFound));
        check("01K", Err(Exit::Usage));
        check("", Err(Exit::Usage));
        check("世界世界", Err(Exit::NotFound));
    }

    #[test]
    fn an_ambiguous_beginning_lists_what_fits() {
        let ids: Vec<String> = (0..10).map(|index| format!("01JZ{index}")).collect();
        let known = sessions(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        let Err(Failure::Report(report)) = pick(&known, "01JZ") else { panic!("it is ambiguous") };
        assert!(report.why.contains("01JZ0") && report.why.contains("and 2 more"), "{report:?}");
    }

    #[test]
    fn shown_ids_are_cut_only_when_long() {
        assert_eq!(short("01JZABCDEFGHJKMNPQRSTVWXYZ"), "01JZABCDEFGH");
        assert_eq!(short("世"), "世");
    }
}

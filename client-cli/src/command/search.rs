//! `agentctl search`: what was said in all sessions.

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::input::duration;
use agentd_shared::text::{one_line, relative_time};
use agentd_shared::{Client, ids};
use clap::{Args, ValueEnum};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::SearchView;

/// Columns of a title and of a name.
const TITLE_WIDTH: usize = 40;
const NAME_WIDTH: usize = 24;
/// Columns of a message; `--json` has no more characters, but some take two columns.
const SNIPPET_WIDTH: usize = 500;

/// Options of `search`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SearchArgs {
    /// Words that were said; a question will do
    #[arg(value_name = "QUESTION", required = true)]
    question: Vec<String>,
    /// In this session only: the beginning of its id, or `last`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Said since then: a date such as 2026-11-30, or how long ago such as 7d
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<i64>,
    /// Said by these only
    #[arg(long, value_name = "WHO", value_enum, hide_possible_values = false)]
    role: Option<RoleArg>,
    /// Most messages
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Who has said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RoleArg {
    /// People and scripts.
    User,
    /// The model.
    Assistant,
}

impl From<RoleArg> for v1::Speaker {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::User => Self::User,
            RoleArg::Assistant => Self::Assistant,
        }
    }
}

/// Searches.
pub(super) async fn run(args: &SearchArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = match &args.session {
        Some(wanted) => ids::resolve(&client, wanted).await?,
        None => String::new(),
    };
    let request = v1::SearchMessagesRequest {
        question: args.question.join(" "),
        session_id,
        since_ms: args.since.unwrap_or_default(),
        by: args.role.map_or(v1::Speaker::Unspecified, v1::Speaker::from).into(),
        limit: args.limit,
    };
    let answer = fetch(&client, request).await?;
    if args.json {
        app.output.json(&SearchView::from(&answer))?;
        return Ok(Exit::Ok);
    }
    for line in lines(&answer, now()) {
        app.output.line(&line)?;
    }
    for note in notes(&answer) {
        app.output.note(&note);
    }
    if !answer.messages.is_empty() {
        app.output.dim_note("`agentctl attach ID --from NUMBER` opens a session there");
    }
    Ok(Exit::Ok)
}

/// Asks the daemon.
pub(crate) async fn fetch(
    client: &Client,
    request: v1::SearchMessagesRequest,
) -> Result<v1::SearchMessagesResponse, Failure> {
    let answer = client.search().search_messages(request).await;
    Ok(answer.map_err(|status| rpc_failure("cannot search", status))?.into_inner())
}

/// Unix time in milliseconds.
pub(crate) fn now() -> i64 {
    i64::try_from(now_ms()).unwrap_or(i64::MAX)
}

/// Two inert lines for each message: where and who, and what.
pub(crate) fn lines(answer: &v1::SearchMessagesResponse, now: i64) -> Vec<String> {
    let found = answer.messages.iter().flat_map(|found| {
        let name = match found.by() {
            v1::Speaker::Assistant => "the model".to_owned(),
            v1::Speaker::User | v1::Speaker::Unspecified => {
                one_line(&found.author_name, NAME_WIDTH)
            }
        };
        let title = match one_line(&found.title, TITLE_WIDTH) {
            empty if empty.is_empty() => "(no title yet)".to_owned(),
            title => title,
        };
        let id = one_line(ids::short(&found.session_id), NAME_WIDTH);
        let when = relative_time(found.at_ms, now);
        let head = format!("{id} #{}  {title}  ({name}, {when})", found.seq);
        [head, format!("    {}", one_line(&found.snippet, SNIPPET_WIDTH))]
    });
    found.collect()
}

/// What must be known of an answer beside what it has found.
pub(crate) fn notes(answer: &v1::SearchMessagesResponse) -> Vec<String> {
    let mut notes = Vec::new();
    if answer.messages.is_empty() {
        notes.push("nothing such was said".to_owned());
    }
    if answer.truncated {
        notes.push(format!(
            "the best {}; `agentctl search --limit` shows more",
            answer.messages.len()
        ));
    }
    if answer.sessions_unread > 0 {
        let (unread, all) = (answer.sessions_unread, answer.sessions);
        notes.push(format!(
            "{unread} of {} sessions are still being read: ask again for what is in them",
            all.max(unread)
        ));
    }
    if answer.sessions_damaged > 0 {
        let damaged = answer.sessions_damaged;
        notes.push(format!("{damaged} sessions are damaged and were not searched whole"));
    }
    if answer.messages_left_out > 0 {
        let left_out = answer.messages_left_out;
        notes.push(format!(
            "{left_out} older messages were not searched ([search] in the configuration sets how many are)"
        ));
    }
    notes
}

/// Reads `7d`, `2026-11-30` or `2026-11-30 18:00` as Unix milliseconds that have passed.
fn since(text: &str) -> Result<i64, String> {
    passed(text, now(), &TimeZone::system())
}

fn passed(text: &str, now: i64, zone: &TimeZone) -> Result<i64, String> {
    const FORM: &str = "give how long ago, such as 12h or 7d, or a date such as 2026-11-30 or \"2026-11-30 18:00\"";
    let text = text.trim();
    if let Ok(ago) = duration::parse(text) {
        let ago = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
        // Before 1970 nothing was said.
        return Ok(now.saturating_sub(ago).max(1));
    }
    let time: DateTime = text.parse().map_err(|_no_time| FORM.to_owned())?;
    let zoned = time.to_zoned_datetime(zone.clone()).map_err(|_out_of_range| FORM.to_owned())?;
    match zoned.timestamp().as_millisecond() {
        future if future > now => Err("that is in the future".to_owned()),
        at => Ok(at.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_has_passed_is_a_date_or_how_long_ago() {
        let now = 10 * 86_400_000;
        let check = |text: &str, expect: Option<i64>| {
            assert_eq!(passed(text, now, &TimeZone::UTC).ok(), expect, "{text}");
        };
        check("7d", Some(3 * 86_400_000));
        check("1970-01-02", Some(86_400_000));
        check("1970-01-02 00:01", Some(86_460_000));
        check("100w", Some(1));
        for wrong in ["", "soon", "7", "1970-02-01", "1970-13-01"] {
            check(wrong, None);
        }
    }

    #[test]
    fn nothing_that_was_said_steers_a_terminal() {
        let found = v1::FoundMessage {
            session_id: "01JZ3V8QK5RDWS3Y8XZ0M4B6TN".into(),
            title: "a\u{1b}[2Jb".into(),
            seq: 42,
            at_ms: 0,
            by: v1::Speaker::User.into(),
            author_name: "ann\u{202e}".into(),
            snippet: "x\u{9b}2J\ny".into(),
            score: 1.0,
        };
        let answer = v1::SearchMessagesResponse { messages: vec![found], ..Default::default() };
        let shown = lines(&answer, 60_000);
        assert!(!shown.concat().contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown:?}");
        assert!(shown[0].starts_with("01JZ3V8QK5RD #42  a"), "{shown:?}");
        assert!(notes(&answer).is_empty());
        let nothing = v1::SearchMessagesResponse { sessions_unread: 1, ..Default::default() };
        assert_eq!(notes(&nothing).len(), 2);
    }
}

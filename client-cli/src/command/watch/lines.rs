//! Sessions as rows and lines of text.

use std::collections::HashMap;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::{Role, turn};
use agentd_shared::text::{human_duration, relative_time};
use agentd_shared::{Attention, BoardChange, SessionBoard, ids, is_unread};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::columns::{self, Flexible};
use crate::command::sessions::list::title;
use crate::exit::Failure;
use crate::output::Output;

/// Columns of a title.
const TITLE: Flexible = Flexible { column: 2, least: 12, usual: 44 };
/// Columns of a title in a line of its own.
const TITLE_OF_LINE: usize = 60;

/// The overview as a table, its column titles first, each row with what it is.
pub(super) fn table(sessions: &[&v1::SessionSummary], width: Option<usize>) -> Vec<(Role, String)> {
    let now = now();
    let titles = ["STATE", "ID", "TITLE", "UPDATED", "COST"].map(str::to_owned);
    let rows = sessions.iter().filter_map(|summary| {
        let session = summary.session.as_ref()?;
        Some([
            state(summary, now),
            ids::short(&session.session_id).to_owned(),
            title(session, usize::MAX),
            relative_time(session.updated_at_ms, now),
            turn::cost(&session.cost.unwrap_or_default()),
        ])
    });
    let roles = std::iter::once(Role::Heading)
        .chain(sessions.iter().map(|summary| look(Attention::of(summary))));
    let rows = columns::table(std::iter::once(titles).chain(rows).collect(), TITLE, width);
    roles.zip(rows).collect()
}

/// How many sessions ask for what, in one line.
pub(super) fn tally(board: &SessionBoard) -> String {
    let agentd_shared::Tally { waiting, running, unread, sessions } = board.tally();
    let more = if board.has_more() { ", and older ones" } else { "" };
    format!(
        "{sessions} sessions{more}: {waiting} waiting for you, {running} running, {unread} unread"
    )
}

/// What a session does or asks for, in a few words.
pub(super) fn state(summary: &v1::SessionSummary, now: i64) -> String {
    let Some(session) = &summary.session else { return String::new() };
    let mut words = vec![match Attention::of(summary) {
        Attention::Waits => format!("waits {}", since(session, now)).trim_end().to_owned(),
        Attention::Runs if session.status() == v1::SessionStatus::Running => "running".to_owned(),
        Attention::Runs => "queued".to_owned(),
        Attention::Unread => "unread".to_owned(),
        Attention::Rests => "idle".to_owned(),
    }];
    if session.queued_messages > 0 {
        words.push(format!("+{}", session.queued_messages));
    }
    if is_unread(summary) && Attention::of(summary) != Attention::Unread {
        words.push("unread".to_owned());
    }
    words.join(" ")
}

fn since(session: &v1::Session, now: i64) -> String {
    let waited = now.saturating_sub(session.waiting_since_ms);
    match u64::try_from(waited) {
        Ok(waited) if session.waiting_since_ms > 0 => match waited / 1000 {
            seconds @ 0..60 => format!("{seconds} s"),
            seconds @ 60..3_600 => format!("{} min", seconds / 60),
            seconds => human_duration(Duration::from_secs(seconds)),
        },
        _ => String::new(),
    }
}

fn look(attention: Attention) -> Role {
    match attention {
        Attention::Waits => Role::Warn,
        Attention::Runs => Role::Good,
        Attention::Unread => Role::Heading,
        Attention::Rests => Role::Dim,
    }
}

pub(super) fn now() -> i64 {
    i64::try_from(now_ms()).unwrap_or(i64::MAX)
}

/// One line for each change that a person would see.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// What was last said of each session.
    said: HashMap<String, String>,
}

impl Lines {
    pub(super) fn on(
        &mut self,
        change: &BoardChange,
        board: &SessionBoard,
        output: &Output,
    ) -> Result<(), Failure> {
        match change {
            BoardChange::Nothing => Ok(()),
            BoardChange::Everything => {
                self.said.clear();
                let sessions = board.in_order();
                for summary in &sessions {
                    self.is_news(summary);
                }
                for (role, row) in table(&sessions, None) {
                    output.line(&output.paint(role, &row))?;
                }
                output.line(&tally(board))
            }
            BoardChange::Added(now) => self.tell(now, output),
            BoardChange::Changed { now, .. } => self.tell(now, output),
            BoardChange::Removed(before) => {
                let id = before.session.as_ref().map(|session| session.session_id.as_str());
                self.said.remove(id.unwrap_or_default());
                line(before, "deleted", output)
            }
        }
    }

    fn tell(&mut self, summary: &v1::SessionSummary, output: &Output) -> Result<(), Failure> {
        match self.is_news(summary) {
            Some(state) => line(summary, &state, output),
            None => Ok(()),
        }
    }

    /// What is to be said of a session; none when it was just said.
    fn is_news(&mut self, summary: &v1::SessionSummary) -> Option<String> {
        let session = summary.session.as_ref()?;
        // How long it waits is no change.
        let state = state(summary, session.waiting_since_ms);
        let says = format!("{state}  {}", session.title);
        let said = self.said.insert(session.session_id.clone(), says.clone());
        (said.as_ref() != Some(&says)).then_some(state)
    }
}

fn line(summary: &v1::SessionSummary, state: &str, output: &Output) -> Result<(), Failure> {
    let Some(session) = &summary.session else { return Ok(()) };
    let id = ids::short(&session.session_id);
    let title = title(session, TITLE_OF_LINE);
    let text = format!("{}  {state}  {id}  {title}", clock(now()));
    output.line(&output.paint(look(Attention::of(summary)), &text))
}

fn clock(at_ms: i64) -> String {
    match Timestamp::from_millisecond(at_ms) {
        Ok(at) => at.to_zoned_datetime(TimeZone::system()).strftime("%H:%M:%S").to_string(),
        Err(_out_of_range) => at_ms.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(change: impl FnOnce(&mut v1::Session)) -> v1::SessionSummary {
        let mut session = v1::Session {
            session_id: "01JZAAAAAAAAAAAAAAAAAAAAAA".into(),
            title: "a \u{1b}[2Jtitle".into(),
            status: v1::SessionStatus::Idle.into(),
            ..v1::Session::default()
        };
        change(&mut session);
        v1::SessionSummary { session: Some(session), read_seq: 4 }
    }

    #[test]
    fn a_state_says_what_a_session_does_and_asks_for() {
        let check = |change: fn(&mut v1::Session), expect: &str| {
            assert_eq!(state(&summary(change), 200_000), expect);
        };
        check(|_| {}, "idle");
        check(|session| session.news_seq = 4, "idle");
        check(|session| session.news_seq = 5, "unread");
        check(|session| session.queued_messages = 2, "queued +2");
        check(
            |session| {
                session.status = v1::SessionStatus::Running.into();
                session.queued_messages = 1;
                session.news_seq = 5;
            },
            "running +1 unread",
        );
        check(
            |session| {
                session.status = v1::SessionStatus::Running.into();
                session.open_approvals = 1;
                session.waiting_since_ms = 80_000;
            },
            "waits 2 min",
        );
        check(|session| session.status = v1::SessionStatus::Waiting.into(), "waits");
    }

    #[test]
    fn a_row_is_inert_and_only_what_can_be_seen_is_news() {
        let one = summary(|_| {});
        let rows = table(&[&one], Some(80));
        assert!(rows.iter().all(|(_, row)| !row.contains('\u{1b}')), "{rows:?}");
        assert!(rows[1].1.starts_with("idle   01JZAAAAAAAA  a "), "{rows:?}");
        let mut lines = Lines::default();
        assert_eq!(lines.is_news(&one).as_deref(), Some("idle"));
        assert_eq!(lines.is_news(&summary(|session| session.last_seq = 9)), None);
        let asks = |since| {
            summary(|session| {
                session.open_questions = 1;
                session.waiting_since_ms = since;
            })
        };
        assert!(lines.is_news(&asks(5)).is_some());
        assert_eq!(lines.is_news(&asks(5)), None);
        assert!(lines.is_news(&summary(|session| session.title = "b".into())).is_some());
    }
}

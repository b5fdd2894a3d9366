//! `agentctl sessions list`.

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::Role;
use agentd_shared::ids;
use agentd_shared::text::relative_time;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::columns::{self, Flexible};
use crate::exit::{Exit, Failure};
use crate::json::SessionView;

/// Options of `sessions list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Most sessions to list; 0 means all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Columns that a title may take where there is no terminal, and at least on a narrow one.
const TITLE_WIDTH: usize = 44;
const MIN_TITLE_WIDTH: usize = 20;
/// Which column the titles are in.
const TITLE: usize = 1;

/// Lists sessions.
pub(super) async fn run(args: &ListArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let listed = ids::up_to(&client, limit).await;
    let ids::Listed { sessions, has_more } =
        listed.map_err(|error| rpc_failure("cannot list sessions", error))?;
    if args.json {
        let views: Vec<SessionView<'_>> = sessions.iter().map(SessionView::from).collect();
        app.output.json(&views)?;
    } else if sessions.is_empty() {
        app.output.note("there is no session yet; begin one with `agentctl chat`");
    } else {
        let width = app.output.is_terminal().then(|| Size::detect().columns);
        let mut rows = table(&sessions, width).into_iter();
        if let Some(titles) = rows.next() {
            app.output.line(&app.output.paint(Role::Heading, &titles))?;
        }
        for row in rows {
            app.output.line(&row)?;
        }
    }
    if has_more {
        app.output.dim_note(&format!("{} shown; more with --limit", sessions.len()));
    }
    Ok(Exit::Ok)
}

/// Sessions as an inert table, its column titles first. No row takes more than `width` columns.
pub(crate) fn table(sessions: &[v1::Session], width: Option<usize>) -> Vec<String> {
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    let titles = ["ID", "TITLE", "STATUS", "TURNS", "UPDATED"].map(str::to_owned);
    let rows = sessions.iter().map(|session| {
        [
            shown_id(sessions, &session.session_id),
            title(session, usize::MAX),
            status(session),
            session.turns.to_string(),
            relative_time(session.updated_at_ms, now),
        ]
    });
    let flexible = Flexible { column: TITLE, least: MIN_TITLE_WIDTH, usual: TITLE_WIDTH };
    columns::table(std::iter::once(titles).chain(rows).collect(), flexible, width)
}

/// The title in at most `width` columns, or a stand-in.
pub(crate) fn title(session: &v1::Session, width: usize) -> String {
    agentd_shared::format::session::title(&session.title, width)
}

fn status(session: &v1::Session) -> String {
    let status = crate::json::session_status(session.status);
    match session.queued_messages {
        0 => status,
        queued => format!("{status} +{queued} queued"),
    }
}

/// As much of an id as tells it from the others in the list.
fn shown_id(sessions: &[v1::Session], id: &str) -> String {
    let unique = |prefix: &str| {
        sessions.iter().filter(|session| session.session_id.starts_with(prefix)).count() <= 1
    };
    let mut shown = ids::short(id);
    while !unique(shown) && shown.len() < id.len() {
        shown = id.get(..shown.len() + 2).unwrap_or(id);
    }
    shown.to_owned()
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    fn session(id: &str, title: &str) -> v1::Session {
        v1::Session {
            session_id: id.into(),
            title: title.into(),
            status: v1::SessionStatus::Idle.into(),
            updated_at_ms: i64::try_from(now_ms()).unwrap(),
            turns: 3,
            ..Default::default()
        }
    }

    #[test]
    fn the_table_is_aligned_by_display_width_and_inert() {
        let sessions = [
            session("01JZAAAAAAAAAAAAAAAAAAAAAA", "世界 \u{1b}]0;x\u{7}"),
            session("01JZAAAAAAAAABBBBBBBBBBBBB", ""),
        ];
        assert_eq!(
            table(&sessions, None),
            [
                "ID              TITLE                 STATUS  TURNS  UPDATED",
                "01JZAAAAAAAAAA  世界 \\u{1b}]0;x\\u{7}  idle    3      just now",
                "01JZAAAAAAAAAB  (no title yet)        idle    3      just now",
            ]
        );
    }

    #[test]
    fn no_row_is_wider_than_the_terminal() {
        let sessions = [session("01JZAAAAAAAAAAAAAAAAAAAAAA", &"long title ".repeat(20))];
        for width in [10, 40, 61, 80, 200] {
            let rows = table(&sessions, Some(width));
            assert!(rows.iter().all(|row| row.width() <= width), "{width}: {rows:?}");
        }
        let rows = table(&sessions, Some(80));
        assert!(rows[1].ends_with("just now") && rows[1].width() > 75, "{rows:?}");
    }

    #[test]
    fn en_01_a_long_title_is_cut_between_characters() {
        for filler in 40..46 {
            let title = format!("{}世😀e\u{301}", "a".repeat(filler));
            assert!(super::title(&session("S", &title), TITLE_WIDTH).width() <= TITLE_WIDTH);
        }
    }
}

//! `agentctl sessions list`.

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::text::{one_line, relative_time};
use unicode_width::UnicodeWidthStr as _;

use crate::app::App;
use crate::cli::ListArgs;
use crate::exit::{Exit, Failure};
use crate::json::SessionView;
use crate::{ids, style};

/// Columns that a title may take.
const TITLE_WIDTH: usize = 44;

/// Lists sessions.
pub(super) async fn run(args: &ListArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let sessions = ids::up_to(&client, limit).await?;
    if args.json {
        let views: Vec<SessionView<'_>> = sessions.iter().map(SessionView::from).collect();
        app.output.json(&views)?;
    } else if sessions.is_empty() {
        app.output.note("there is no session yet; begin one with `agentctl chat`");
    } else {
        let mut rows = table(&sessions).into_iter();
        if let Some(titles) = rows.next() {
            app.output.line(&app.output.paint(style::HEADING, &titles))?;
        }
        for row in rows {
            app.output.line(&row)?;
        }
    }
    Ok(Exit::Ok)
}

/// Sessions as an inert table, its column titles first.
pub(crate) fn table(sessions: &[v1::Session]) -> Vec<String> {
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    let titles = ["ID", "TITLE", "STATUS", "TURNS", "UPDATED"].map(str::to_owned);
    let rows = sessions.iter().map(|session| {
        [
            shown_id(sessions, &session.session_id),
            title(session),
            status(session),
            session.turns.to_string(),
            relative_time(session.updated_at_ms, now),
        ]
    });
    let rows: Vec<[String; 5]> = std::iter::once(titles).chain(rows).collect();
    let mut widths = [0_usize; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .zip(widths)
                .map(|(cell, width)| {
                    format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
                })
                .collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect()
}

/// The title, or a stand-in.
pub(crate) fn title(session: &v1::Session) -> String {
    match one_line(&session.title, TITLE_WIDTH) {
        empty if empty.is_empty() => "(no title yet)".to_owned(),
        title => title,
    }
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
            table(&sessions),
            [
                "ID              TITLE                 STATUS  TURNS  UPDATED",
                "01JZAAAAAAAAAA  世界 \\u{1b}]0;x\\u{7}  idle    3      just now",
                "01JZAAAAAAAAAB  (no title yet)        idle    3      just now",
            ]
        );
    }

    #[test]
    fn en_01_a_long_title_is_cut_between_characters() {
        for filler in 40..46 {
            let title = format!("{}世😀e\u{301}", "a".repeat(filler));
            assert!(super::title(&session("S", &title)).width() <= TITLE_WIDTH);
        }
    }
}

//! The overview on a terminal, redrawn in place.

use agentd_shared::SessionBoard;
use agentd_shared::format::Role;

use super::lines::{table, tally};
use crate::chat::rows::Rows;
use crate::chat::terminal::Size;
use crate::exit::Failure;
use crate::output::Output;

/// Rows beside those of sessions: the titles, the tally, and one for the cursor.
const OTHERS: usize = 3;

/// See the page.
#[derive(Debug, Default)]
pub(super) struct Frame {
    rows: Rows,
    /// Why nothing new comes.
    pub(super) trouble: Option<String>,
}

impl Frame {
    /// Draws what is not on the screen yet.
    pub(super) fn draw(&mut self, board: &SessionBoard, output: &Output) -> Result<(), Failure> {
        let size = Size::detect();
        if self.rows.outgrows(size.columns) {
            // The terminal has broken the rows anew; nobody knows where they are.
            self.rows.keep_drawn();
        }
        self.rows.set_open(frame(board, self.trouble.as_deref(), size, output));
        if !self.rows.is_due() {
            return Ok(());
        }
        output.raw(&self.rows.take(size.rows.saturating_sub(1)))
    }
}

fn frame(board: &SessionBoard, trouble: Option<&str>, size: Size, output: &Output) -> Vec<String> {
    let width = size.text_width();
    let trouble: Vec<String> = trouble
        .into_iter()
        .flat_map(str::lines)
        .map(|line| output.paint(Role::Warn, &agentd_shared::text::one_line(line, width)))
        .collect();
    if !board.is_filled() {
        return trouble;
    }
    let sessions = board.in_order();
    let room = size.rows.saturating_sub(OTHERS + trouble.len()).max(1);
    let shown = sessions.get(..room).unwrap_or(&sessions);
    let mut rows: Vec<String> =
        table(shown, Some(width)).into_iter().map(|(role, row)| output.paint(role, &row)).collect();
    let left_out = match sessions.len() - shown.len() {
        0 => String::new(),
        more => format!("; {more} more below"),
    };
    let tally = format!("{}{left_out}", tally(board));
    rows.push(output.paint(Role::Dim, &agentd_shared::text::one_line(&tally, width)));
    rows.extend(trouble);
    rows
}

#[cfg(test)]
mod tests {
    use agentd_proto::v1;
    use agentd_shared::WatchEvent;

    use super::*;
    use crate::look::painted_width;
    use crate::output::ColorChoice;

    #[test]
    fn a_frame_fits_the_terminal_and_says_what_it_leaves_out() {
        let mut board = SessionBoard::default();
        let output = Output::new(ColorChoice::Always);
        let size = Size { columns: 40, rows: 10 };
        assert_eq!(frame(&board, None, size, &output), Vec::<String>::new());
        let session = |number: i64| v1::SessionSummary {
            session: Some(v1::Session {
                session_id: format!("01JZ{number:022}"),
                title: "a title that is longer than the terminal is wide".into(),
                updated_at_ms: number,
                ..v1::Session::default()
            }),
            read_seq: 0,
        };
        let sessions = (0..20).map(session).collect();
        let snapshot = v1::SessionSnapshot { sessions, more: false };
        drop(board.apply(&WatchEvent::Snapshot(snapshot)));
        let rows = frame(&board, Some("connection lost"), size, &output);
        assert_eq!(rows.len(), 9, "{rows:?}");
        assert!(rows.iter().all(|row| painted_width(row) <= 40), "{rows:?}");
        let wide = frame(&board, None, Size { columns: 100, rows: 10 }, &output);
        assert!(wide[8].contains("13 more below"), "{wide:?}");
    }
}

//! Where the motions of vi go.

use ratatui_textarea::{CursorMove, TextArea};

/// Moves the cursor once, as a letter says.
pub(super) fn step(letter: char, sought: Option<char>, area: &mut TextArea<'_>) {
    match letter {
        // Within their line.
        'h' if area.cursor().1 > 0 => area.move_cursor(CursorMove::Back),
        'l' | ' ' if !at_line_end(area) => area.move_cursor(CursorMove::Forward),
        'w' => area.move_cursor(CursorMove::WordForward),
        'b' => area.move_cursor(CursorMove::WordBack),
        'e' => area.move_cursor(CursorMove::WordEnd),
        '0' => area.move_cursor(CursorMove::Head),
        '$' => area.move_cursor(CursorMove::End),
        '^' => {
            area.move_cursor(CursorMove::Head);
            let line = current(area);
            let blanks = line.chars().take_while(|letter| letter.is_whitespace()).count();
            to_column(area, blanks);
        }
        'g' => {
            area.move_cursor(CursorMove::Top);
            area.move_cursor(CursorMove::Head);
        }
        'G' => area.move_cursor(CursorMove::Bottom),
        'f' | 't' => {
            let Some(sought) = sought else { return };
            let skipped = area.cursor().1 + 1;
            let found = current(area).chars().skip(skipped).position(|letter| letter == sought);
            if let Some(away) = found {
                to_column(area, skipped + away - usize::from(letter == 't'));
            }
        }
        'F' | 'T' => {
            let Some(sought) = sought else { return };
            let before: Vec<char> = current(area).chars().take(area.cursor().1).collect();
            if let Some(at) = before.iter().rposition(|letter| *letter == sought) {
                to_column(area, at + usize::from(letter == 'T'));
            }
        }
        _ => {}
    }
}

fn current(area: &TextArea<'_>) -> String {
    area.lines().get(area.cursor().0).cloned().unwrap_or_default()
}

/// Whether the cursor stands behind the last character of its line.
pub(super) fn at_line_end(area: &TextArea<'_>) -> bool {
    area.cursor().1 >= current(area).chars().count()
}

fn to_column(area: &mut TextArea<'_>, column: usize) {
    let row = area.cursor().0;
    area.move_cursor(CursorMove::Jump(to_u16(row), to_u16(column)));
}

/// A row or a column as the widget takes it.
pub(super) fn to_u16(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// A command stands on a character, never behind the last.
pub(super) fn stay_within(area: &mut TextArea<'_>) {
    if area.cursor().1 > 0 && at_line_end(area) {
        area.move_cursor(CursorMove::Back);
    }
}

//! Text in columns that are as wide as they must be, one of which gives way on a narrow terminal.

use agentd_shared::text::one_line;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Between two columns.
const GAP: &str = "  ";

/// How wide the column is that gives way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flexible {
    /// Which one it is.
    pub(crate) column: usize,
    /// Columns that it takes at least on a narrow terminal.
    pub(crate) least: usize,
    /// Columns that it takes at most where there is no terminal.
    pub(crate) usual: usize,
}

/// Rows in columns. No row takes more than `width` columns of a terminal; none: there is no terminal.
pub(crate) fn table<const N: usize>(
    rows: Vec<[String; N]>,
    flexible: Flexible,
    width: Option<usize>,
) -> Vec<String> {
    let mut rows = rows;
    let longest = match width {
        Some(width) => {
            let others = (0..N).filter(|column| *column != flexible.column);
            let taken: usize = others.map(|column| column_width(&rows, column) + GAP.len()).sum();
            width.saturating_sub(taken).max(flexible.least)
        }
        None => flexible.usual,
    };
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(flexible.column)) {
        *cell = one_line(cell, longest);
    }
    let widths: [usize; N] = std::array::from_fn(|column| column_width(&rows, column));
    rows.iter().map(|row| fitted(&padded(row, widths), width)).collect()
}

fn padded<const N: usize>(row: &[String; N], widths: [usize; N]) -> String {
    let cells = row.iter().zip(widths);
    let cells = cells
        .map(|(cell, width)| format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width()))));
    cells.collect::<Vec<_>>().join(GAP)
}

fn fitted(row: &str, width: Option<usize>) -> String {
    let mut left = width.unwrap_or(usize::MAX);
    let fits = row.graphemes(true).take_while(|grapheme| {
        let enough = left.checked_sub(grapheme.width());
        left = enough.unwrap_or(0);
        enough.is_some()
    });
    fits.collect::<String>().trim_end().to_owned()
}

fn column_width<const N: usize>(rows: &[[String; N]], column: usize) -> usize {
    rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
}

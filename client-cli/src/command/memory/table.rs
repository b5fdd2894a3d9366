//! Memories in columns and in one line.

use agentd_proto::v1;
use agentd_shared::format::memory::short;
use agentd_shared::text::one_line;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr as _;

/// Rows in columns as wide as they must be; the last one is as it is.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let padded = |row: &[String; N]| {
        let cells = row.iter().zip(widths);
        let cells =
            cells.map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(padded).collect()
}

/// A day and a time here.
pub(super) fn date(at_ms: i64) -> String {
    match Timestamp::from_millisecond(at_ms) {
        Ok(at) => at.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_out_of_range) => format!("{at_ms} ms"),
    }
}

/// A memory in one line: the end of its id, and its text.
pub(super) fn line(memory: &v1::Memory, width: usize) -> String {
    format!("{}  {}", short(&memory.memory_id), one_line(&memory.content, width))
}

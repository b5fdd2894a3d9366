//! Tables: rows in pipes, drawn when all of them are known.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::wrap::{Span, join, wrap};
use super::{Look, inline};
use crate::style;

/// Narrowest column that is worth wrapping.
const MIN_COLUMN: usize = 6;
/// Most columns that are drawn as a table.
const MAX_COLUMNS: usize = 32;

/// Tells whether a line may belong to a table.
pub(super) fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.len() > 1
}

/// Draws a table; lines that are none after all are shown as text.
pub(super) fn render(lines: &[String], look: Look) -> Vec<String> {
    let cells: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
    let is_table = cells.get(1).is_some_and(|second| second.iter().all(|cell| is_divider(cell)));
    if !is_table || columns == 0 || columns > MAX_COLUMNS {
        return lines.iter().flat_map(|line| super::text_rows(line, look)).collect();
    }
    let body: Vec<Vec<Vec<Span>>> = cells
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != 1)
        .map(|(index, row)| {
            let base = if index == 0 { style::HEADING } else { Style::new() };
            let cell = |column: usize| row.get(column).map_or("", String::as_str);
            (0..columns).map(|column| inline::spans(cell(column), base)).collect()
        })
        .collect();
    let Some(widths) = fit(&natural_widths(&body, columns), look.width) else {
        return lines.iter().flat_map(|line| super::text_rows(line, look)).collect();
    };
    let mut rows = Vec::new();
    for (index, row) in body.iter().enumerate() {
        rows.extend(draw_row(row, &widths, look));
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            rows.push(style::paint(look.colored, style::DIM, &rule.join("─┼─")));
        }
    }
    rows
}

fn draw_row(row: &[Vec<Span>], widths: &[usize], look: Look) -> Vec<String> {
    let columns: Vec<Vec<String>> = row
        .iter()
        .zip(widths)
        .map(|(spans, width)| wrap(spans, "", "", Look { width: *width, ..look }))
        .collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let bar = style::paint(look.colored, style::DIM, " │ ");
    (0..height)
        .map(|line| {
            let pieces: Vec<String> = columns
                .iter()
                .zip(widths)
                .map(|(rows, width)| {
                    let text = rows.get(line).map_or("", String::as_str);
                    let missing = width.saturating_sub(super::wrap::painted_width(text));
                    format!("{text}{}", " ".repeat(missing))
                })
                .collect();
            pieces.join(&bar).trim_end().to_owned()
        })
        .collect()
}

fn natural_widths(body: &[Vec<Vec<Span>>], columns: usize) -> Vec<usize> {
    (0..columns)
        .map(|column| {
            let widths = body.iter().filter_map(|row| row.get(column));
            widths.map(|spans| join(spans, false).width()).max().unwrap_or(0).max(1)
        })
        .collect()
}

/// Shrinks the widest columns until the table fits; `None` when it cannot.
fn fit(natural: &[usize], width: usize) -> Option<Vec<usize>> {
    let bars = 3 * natural.len().saturating_sub(1);
    let room = width.checked_sub(bars)?;
    let mut widths = natural.to_vec();
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max()?;
        if *widest <= MIN_COLUMN {
            return None;
        }
        *widest -= 1;
    }
    Some(widths)
}

fn is_divider(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|character| matches!(character, '-' | ':' | ' '))
}

/// Splits a row at the pipes that are neither escaped nor inside code.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut in_code = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let Some(cell) = cells.last_mut() else { break };
        match character {
            '\\' if characters.peek() == Some(&'|') => {
                characters.next();
                cell.push('|');
            }
            '`' => {
                in_code = !in_code;
                cell.push('`');
            }
            '|' if !in_code => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    if cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

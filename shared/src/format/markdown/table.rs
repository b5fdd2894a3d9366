//! Tables: rows in pipes, drawn when all of them are known.

use unicode_width::UnicodeWidthStr as _;

use super::inline;
use crate::format::styled::{Role, Row, Span};
use crate::format::wrap::wrap;

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
pub(super) fn render(lines: &[String], width: usize) -> Vec<Row> {
    let cells: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
    let is_table = cells.get(1).is_some_and(|second| second.iter().all(|cell| is_divider(cell)));
    if !is_table || columns == 0 || columns > MAX_COLUMNS {
        return lines.iter().flat_map(|line| super::text_rows(line, width)).collect();
    }
    let body: Vec<Vec<Vec<Span>>> = cells
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != 1)
        .map(|(index, row)| {
            let base = if index == 0 { Role::Heading } else { Role::Plain };
            let cell = |column: usize| row.get(column).map_or("", String::as_str);
            (0..columns).map(|column| inline::spans(cell(column), base.into())).collect()
        })
        .collect();
    let Some(widths) = fit(&natural_widths(&body, columns), width) else {
        return lines.iter().flat_map(|line| super::text_rows(line, width)).collect();
    };
    let mut rows = Vec::new();
    for (index, row) in body.iter().enumerate() {
        rows.extend(draw_row(row, &widths));
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            rows.push(Row::new(&rule.join("─┼─"), Role::Dim));
        }
    }
    rows
}

fn draw_row(cells: &[Vec<Span>], widths: &[usize]) -> Vec<Row> {
    let none = Row::default();
    let columns: Vec<Vec<Row>> =
        cells.iter().zip(widths).map(|(spans, width)| wrap(spans, &none, &none, *width)).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    (0..height)
        .map(|line| {
            let mut row = Row::default();
            for (index, (cell, width)) in columns.iter().zip(widths).enumerate() {
                if index > 0 {
                    row.push(Span::new(" │ ", Role::Dim));
                }
                let text = cell.get(line).cloned().unwrap_or_default();
                let missing = width.saturating_sub(text.width());
                row.append(text);
                row.push(Span::new(&" ".repeat(missing), Role::Plain));
            }
            row.trim_end();
            row
        })
        .collect()
}

fn natural_widths(body: &[Vec<Vec<Span>>], columns: usize) -> Vec<usize> {
    (0..columns)
        .map(|column| {
            let cells = body.iter().filter_map(|row| row.get(column));
            let width = |spans: &Vec<Span>| spans.iter().map(|span| span.text().width()).sum();
            cells.map(width).max().unwrap_or(0).max(1)
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

//! Rows of the report: a value, the raw limit beside it, and the aim.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// What a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Ms,
    PerSecond,
    Mib,
    Kib,
    Percent,
    Count,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Ms => "ms",
            Self::PerSecond => "1/s",
            Self::Mib => "MiB",
            Self::Kib => "KiB",
            Self::Percent => "%",
            Self::Count => "",
        }
    }

    fn show(self, value: f64) -> String {
        let decimals = match self {
            Self::Ms if value.abs() < 10.0 => 3,
            Self::Ms | Self::Mib | Self::Kib | Self::Percent => 1,
            Self::PerSecond | Self::Count => 0,
        };
        format!("{value:.decimals$} {}", self.name()).trim_end().to_owned()
    }
}

/// What is asked of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
    /// Of the value divided by the raw limit.
    RatioAtMost(f64),
    RatioAtLeast(f64),
}

/// One measured thing.
#[derive(Debug)]
pub(crate) struct Row {
    bench: &'static str,
    what: String,
    value: f64,
    unit: Unit,
    raw: Option<(f64, &'static str)>,
    aim: Option<Aim>,
}

impl Row {
    pub(crate) fn new(
        bench: &'static str,
        what: impl Into<String>,
        value: f64,
        unit: Unit,
    ) -> Self {
        Self { bench, what: what.into(), value, unit, raw: None, aim: None }
    }

    /// The raw limit, in the same unit, and what it is.
    pub(crate) fn raw(self, value: f64, what: &'static str) -> Self {
        Self { raw: Some((value, what)), ..self }
    }

    pub(crate) fn aim(self, aim: Aim) -> Self {
        Self { aim: Some(aim), ..self }
    }

    fn ratio(&self) -> Option<f64> {
        self.raw.map(|(raw, _)| self.value / raw)
    }

    /// None when nothing is asked.
    fn is_reached(&self) -> Option<bool> {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        self.aim.map(|aim| match aim {
            Aim::AtMost(limit) => self.value <= limit,
            Aim::AtLeast(limit) => self.value >= limit,
            Aim::RatioAtMost(limit) => ratio <= limit,
            Aim::RatioAtLeast(limit) => ratio >= limit,
        })
    }

    fn aim_text(&self) -> String {
        match self.aim {
            None => String::new(),
            Some(Aim::AtMost(limit)) => format!("<= {limit} {}", self.unit.name()),
            Some(Aim::AtLeast(limit)) => format!(">= {limit} {}", self.unit.name()),
            Some(Aim::RatioAtMost(limit)) => format!("ratio <= {limit}"),
            Some(Aim::RatioAtLeast(limit)) => format!("ratio >= {limit}"),
        }
    }

    fn cells(&self) -> [String; 7] {
        let raw = self.raw.map(|(raw, what)| format!("{} ({what})", self.unit.show(raw)));
        let reached = self.is_reached().map(|is_reached| if is_reached { "yes" } else { "NO" });
        [
            self.bench.to_owned(),
            self.what.clone(),
            self.unit.show(self.value),
            raw.unwrap_or_default(),
            self.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            self.aim_text(),
            reached.unwrap_or_default().to_owned(),
        ]
    }
}

/// A table in Markdown, aligned to be read as it is.
pub(crate) fn table(rows: &[Row]) -> String {
    let head = ["bench", "what", "measured", "raw limit", "ratio", "aim", "reached"];
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    let mut widths = [0; 7];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    lines.insert(1, widths.map(|width| "-".repeat(width)));
    let mut table = String::new();
    for line in &lines {
        for (width, cell) in widths.iter().zip(line) {
            // Writing to a String cannot fail.
            let _ = write!(table, "| {cell:<width$} ");
        }
        table.push_str("|\n");
    }
    table
}

/// The same for programs.
pub(crate) fn json(rows: &[Row]) -> Value {
    rows.iter()
        .map(|row| {
            json!({
                "bench": row.bench,
                "what": row.what,
                "value": row.value,
                "unit": row.unit.name(),
                "raw_limit": row.raw.map(|(raw, _)| raw),
                "raw_limit_is": row.raw.map(|(_, what)| what),
                "ratio": row.ratio(),
                "aim": row.aim.map(|_| row.aim_text()),
                "reached": row.is_reached(),
            })
        })
        .collect()
}

//! The memories of a tea_agent database (`chat_history.db`, spec b.1) as lines of an import.
//!
//! The file is only read, as it lies there: a copy of it in memory is asked for one table, with everything
//! forbidden that is not needed for it. What a record says is passed on as it is; what cannot be read is
//! told with its row, and nothing is guessed. The daemon then checks it as any other memory.

mod dates;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::tz::TimeZone;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::Value;
use rusqlite::{Connection, Error};
use serde::Serialize;

/// Begins every database.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";
/// Where a database says that it has a write-ahead log, and what it says when it has none.
const LOG_FLAGS: std::ops::Range<usize> = 18..20;
const NO_LOG: u8 = 1;

/// Most memories of a file.
const MAX_ROWS: usize = 100_000;
/// Longest value that is looked at, in bytes.
const MAX_VALUE: i32 = 1024 * 1024;
/// Memory of SQLite beside the file, in bytes.
const MAX_MEMORY: u64 = 64 * 1024 * 1024;
/// Steps of the query between two looks at how many there were, and most looks: some seconds.
const STEPS: i32 = 10_000;
const MAX_LOOKS: u32 = 100_000;

/// Functions that reach beyond the database, should a build of SQLite have them.
const FUNCTIONS: [&str; 5] = ["edit", "fts3_tokenizer", "load_extension", "readfile", "writefile"];

/// What a file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Lines of an import, with their rows.
    pub(super) lines: Vec<(usize, String)>,
    /// Rows that cannot be taken in, and why.
    pub(super) left_out: Vec<(usize, String)>,
    /// Rows that were forgotten there.
    pub(super) forgotten: usize,
}

/// How a file is read.
#[derive(Debug)]
pub(super) struct Reading {
    /// The zone of times that were written without one.
    pub(super) zone: TimeZone,
    /// Unix time in milliseconds.
    pub(super) now_ms: i64,
    /// Records whose date cannot be read come in, too, as of now.
    pub(super) with_undated: bool,
}

/// One memory as a line of an import has it.
#[derive(Debug, Serialize)]
struct Line {
    content: String,
    priority: &'static str,
    importance: i64,
    category: &'static str,
    tags: Vec<String>,
    pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<String>,
}

/// Reads a file.
///
/// # Errors
/// When it is damaged, or is no database of tea_agent.
pub(super) fn read(mut file: Vec<u8>, reading: &Reading) -> Result<Found, String> {
    if let Some(flags) = file.get_mut(LOG_FLAGS) {
        flags.fill(NO_LOG);
    }
    rows(&file, reading).map_err(|error| match error {
        Error::SqliteFailure(_, Some(why)) => format!("{why}; is it a database of tea_agent?"),
        Error::InvalidColumnName(name) => {
            format!("its table memories has no column {name}; is it a database of tea_agent?")
        }
        Error::QueryReturnedMoreThanOneRow => {
            format!("it has more than {MAX_ROWS} memories; that many are not taken in")
        }
        other => other.to_string(),
    })
}

fn rows(file: &[u8], reading: &Reading) -> Result<Found, Error> {
    let connection = open(file)?;
    let mut statement = connection.prepare("SELECT rowid, * FROM memories ORDER BY rowid")?;
    let names: Vec<String> = statement.column_names().skip(1).map(str::to_lowercase).collect();
    if !names.iter().any(|name| name == "content") {
        return Err(Error::InvalidColumnName("content".to_owned()));
    }
    let mut found = Found::default();
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        if count > MAX_ROWS {
            return Err(Error::QueryReturnedMoreThanOneRow);
        }
        let number = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
        let cell = |name: &str| -> Result<Value, Error> {
            match names.iter().position(|known| known == name) {
                Some(place) => row.get(place + 1),
                None => Ok(Value::Null),
            }
        };
        let record = Record {
            id: cell("id")?,
            content: cell("content")?,
            priority: cell("priority")?,
            importance: cell("importance")?,
            category: cell("category")?,
            tags: cell("tags")?,
            pinned: cell("pinned")?,
            expires_at: cell("expires_at")?,
            created_at: cell("created_at")?,
        };
        if cell("is_active")? == Value::Integer(0) {
            found.forgotten += 1;
            continue;
        }
        let line = record.line(reading);
        let line = line.and_then(|line| serde_json::to_string(&line).map_err(|it| it.to_string()));
        match line {
            Ok(line) => found.lines.push((number, line)),
            Err(problem) => found.left_out.push((number, problem)),
        }
    }
    Ok(found)
}

/// Opens a database in memory from which one table can be read.
fn open(file: &[u8]) -> Result<Connection, Error> {
    let mut connection = Connection::open_in_memory()?;
    let limit = MAX_MEMORY + file.len() as u64;
    connection.query_row(&format!("PRAGMA hard_heap_limit = {limit}"), [], |_| Ok(()))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cell_size_check", true)?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.deserialize_read_exact("main", file, file.len(), true)?;
    let looks = Arc::new(AtomicU32::new(0));
    connection
        .progress_handler(STEPS, Some(move || looks.fetch_add(1, Ordering::Relaxed) > MAX_LOOKS))?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select => Authorization::Allow,
        AuthAction::Read { table_name, .. } if table_name.eq_ignore_ascii_case("memories") => {
            Authorization::Allow
        }
        // Defaults of columns name functions, such as CURRENT_TIMESTAMP.
        AuthAction::Function { function_name } if !FUNCTIONS.contains(&function_name) => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }))?;
    Ok(connection)
}

/// A row as it is.
struct Record {
    id: Value,
    content: Value,
    priority: Value,
    importance: Value,
    category: Value,
    tags: Value,
    pinned: Value,
    expires_at: Value,
    created_at: Value,
}

impl Record {
    fn line(self, reading: &Reading) -> Result<Line, String> {
        let Self {
            id,
            content,
            priority,
            importance,
            category,
            tags,
            pinned,
            expires_at,
            created_at,
        } = self;
        let Value::Text(content) = content else { return Err("content: it is no text".to_owned()) };
        let (category, further) = category_of(&category)?;
        let mut tags = tags_of(&tags)?;
        tags.extend(further);
        Ok(Line {
            content,
            priority: priority_of(&priority)?,
            importance: match importance {
                Value::Null => 3,
                Value::Integer(number @ 1..=5) => number,
                other => return Err(wrong("importance", &other, "a number from 1 to 5")),
            },
            category,
            tags,
            pinned: matches!(pinned, Value::Integer(number) if number != 0),
            expires_at_ms: dates::read("expires_at", &expires_at, &reading.zone)?,
            created_at_ms: created(&created_at, reading)?,
            source_id: match id {
                Value::Text(id) => Some(id),
                Value::Integer(number) => Some(number.to_string()),
                Value::Null | Value::Real(_) | Value::Blob(_) => None,
            },
        })
    }
}

/// When a record was made; none: it is to be dated now.
fn created(value: &Value, reading: &Reading) -> Result<Option<i64>, String> {
    let at = dates::read("created_at", value, &reading.zone).and_then(|at| match at {
        None => Err("created_at: there is none".to_owned()),
        Some(at) if at > reading.now_ms => {
            Err(wrong("created_at", value, "a time that has passed"))
        }
        Some(at) => Ok(Some(at)),
    });
    if reading.with_undated { Ok(at.unwrap_or(None)) } else { at }
}

fn priority_of(value: &Value) -> Result<&'static str, String> {
    match value {
        Value::Integer(0) => Ok("critical"),
        Value::Integer(1) => Ok("high"),
        Value::Integer(2) | Value::Null => Ok("medium"),
        Value::Integer(3) => Ok("low"),
        other => Err(wrong("priority", other, "a number from 0 to 3")),
    }
}

/// The category, and a tag for one that is not known here.
fn category_of(value: &Value) -> Result<(&'static str, Option<String>), String> {
    let text = match value {
        Value::Null => "general".to_owned(),
        Value::Text(text) => text.trim().to_lowercase(),
        other => return Err(wrong("category", other, "a word")),
    };
    Ok(match text.as_str() {
        "instruction" => ("instruction", None),
        "preference" => ("preference", None),
        "fact" => ("fact", None),
        "reminder" => ("reminder", None),
        "reflection" => ("reflection", None),
        "general" | "" => ("general", None),
        _ => ("general", Some(text)),
    })
}

/// Tags were written as "a,b" and as "a, b".
fn tags_of(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Text(tags) => {
            let tags = tags.split([',', '，']).map(str::trim).filter(|tag| !tag.is_empty());
            Ok(tags.map(str::to_owned).collect())
        }
        other => Err(wrong("tags", other, "words with commas between them")),
    }
}

/// What is wrong with a value.
fn wrong(field: &str, value: &Value, wanted: &str) -> String {
    let shown = match value {
        Value::Null => "nothing".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("'{}'", text.chars().take(40).collect::<String>()),
        Value::Blob(_) => "binary".to_owned(),
    };
    format!("{field}: {shown} is not {wanted}")
}

#[cfg(test)]
mod tests;

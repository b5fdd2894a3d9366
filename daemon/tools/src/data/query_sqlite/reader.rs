//! A database in memory that can only be read.

use std::sync::{Arc, OnceLock};

use agentd_domain::{ToolResult, cut_head_tail, cut_line};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Error, ErrorCode, params_from_iter, types};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::cells::cell;
use super::image::Image;

/// Longest text of rows or of a schema, in bytes.
const MAX_OUTPUT: usize = 48 * 1024;

/// Longest text of one value, and shortest when there are many columns, in bytes.
const MAX_CELL: usize = 2_000;
const MIN_CELL: usize = 16;

/// Longest value that a query makes, in bytes.
const MAX_VALUE: i32 = 16 * 1024 * 1024;

/// Longest statement, in bytes: 10,000 characters.
const MAX_SQL: i32 = 40_000;

/// Memory of SQLite in this process, in bytes: four databases, and what queries on them sort.
const MAX_MEMORY: i64 = 512 * 1024 * 1024;

/// Steps of a query between two looks at the time; they take less than a millisecond.
const STEPS: i32 = 10_000;

/// How much of a message of SQLite is shown, in characters.
const MAX_MESSAGE: usize = 300;

/// Functions that reach beyond the database, should a build of SQLite have them.
const FUNCTIONS: [&str; 5] = ["edit", "fts3_tokenizer", "load_extension", "readfile", "writefile"];

/// Pragmas that tell something, with or without an argument.
const PRAGMAS: [&str; 13] = [
    "collation_list",
    "compile_options",
    "database_list",
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_xinfo",
];

/// Pragmas that tell something as long as they have no argument.
const PRAGMAS_WITHOUT: [&str; 9] = [
    "application_id",
    "data_version",
    "encoding",
    "freelist_count",
    "page_count",
    "page_size",
    "schema_version",
    "table_list",
    "user_version",
];

/// See the module.
pub(super) struct Reader {
    connection: Connection,
    /// What was refused to a statement.
    refused: Arc<OnceLock<String>>,
    enough: CancellationToken,
}

impl Reader {
    /// Opens an image. Queries on it end soon after `enough` is cancelled.
    ///
    /// # Errors
    /// When it is too large or damaged.
    pub(super) fn open(image: Image, enough: &CancellationToken) -> Result<Self, ToolResult> {
        let refused = Arc::new(OnceLock::new());
        let open = || {
            let mut connection = Connection::open_in_memory()?;
            let set_memory = format!("PRAGMA hard_heap_limit = {MAX_MEMORY}");
            connection.query_row(&set_memory, [], |_| Ok(()))?;
            // What is sorted stays in memory, which is bounded.
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            connection.pragma_update(None, "cell_size_check", true)?;
            for (setting, on) in [
                (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
                (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
                (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            ] {
                connection.set_db_config(setting, on)?;
            }
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
            connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_SQL)?;
            connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
            if !image.bytes.is_empty() {
                let length = image.bytes.len();
                connection.deserialize_read_exact("main", &*image.bytes, length, true)?;
            }
            drop(image);
            let token = enough.clone();
            connection.progress_handler(STEPS, Some(move || token.is_cancelled()))?;
            let note = Arc::clone(&refused);
            connection.authorizer(Some(move |context: AuthContext<'_>| {
                if is_allowed(&context.action) {
                    return Authorization::Allow;
                }
                // The first is what the statement is about.
                let _later = note.set(cut_line(&format!("{:?}", context.action), MAX_MESSAGE));
                Authorization::Deny
            }))?;
            Ok(connection)
        };
        match open() {
            Ok(connection) => Ok(Self { connection, refused, enough: enough.clone() }),
            Err(error) => Err(failed(&error)),
        }
    }

    /// The rows of a query, at most `most`.
    ///
    /// # Errors
    /// When the statement is none, or does more than read.
    pub(super) fn rows(
        &self,
        sql: &str,
        values: &[Value],
        most: u32,
    ) -> Result<ToolResult, ToolResult> {
        let values: Vec<types::Value> = values.iter().map(bound).collect();
        let mut statement = self.connection.prepare(sql).map_err(|error| self.failed(&error))?;
        let names: Vec<String> = statement.column_names().map(|name| cut_line(name, 200)).collect();
        let width = names.len();
        let cell_bytes =
            (MAX_OUTPUT / width.max(1)).saturating_sub(MIN_CELL).clamp(MIN_CELL, MAX_CELL);
        let mut output = Value::from(names).to_string();
        let mut found = 0;
        let mut rows =
            statement.query(params_from_iter(values)).map_err(|error| self.failed(&error))?;
        let note = loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break None,
                Err(_) if self.enough.is_cancelled() => {
                    let note =
                        format!("[The query was stopped after {found} rows: it took too long.]");
                    return Ok(ToolResult::partial("QUERY_STOPPED", format!("{output}\n{note}")));
                }
                Err(error) => return Err(self.failed(&error)),
            };
            if found == most {
                break Some(format!(
                    "[There are more than {most} rows; use LIMIT and OFFSET, or count.]"
                ));
            }
            let cells: Result<Vec<String>, Error> =
                (0..width).map(|at| Ok(cell(row.get_ref(at)?, cell_bytes))).collect();
            let cells = cells.map_err(|error| self.failed(&error))?;
            let line = format!("\n[{}]", cells.join(", "));
            if found > 0 && output.len() + line.len() > MAX_OUTPUT {
                break Some(format!(
                    "[More rows follow these {found}, which fill the room; ask for fewer columns \
                     or rows.]"
                ));
            }
            output += &line;
            found += 1;
        };
        if found == 0 {
            return Ok(ToolResult::empty(format!("{output}\n[no rows]")));
        }
        output += &note.map_or_else(|| format!("\n[{found} rows]"), |note| format!("\n{note}"));
        Ok(ToolResult::success(output))
    }

    /// What tables, views, indexes and triggers there are.
    ///
    /// # Errors
    /// When the database is damaged.
    pub(super) fn schema(&self) -> Result<ToolResult, ToolResult> {
        const SQL: &str = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema \
                           WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name";
        let read = || {
            let mut statement = self.connection.prepare(SQL)?;
            let rows = statement.query_map([], |row| row.get::<_, String>(2))?;
            let mut output = String::new();
            let mut found = 0;
            for sql in rows {
                let sql = sql?;
                // Beyond, only their number is told.
                if output.len() <= MAX_OUTPUT {
                    output += &cut_head_tail(&sql, MAX_CELL);
                    output += ";\n";
                }
                found += 1;
            }
            Ok((output, found))
        };
        let (output, found) = read().map_err(|error| self.failed(&error))?;
        if found == 0 {
            return Ok(ToolResult::empty("[The database holds no tables.]"));
        }
        let output = cut_head_tail(&output, MAX_OUTPUT);
        Ok(ToolResult::success(format!("{output}[{found} tables, views, indexes and triggers]")))
    }

    fn failed(&self, error: &Error) -> ToolResult {
        if self.enough.is_cancelled() {
            return ToolResult::partial(
                "QUERY_STOPPED",
                "[The query was stopped: it took too long.]",
            );
        }
        match self.refused.get() {
            Some(what) => ToolResult::fatal(
                "SQL_NOT_ALLOWED",
                format!("The database is only read here; the statement asks for: {what}."),
            ),
            None => failed(error),
        }
    }
}

/// What a statement may do.
fn is_allowed(action: &AuthAction<'_>) -> bool {
    let is_in =
        |names: &[&str], name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    match action {
        AuthAction::Select | AuthAction::Recursive | AuthAction::Read { .. } => true,
        AuthAction::Function { function_name } => !is_in(&FUNCTIONS, function_name),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            is_in(&PRAGMAS, pragma_name)
                || (pragma_value.is_none() && is_in(&PRAGMAS_WITHOUT, pragma_name))
        }
        _ => false,
    }
}

fn bound(value: &Value) -> types::Value {
    match value {
        Value::Null => types::Value::Null,
        Value::Bool(is) => types::Value::Integer((*is).into()),
        Value::Number(number) => number
            .as_i64()
            .map(types::Value::Integer)
            .or_else(|| number.as_f64().map(types::Value::Real))
            .unwrap_or_else(|| types::Value::Text(number.to_string())),
        Value::String(text) => types::Value::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => types::Value::Text(value.to_string()),
    }
}

fn failed(error: &Error) -> ToolResult {
    let message = cut_line(&error.to_string(), MAX_MESSAGE);
    match error {
        Error::MultipleStatement => {
            ToolResult::fatal("SQL_ERROR", "sql holds more than one statement: give one a call.")
        }
        Error::Empty => ToolResult::fatal("SQL_ERROR", "sql holds no statement."),
        Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => ToolResult::fatal(
                "DATABASE_DAMAGED",
                format!("The database is damaged: {message}."),
            ),
            ErrorCode::OutOfMemory => ToolResult::fatal(
                "QUERY_TOO_LARGE",
                "The query needs more memory than there is for it; let it sort or group less.",
            ),
            ErrorCode::TooBig => ToolResult::fatal(
                "QUERY_TOO_LARGE",
                format!("The query makes a value of more than {MAX_VALUE} bytes."),
            ),
            _ => ToolResult::fatal("SQL_ERROR", format!("{message}.")),
        },
        _ => ToolResult::fatal("SQL_ERROR", format!("{message}.")),
    }
}

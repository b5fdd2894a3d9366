//! Arguments that have another name elsewhere and mean the same.

use serde_json::{Map, Value};

/// What becomes of a field.
#[derive(Debug, Clone, Copy)]
enum Field {
    /// It is called so.
    Is(&'static str),
    /// It is called so and says the opposite.
    Not(&'static str),
    /// It says nothing that a call here needs.
    Dropped,
}

use Field::{Dropped, Is, Not};

/// Tool, old field, what becomes of it.
const FIELDS: [(&str, &str, Field); 40] = [
    ("calculator", "expr", Is("expression")),
    ("date_math", "start_date", Is("date")),
    ("date_math", "end_date", Is("to")),
    ("edit_file", "filePath", Is("path")),
    ("edit_file", "file_path", Is("path")),
    ("fetch_url", "max_chars", Is("limit")),
    ("fetch_url", "timeout", Dropped),
    ("glob_files", "max", Dropped),
    ("glob_files", "glob_pattern", Is("pattern")),
    ("grep_files", "case_sensitive", Not("ignore_case")),
    ("grep_files", "max", Is("limit")),
    ("grep_files", "path_glob", Is("glob")),
    ("grep_files", "query", Is("pattern")),
    ("grep_files", "use_regex", Not("literal")),
    ("hash_file", "file_path", Is("path")),
    ("ip_location", "ip", Is("address")),
    ("list_dir", "filename", Is("path")),
    ("list_dir", "show_hidden", Dropped),
    ("ocr_image", "image_path", Is("path")),
    ("ocr_image", "lang", Is("language")),
    ("os_info", "refresh", Dropped),
    ("query_sqlite", "database_path", Is("path")),
    ("query_sqlite", "parameters", Is("params")),
    ("query_sqlite", "query", Is("sql")),
    ("read_file", "filePath", Is("path")),
    ("read_file", "file_path", Is("path")),
    ("read_file", "filename", Is("path")),
    ("read_file", "start_line", Is("offset")),
    ("read_file", "max_lines", Is("limit")),
    ("run_command", "cmd", Is("command")),
    ("run_command", "timeout", Is("timeout_s")),
    ("run_python", "timeout", Is("timeout_s")),
    ("time", "tz", Is("timezone")),
    ("view_image", "image_path", Is("path")),
    ("weather", "city", Is("place")),
    ("weather", "forecast_days", Is("days")),
    ("write_file", "filePath", Is("path")),
    ("write_file", "file_path", Is("path")),
    ("write_file", "filename", Is("path")),
    ("search_web", "limit", Is("max_results")),
];

/// True when arguments of `tool` may hold a field that has another name.
pub(super) fn concerns(tool: &str, arguments_json: &str) -> bool {
    FIELDS.iter().any(|(of, old, _)| *of == tool && arguments_json.contains(old))
        || (tool == "edit_file" && !arguments_json.contains("edits"))
}

/// Renames what has another name in `tool`. What the tool knows is never touched, and a field that
/// is there under both names stays, to be refused.
pub(super) fn rename(tool: &str, schema: &Value, arguments: &mut Map<String, Value>) {
    let knows = |field: &str| schema.get("properties").and_then(|all| all.get(field)).is_some();
    for (of, old, becomes) in FIELDS {
        if of != tool || knows(old) {
            continue;
        }
        let (new, is_opposite) = match becomes {
            Is(new) => (new, false),
            Not(new) => (new, true),
            Dropped => {
                arguments.remove(old);
                continue;
            }
        };
        if arguments.contains_key(new) || !knows(new) {
            continue;
        }
        match (arguments.remove(old), is_opposite) {
            (Some(Value::Bool(value)), true) => {
                arguments.insert(new.to_owned(), Value::Bool(!value));
            }
            (Some(value), false) => {
                arguments.insert(new.to_owned(), value);
            }
            (Some(value), true) => {
                arguments.insert(old.to_owned(), value);
            }
            (None, _) => {}
        }
    }
}

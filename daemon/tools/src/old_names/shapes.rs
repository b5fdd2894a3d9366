//! Arguments that are put together anew for the tool that does the same here.

use agentd_domain::MemoryPriority;
use serde_json::{Map, Value, json};

type Arguments = Map<String, Value>;

/// Which tool a call is of; the error says what to do instead.
type Shaped = Result<&'static str, String>;

/// Files and directories by `action`.
pub(super) fn file(arguments: &mut Arguments) -> Shaped {
    let action = text(arguments, "action").unwrap_or_default();
    if let Some(name) = arguments.remove("filename") {
        arguments.insert("path".to_owned(), name);
    }
    match action.as_str() {
        "read" => {
            keep(arguments, &["path", "offset", "limit"]);
            Ok("read_file")
        }
        "write" => {
            keep(arguments, &["path", "content"]);
            Ok("write_file")
        }
        "list" if arguments.get("recursive") == Some(&Value::Bool(true)) => {
            Err("list_dir lists one directory; glob_files finds files at any depth".to_owned())
        }
        "list" => {
            keep(arguments, &["path"]);
            Ok("list_dir")
        }
        _ => Err("read_file, write_file and list_dir do what it did".to_owned()),
    }
}

/// A whole file, perhaps in pieces.
pub(super) fn save_file(arguments: &mut Arguments) -> Shaped {
    let is = |field: &str, value: &str| {
        arguments.get(field).and_then(Value::as_str).is_none_or(|is| is.eq_ignore_ascii_case(value))
    };
    if arguments.get("append") == Some(&Value::Bool(true)) {
        return Err("write_file writes whole files; edit_file adds to one".to_owned());
    }
    if !is("mode", "text") || !(is("encoding", "utf-8") || is("encoding", "utf8")) {
        return Err("write_file writes text, as UTF-8".to_owned());
    }
    if let Some(Value::Array(chunks)) = arguments.remove("chunks") {
        let whole: Option<String> = chunks.iter().map(Value::as_str).collect();
        let whole = whole.ok_or("write_file takes the whole text as content")?;
        arguments.insert("content".to_owned(), whole.into());
    }
    keep(arguments, &["path", "content"]);
    Ok("write_file")
}

/// Edits by `action`.
pub(super) fn edit(arguments: &mut Arguments) -> Shaped {
    let action = text(arguments, "action").unwrap_or_default();
    if action == "preview_patch" || arguments.get("preview") == Some(&Value::Bool(true)) {
        return Err(
            "there is no preview: edit_file shows the diff and undo_edit takes it back".to_owned()
        );
    }
    match action.as_str() {
        "replace_text" => {
            one_edit(arguments);
            keep(arguments, &["path", "edits"]);
            Ok("edit_file")
        }
        "apply_patch" => {
            let patch = arguments.remove("content").unwrap_or_default();
            *arguments = Map::from_iter([("patch".to_owned(), patch)]);
            Ok("apply_patch")
        }
        _ => {
            Err("numbers of lines move while a file is edited: give edit_file the text to replace"
                .to_owned())
        }
    }
}

/// One replacement, as the list of edits that `edit_file` takes. What is not whole stays as it is.
pub(super) fn one_edit(arguments: &mut Arguments) {
    const PATH: [&str; 2] = ["filePath", "file_path"];
    const OLD: [&str; 5] = ["old", "old_text", "oldText", "old_string", "old_code"];
    const NEW: [&str; 6] = ["new", "new_text", "newText", "new_string", "new_code", "new_content"];
    let find = |names: &[&'static str]| {
        names.iter().copied().find(|name| arguments.get(*name).is_some_and(Value::is_string))
    };
    let (Some(old), Some(new)) = (find(&OLD), find(&NEW)) else { return };
    let path = find(&PATH).filter(|_| !arguments.contains_key("path"));
    let mut edit = Map::new();
    for (to, from) in [("old", old), ("new", new), ("replace_all", "replace_all")] {
        edit.extend(arguments.remove(from).map(|value| (to.to_owned(), value)));
    }
    arguments.insert("edits".to_owned(), json!([edit]));
    if let Some(path) = path.and_then(|name| arguments.remove(name)) {
        arguments.insert("path".to_owned(), path);
    }
}

/// A program with its arguments.
pub(super) fn exec(arguments: &mut Arguments) -> Shaped {
    let action = text(arguments, "action").unwrap_or_else(|| "single".to_owned());
    if action != "single" || arguments.contains_key("commands") {
        return Err("call run_command once for each command".to_owned());
    }
    let Some(app) = text(arguments, "app") else {
        rename(arguments, "timeout", "timeout_s");
        // Called as run_command is.
        let is_one = arguments.contains_key("command") || arguments.contains_key("argv");
        return if is_one && !arguments.contains_key("args") {
            Ok("run_command")
        } else {
            Err("give run_command a command or argv".to_owned())
        };
    };
    let rest = match arguments.remove("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(words)) => words,
        Some(_) => return Err("give run_command all words as argv".to_owned()),
    };
    let argv: Vec<Value> = std::iter::once(app.into()).chain(rest).collect();
    arguments.insert("argv".to_owned(), argv.into());
    rename(arguments, "timeout", "timeout_s");
    Ok("run_command")
}

/// The web or the workspace by `search_type`.
pub(super) fn search(arguments: &mut Arguments) -> Shaped {
    let kind = text(arguments, "search_type").unwrap_or_else(|| "web".to_owned());
    match kind.as_str() {
        "web" => {
            keep(arguments, &["query", "max_results"]);
            Ok("search_web")
        }
        "code" => {
            let names = [("query", "pattern"), ("root_path", "path"), ("glob_pattern", "glob")];
            let mut renamed = Map::from_iter([("literal".to_owned(), true.into())]);
            for (old, new) in names {
                renamed.extend(arguments.remove(old).map(|value| (new.to_owned(), value)));
            }
            *arguments = renamed;
            Ok("grep_files")
        }
        _ => Err("search_web searches the web, and grep_files the workspace".to_owned()),
    }
}

/// Changes of several files by `action`.
pub(super) fn diff(arguments: &mut Arguments) -> Shaped {
    if text(arguments, "action").as_deref() == Some("undo") {
        arguments.clear();
        return Ok("undo_edit");
    }
    Err("edit_file and apply_patch change files and show the diff, and undo_edit takes it back"
        .to_owned())
}

/// The list of what is to be done by `action`.
pub(super) fn todo(arguments: &mut Arguments) -> Shaped {
    let items = match text(arguments, "action").as_deref() {
        Some("clear") => Vec::new(),
        Some("create") => {
            let Some(Value::Array(items)) = arguments.remove("items") else {
                return Err("give manage_todo_list the whole list as items".to_owned());
            };
            let item =
                |item| if let Value::String(label) = item { json!({"label": label}) } else { item };
            items.into_iter().map(item).collect()
        }
        _ => {
            return Err(
                "give manage_todo_list the whole list each time, with the status of each item"
                    .to_owned(),
            );
        }
    };
    keep(arguments, &["title"]);
    arguments.insert("items".to_owned(), items.into());
    Ok("manage_todo_list")
}

/// Goals by `action`.
pub(super) fn goals(arguments: &mut Arguments) -> Shaped {
    let action = match text(arguments, "action").as_deref() {
        Some("goal") => "add",
        Some("done") => "done",
        Some("list_goals") => "list",
        Some("check") => "check",
        _ => return Err("manage_goals takes add, done, drop, list or check".to_owned()),
    };
    // Each action was given all fields; what it has no use for said nothing.
    match action {
        "add" => keep(arguments, &["content", "priority"]),
        "done" => {
            rename(arguments, "goal_id", "id");
            keep(arguments, &["id"]);
        }
        _ => arguments.clear(),
    }
    arguments.insert("action".to_owned(), action.into());
    Ok("manage_goals")
}

/// A message; how long a desktop shows it is the desktop's.
#[expect(clippy::unnecessary_wraps, reason = "a shape, as the others are")]
pub(super) fn notify(arguments: &mut Arguments) -> Shaped {
    keep(arguments, &["title", "message", "urgency"]);
    Ok("notify")
}

/// A question; a time of 0 was no limit.
#[expect(clippy::unnecessary_wraps, reason = "a shape, as the others are")]
pub(super) fn question(arguments: &mut Arguments) -> Shaped {
    let timeout = arguments.remove("timeout").and_then(|timeout| timeout.as_u64());
    if let Some(seconds @ 1..) = timeout {
        arguments.insert("timeout_s".to_owned(), seconds.into());
    }
    keep(arguments, &["question", "options", "default", "timeout_s"]);
    Ok("ask_user")
}

/// Long-term memory. Priorities were numbers.
pub(super) fn memory(arguments: &mut Arguments) -> Shaped {
    let action = text(arguments, "action").unwrap_or_default();
    if let Some(level) = arguments.remove("priority") {
        let level = level.as_u64().and_then(|level| u8::try_from(level).ok());
        let priority = level.and_then(MemoryPriority::of_level);
        let priority = priority.ok_or("priority is critical, high, medium or low")?;
        arguments.insert("priority".to_owned(), priority.name().into());
    }
    if let Some(until) = arguments.remove("expires_at") {
        arguments.insert("until".to_owned(), until);
    }
    if let Some(Value::String(tags)) = arguments.remove("tags") {
        let tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty());
        arguments.insert("tags".to_owned(), tags.collect::<Vec<_>>().into());
    }
    let fields: &[&str] = match action.as_str() {
        "add" => &["content", "category", "priority", "importance", "until", "tags"],
        "list" => &[],
        "search" | "semantic_search" => &["query"],
        "forget" => &["id"],
        _ => return Err("manage_memory adds, searches, lists, updates and forgets".to_owned()),
    };
    keep(arguments, fields);
    let action = if action == "semantic_search" { "search".to_owned() } else { action };
    arguments.insert("action".to_owned(), action.into());
    Ok("manage_memory")
}

/// What was said, by `action`. `keyword` was one.
pub(super) fn chat_history(arguments: &mut Arguments) -> Shaped {
    const OTHERS: &str = "history_query finds what was said by words; `agentctl sessions` shows whole sessions to people";
    let action = text(arguments, "action").unwrap_or_default();
    rename(arguments, "keyword", "question");
    match action.as_str() {
        "search" | "query"
            if arguments.get("question").is_some_and(|words| !says_nothing(words)) =>
        {
            keep(arguments, &["question", "limit"]);
            Ok("history_query")
        }
        _ => Err(OTHERS.to_owned()),
    }
}

/// The project's tests.
pub(super) fn run_tests(arguments: &mut Arguments) -> Shaped {
    // All of them, as pytest finds them.
    if arguments.get("pattern").and_then(Value::as_str) == Some("test_*.py") {
        arguments.remove("pattern");
    }
    check(arguments, "test")
}

/// The project's formatter.
pub(super) fn format_code(arguments: &mut Arguments) -> Shaped {
    let action = text(arguments, "action");
    if action.as_deref().is_some_and(|action| action != "format") {
        return Err("check_project formats all files of a project, or lints them".to_owned());
    }
    check(arguments, "format")
}

/// The project's linter.
pub(super) fn lint(arguments: &mut Arguments) -> Shaped {
    check(arguments, "lint")
}

/// A check of the whole project, where the call means no less: what was to be done to one file must
/// not be done to all.
fn check(arguments: &mut Arguments, action: &str) -> Shaped {
    arguments.retain(|_, value| !says_nothing(value));
    if let Some(field) = arguments.keys().next() {
        return Err(format!(
            "check_project does it for a whole project, without {field}; for less, run_command runs \
             the project's own program"
        ));
    }
    arguments.insert("action".to_owned(), action.into());
    Ok("check_project")
}

/// True for a value that chooses nothing, or the whole workspace.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => matches!(text.trim(), "" | "." | "./" | "auto"),
        Value::Array(list) => list.iter().all(says_nothing),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// The days between two dates.
#[expect(clippy::unnecessary_wraps, reason = "a shape, as the others are")]
pub(super) fn date_diff(arguments: &mut Arguments) -> Shaped {
    arguments.insert("operation".to_owned(), "difference".into());
    Ok("date_math")
}

/// A date of one calendar in the other by `action`.
pub(super) fn lunar(arguments: &mut Arguments) -> Shaped {
    let date = arguments.remove("date_str");
    let is_lunar = match text(arguments, "action").as_deref() {
        Some("today") => {
            arguments.clear();
            return Ok("lunar_date");
        }
        Some("solar_to_lunar") | None => false,
        Some("lunar_to_solar") => true,
        Some(_) => return Err("give lunar_date the date, and is_lunar for a lunar one".to_owned()),
    };
    arguments.extend(date.map(|date| ("date".to_owned(), date)));
    arguments.insert("is_lunar".to_owned(), is_lunar.into());
    Ok("lunar_date")
}

/// The weather, of a place that was guessed from the machine's address.
pub(super) fn weather(arguments: &mut Arguments) -> Shaped {
    if let Some(days) = arguments.remove("forecast_days") {
        arguments.insert("days".to_owned(), days);
    }
    if arguments.contains_key("place") || arguments.contains_key("latitude") {
        return Ok("weather");
    }
    Err("give weather a place; ip_location tells roughly where this machine is".to_owned())
}

/// The text in a picture by `action`.
pub(super) fn ocr(arguments: &mut Arguments) -> Shaped {
    let action = text(arguments, "action").unwrap_or_else(|| "recognize".to_owned());
    if action != "recognize" || arguments.contains_key("image_base64") {
        return Err("ocr_image reads pictures that are files of the workspace".to_owned());
    }
    // Names of languages there are of another kind, such as zh-CN.
    let language = match text(arguments, "lang").as_deref() {
        None => None,
        Some("zh-CN" | "zh") => Some("chi_sim"),
        Some("zh-TW") => Some("chi_tra"),
        Some("en" | "en-US" | "eng") => Some("eng"),
        Some(_) => return Err("give ocr_image the language as tesseract names it".to_owned()),
    };
    let path = arguments.remove("image_path").ok_or("give ocr_image a path")?;
    arguments.clear();
    arguments.insert("path".to_owned(), path);
    arguments.extend(language.map(|name| ("language".to_owned(), name.into())));
    Ok("ocr_image")
}

/// Packages of Python by `action`.
pub(super) fn packages(arguments: &mut Arguments) -> Shaped {
    let action = text(arguments, "action");
    let names = text(arguments, "packages").or_else(|| text(arguments, "module"));
    let name = match (action.as_deref(), names) {
        (Some("list"), _) => None,
        (Some("check"), Some(name)) if !name.contains(',') => Some(name),
        (Some("check"), _) => {
            return Err("call query_packages once for each name".to_owned());
        }
        _ => return Err("query_packages lists packages; run_command installs them".to_owned()),
    };
    arguments.clear();
    arguments.insert("source".to_owned(), "python".into());
    arguments.extend(name.map(|name| ("name".to_owned(), name.trim().into())));
    Ok("query_packages")
}

/// The description of a Python project.
#[expect(clippy::unnecessary_wraps, reason = "a shape, as the others are")]
pub(super) fn read_pyproject(arguments: &mut Arguments) -> Shaped {
    arguments.entry("path").or_insert_with(|| "pyproject.toml".into());
    Ok("read_file")
}

fn text(arguments: &mut Arguments, field: &str) -> Option<String> {
    match arguments.remove(field) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn rename(arguments: &mut Arguments, old: &str, new: &str) {
    if let Some(value) = arguments.remove(old) {
        arguments.insert(new.to_owned(), value);
    }
}

/// Leaves out what the tool has no use for.
fn keep(arguments: &mut Arguments, fields: &[&str]) {
    arguments.retain(|name, _| fields.contains(&name.as_str()));
}

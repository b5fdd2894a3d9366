use serde_json::json;

use super::*;
use crate::Registry;

/// Every name of spec a, by where it comes from.
const NAMES: &str = "
    toolkit_reload toolkit_save toolkit_rollback toolkit_list_versions toolkit_auto_fix
    toolkit_browser_tab toolkit_build toolkit_clean_comments toolkit_comment toolkit_config
    toolkit_custom_commands toolkit_date_diff toolkit_diff toolkit_dump_topic toolkit_dynamic_skill
    toolkit_edit toolkit_evolution_exp toolkit_exec toolkit_experience_solidify toolkit_explr
    toolkit_export_last_pdf toolkit_file toolkit_format_code toolkit_get_config_path
    toolkit_get_models toolkit_gettime toolkit_git_push_all_remotes toolkit_input
    toolkit_ip_location_my toolkit_js_fetch toolkit_kb toolkit_list_provider_models toolkit_lsp
    toolkit_lunar toolkit_mcp toolkit_memory toolkit_mode toolkit_notify toolkit_ocr toolkit_os_info
    toolkit_parallel_subtasks toolkit_pkg toolkit_plan toolkit_proactive toolkit_prompt_evolve
    toolkit_query_chat_history toolkit_question toolkit_read_pyproject toolkit_reflection
    toolkit_release_version toolkit_run_tests toolkit_save_file toolkit_scheduler
    toolkit_scheduler_storage toolkit_screen_read toolkit_screenshot toolkit_search
    toolkit_self_evolve toolkit_self_evolve_thread toolkit_self_report toolkit_set_topic_title
    toolkit_stream_save toolkit_sudo_gui toolkit_task_resume toolkit_test_gui toolkit_todo
    toolkit_toggle_reasoning toolkit_weather_my

    calculator get_text_length search_knowledge_base search_web query_sqlite read_file
    browse_web_page execute_python glob_files grep_files write_file replace_in_file run_command
    run_powershell kb_stats

    readFile writeFile editFile runCommand searchContent createPlan updatePlanStep lintFile lintFiles
    getCurrentTime think

    search todo

    manage_todo_list python_executor get_datetime get_weather
";

/// Tools that a registry without a sandbox does not have.
const OF_PROGRAMS: [&str; 3] = ["check_project", "run_command", "run_python"];

#[test]
fn every_name_of_the_originals_is_a_tool_an_alias_or_answered_with_what_to_do_instead() {
    let registry = Registry::builtin();
    let aliases_of_programs = ["run_command", "runCommand", "execute_python", "python_executor"];
    for name in NAMES.split_whitespace() {
        let known = registry.find(name).is_some() || aliases_of_programs.contains(&name);
        match meaning(name) {
            None => assert!(known, "nothing is said of {name}"),
            Some(Meaning::Is(tool)) => {
                assert!(OF_PROGRAMS.contains(&tool) || registry.find(tool).is_some(), "{name}");
            }
            Some(Meaning::Depends(_)) => {}
            Some(Meaning::Nothing(instead)) => {
                let refused = registry.prepare(name, "{}").expect_err(name);
                assert_eq!(refused.output, format!("There is no tool '{name}': {instead}."));
            }
        }
    }
    for (at, (name, _)) in OLD_NAMES.iter().enumerate() {
        assert!(
            OLD_NAMES.iter().skip(at + 1).all(|(other, _)| other != name),
            "{name} is there twice"
        );
        assert!(registry.find(name).is_none(), "{name} is an alias too");
        assert!(NAMES.split_whitespace().any(|known| known == *name), "{name} is no name of old");
    }
}

#[track_caller]
fn check(name: &str, arguments: &Value, tool: &str, expect: &Value) {
    let registry = Registry::builtin();
    let arguments = arguments.to_string();
    let call = registry.resolve(name, &arguments).expect(name);
    let got: Value = serde_json::from_str(&call.arguments_json).expect("JSON");
    assert_eq!((call.tool.spec().name.as_str(), &got), (tool, expect), "{name} {arguments}");
    call.prepare().expect("arguments that fit");
}

#[test]
fn arguments_of_old_are_those_of_today() {
    let edits = json!([{"old": "a", "new": "b"}]);
    let edit = json!({"path": "f", "edits": edits});
    check(
        "replace_in_file",
        &json!({"path": "f", "old_text": "a", "new_text": "b"}),
        "edit_file",
        &edit,
    );
    check(
        "editFile",
        &json!({"filePath": "f", "oldText": "a", "newText": "b"}),
        "edit_file",
        &edit,
    );
    check(
        "edit_file",
        &json!({"file_path": "f", "old_string": "a", "new_string": "b"}),
        "edit_file",
        &edit,
    );
    let all = json!({"path": "f", "edits": [{"old": "a", "new": "b", "replace_all": true}]});
    check(
        "edit_file",
        &json!({"path": "f", "old": "a", "new": "b", "replace_all": true}),
        "edit_file",
        &all,
    );
    let replace = json!({"file_path": "f", "action": "replace_text", "old_text": "a", "new_content": "b", "backup": true});
    check("toolkit_edit", &replace, "edit_file", &edit);
    let patch = json!({"file_path": "f", "action": "apply_patch", "content": "--- a"});
    check("toolkit_edit", &patch, "apply_patch", &json!({"patch": "--- a"}));

    check("readFile", &json!({"filePath": "f"}), "read_file", &json!({"path": "f"}));
    let lines = json!({"path": "f", "start_line": 3, "max_lines": 9});
    check("read_file", &lines, "read_file", &json!({"path": "f", "offset": 3, "limit": 9}));
    let read = json!({"action": "read", "filename": "f", "offset": 2});
    check("toolkit_file", &read, "read_file", &json!({"path": "f", "offset": 2}));
    let write = json!({"action": "write", "filename": "f", "content": "c"});
    check("toolkit_file", &write, "write_file", &json!({"path": "f", "content": "c"}));
    let list = json!({"action": "list", "path": "d", "recursive": false, "show_hidden": true});
    check("toolkit_file", &list, "list_dir", &json!({"path": "d"}));
    let chunks = json!({"path": "f", "chunks": ["a", "b"], "mode": "text", "encoding": "UTF-8"});
    check("toolkit_save_file", &chunks, "write_file", &json!({"path": "f", "content": "ab"}));
    check("toolkit_read_pyproject", &json!({}), "read_file", &json!({"path": "pyproject.toml"}));

    let grep =
        json!({"pattern": "a", "path_glob": "*.rs", "use_regex": false, "case_sensitive": true});
    let today = json!({"pattern": "a", "glob": "*.rs", "literal": true, "ignore_case": false});
    check("grep_files", &grep, "grep_files", &today);
    check("search", &json!({"query": "a"}), "search_web", &json!({"query": "a"}));
    let code = json!({"query": "a(", "search_type": "code", "root_path": "src", "lang": "rust"});
    let today = json!({"pattern": "a(", "path": "src", "literal": true});
    check("toolkit_search", &code, "grep_files", &today);
    let web = json!({"query": "a", "max_results": 3, "engine": "baidu"});
    check("toolkit_search", &web, "search_web", &json!({"query": "a", "max_results": 3}));
    check(
        "browse_web_page",
        &json!({"url": "u", "max_chars": 500}),
        "fetch_url",
        &json!({"url": "u", "limit": 500}),
    );

    let diff = json!({"start_date": "2026-01-01", "end_date": "2026-02-01"});
    let today = json!({"operation": "difference", "date": "2026-01-01", "to": "2026-02-01"});
    check("toolkit_date_diff", &diff, "date_math", &today);
    check("toolkit_diff", &json!({"action": "undo"}), "undo_edit", &json!({}));
    let todo = json!({"action": "create", "items": ["a", {"label": "b", "status": "running"}]});
    let today = json!({"items": [{"label": "a"}, {"label": "b", "status": "running"}]});
    check("toolkit_todo", &todo, "manage_todo_list", &today);
    check("toolkit_todo", &json!({"action": "clear"}), "manage_todo_list", &json!({"items": []}));
    let note =
        json!({"action": "add", "content": "a", "priority": 1, "tags": "x, y", "max_chars": 4000});
    let today = json!({"action": "add", "content": "a", "priority": "high", "tags": ["x", "y"]});
    check("toolkit_memory", &note, "manage_memory", &today);
    let look = json!({"action": "semantic_search", "query": "a", "top_k": 10});
    let today = json!({"action": "search", "query": "a"});
    check("toolkit_memory", &look, "manage_memory", &today);
    let goal = json!({"action": "goal", "content": "a", "priority": 1, "goal_id": ""});
    let today = json!({"action": "add", "content": "a", "priority": 1});
    check("toolkit_proactive", &goal, "manage_goals", &today);
    let done = json!({"action": "done", "goal_id": "01JZ", "priority": 2});
    check("toolkit_proactive", &done, "manage_goals", &json!({"action": "done", "id": "01JZ"}));
    let list = json!({"action": "list_goals", "priority": 2});
    check("toolkit_proactive", &list, "manage_goals", &json!({"action": "list"}));
    check(
        "toolkit_proactive",
        &json!({"action": "check"}),
        "manage_goals",
        &json!({"action": "check"}),
    );
    let said = json!({"action": "search", "keyword": "a", "limit": 5, "topic_id": ""});
    let today = json!({"question": "a", "limit": 5});
    check("toolkit_query_chat_history", &said, "history_query", &today);
    let lunar = json!({"date_str": "2025-06-01,L", "action": "lunar_to_solar"});
    let today = json!({"date": "2025-06-01,L", "is_lunar": true});
    check("toolkit_lunar", &lunar, "lunar_date", &today);
    check("toolkit_lunar", &json!({"action": "today", "date_str": ""}), "lunar_date", &json!({}));
    check("toolkit_os_info", &json!({"refresh": true}), "os_info", &json!({}));
}

#[test]
fn what_an_old_call_means_is_not_guessed() {
    let registry = Registry::builtin();
    let refused = |name: &str, arguments: Value| {
        let result = registry.prepare(name, &arguments.to_string()).expect_err(name);
        assert!(
            result.output.contains(name) || result.output.contains("no such field"),
            "{result:?}"
        );
        result.output
    };
    let told = refused("toolkit_edit", json!({"action": "delete_lines", "start_line": 1}));
    assert!(told.contains("edit_file"), "{told}");
    refused("toolkit_edit", json!({"action": "replace_text", "preview": true}));
    refused("toolkit_file", json!({"action": "list", "path": ".", "recursive": true}));
    refused("toolkit_file", json!({}));
    refused("toolkit_save_file", json!({"path": "f", "content": "a", "append": true}));
    refused("toolkit_save_file", json!({"path": "f", "content": "a", "mode": "b64"}));
    refused("toolkit_exec", json!({"action": "batch", "commands": ["ls"]}));
    refused("toolkit_search", json!({"query": "a", "search_type": "github"}));
    refused("toolkit_todo", json!({"action": "check", "index": 1}));
    refused("toolkit_memory", json!({"action": "auto_extract"}));
    refused("toolkit_diff", json!({"action": "apply"}));
    let told = refused("toolkit_proactive", json!({"action": "heartbeat"}));
    assert!(told.contains("manage_goals takes add"), "{told}");
    // Under both names it is not clear which is meant.
    refused("read_file", json!({"path": "a", "filePath": "b"}));
    refused("edit_file", json!({"path": "a", "edits": [], "old": "b", "new": "c"}));
}

#[test]
fn a_program_with_its_arguments_is_argv() {
    let mut arguments =
        arguments::fields(r#"{"app":"ls","args":["-l"],"timeout":5}"#).expect("JSON");
    assert_eq!(shapes::exec(&mut arguments), Ok("run_command"));
    assert_eq!(Value::Object(arguments), json!({"argv": ["ls", "-l"], "timeout_s": 5}));
    let mut arguments = arguments::fields(r#"{"command":"ls -l","timeout":5}"#).expect("JSON");
    assert_eq!(shapes::exec(&mut arguments), Ok("run_command"));
    assert_eq!(Value::Object(arguments), json!({"command": "ls -l", "timeout_s": 5}));
    let mut arguments = arguments::fields(r#"{"command":"ls","args":["-l"]}"#).expect("JSON");
    assert!(shapes::exec(&mut arguments).is_err());
}

#[test]
fn a_check_of_one_file_does_not_become_one_of_the_whole_project() {
    let shaped = |name: &str, arguments: Value| {
        let Some(Meaning::Depends(shape)) = meaning(name) else { panic!("{name}") };
        let Value::Object(mut arguments) = arguments else { panic!("{arguments}") };
        shape(&mut arguments).map(|tool| (tool, Value::Object(arguments)))
    };
    for (name, arguments, action) in [
        ("toolkit_run_tests", json!({}), "test"),
        ("toolkit_run_tests", json!({"pattern": "test_*.py"}), "test"),
        (
            "toolkit_format_code",
            json!({"action": "format", "path": ".", "language": "auto"}),
            "format",
        ),
        ("lintFiles", json!({"filePaths": []}), "lint"),
    ] {
        let expect = Ok(("check_project", json!({ "action": action })));
        assert_eq!(shaped(name, arguments), expect, "{name}");
    }
    for (name, arguments, field) in [
        ("toolkit_run_tests", json!({"pattern": "test_one.py"}), "pattern"),
        ("toolkit_run_tests", json!({"path": "tests/a.py"}), "path"),
        ("toolkit_format_code", json!({"path": "src/a.py"}), "path"),
        ("toolkit_format_code", json!({"language": "cpp"}), "language"),
        ("toolkit_format_code", json!({"style": "google"}), "style"),
        ("lintFile", json!({"filePath": "a.js"}), "filePath"),
        ("lintFiles", json!({"filePaths": ["a.js", "b.js"]}), "filePaths"),
    ] {
        let instead = shaped(name, arguments).expect_err(name);
        assert!(instead.contains(&format!("without {field};")), "{name}: {instead}");
    }
    assert!(shaped("toolkit_format_code", json!({"action": "check"})).is_err());
}

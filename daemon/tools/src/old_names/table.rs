//! The names of the tools of spec a that no tool here has as an alias.

use super::Meaning::{self, Depends, Is, Nothing};
use super::shapes;

const NO_EVOLUTION: &str = "this daemon does not change its own tools, prompts or code";
const NO_DESKTOP: &str = "this daemon has no desktop: pages are read with fetch_url";
const NO_NOTES: &str =
    "manage_memory keeps what should hold; longer notes go into files of the workspace";
const NO_KNOWLEDGE: &str =
    "there is no index of the workspace: grep_files and glob_files search it as it is";
const OTHER_PLANS: &str = "manage_plan keeps a plan (create, begin, done, fail, replan, show, drop); find_tools describes it";
const NO_AGENTS: &str = "there are no other agents: do the steps one after the other";
const NO_SETTINGS: &str =
    "models and settings are the user's: `agentctl models`, `agentctl config`";
const NO_SCHEDULE: &str = "nothing is run at another time; the user's system has timers";
const RUN_IT: &str = "run_command runs the project's own programs for it";

/// Each name once.
pub(crate) const OLD_NAMES: &[(&str, Meaning)] = &[
    // S0, in the order of the spec.
    ("toolkit_reload", Nothing(NO_EVOLUTION)),
    ("toolkit_save", Nothing(NO_EVOLUTION)),
    ("toolkit_rollback", Nothing(NO_EVOLUTION)),
    ("toolkit_list_versions", Nothing(NO_EVOLUTION)),
    ("toolkit_auto_fix", Nothing(RUN_IT)),
    ("toolkit_browser_tab", Nothing(NO_DESKTOP)),
    ("toolkit_build", Nothing(RUN_IT)),
    ("toolkit_clean_comments", Nothing("edit_file changes comments")),
    ("toolkit_comment", Nothing("write comments with edit_file")),
    ("toolkit_config", Nothing(NO_SETTINGS)),
    ("toolkit_custom_commands", Nothing("read_file reads what a file asks for")),
    ("toolkit_date_diff", Depends(shapes::date_diff)),
    ("toolkit_diff", Depends(shapes::diff)),
    ("toolkit_dump_topic", Nothing("`agentctl sessions export` writes sessions to files")),
    ("toolkit_dynamic_skill", Nothing(NO_EVOLUTION)),
    ("toolkit_edit", Depends(shapes::edit)),
    ("toolkit_evolution_exp", Nothing(NO_EVOLUTION)),
    ("toolkit_exec", Depends(shapes::exec)),
    ("toolkit_experience_solidify", Nothing(NO_EVOLUTION)),
    ("toolkit_explr", Nothing(NO_KNOWLEDGE)),
    ("toolkit_export_last_pdf", Nothing("write_file writes the answer as Markdown or HTML")),
    ("toolkit_file", Depends(shapes::file)),
    ("toolkit_format_code", Depends(shapes::format_code)),
    ("toolkit_get_config_path", Nothing(NO_SETTINGS)),
    ("toolkit_get_models", Nothing(NO_SETTINGS)),
    (
        "toolkit_git_push_all_remotes",
        Nothing("run_command runs git push, with the network permitted"),
    ),
    ("toolkit_input", Nothing(NO_DESKTOP)),
    ("toolkit_js_fetch", Nothing("render_page opens pages with their scripts")),
    ("toolkit_kb", Nothing(NO_NOTES)),
    ("toolkit_list_provider_models", Nothing(NO_SETTINGS)),
    (
        "toolkit_lsp",
        Nothing("grep_files finds uses, and the project's own compiler or linter faults"),
    ),
    ("toolkit_lunar", Depends(shapes::lunar)),
    ("toolkit_mcp", Nothing("there are no tools of MCP servers")),
    ("toolkit_memory", Depends(shapes::memory)),
    ("toolkit_mode", Nothing("modes are the user's: /mode and /work")),
    ("toolkit_notify", Depends(shapes::notify)),
    ("toolkit_ocr", Depends(shapes::ocr)),
    ("toolkit_parallel_subtasks", Nothing(NO_AGENTS)),
    ("toolkit_pkg", Depends(shapes::packages)),
    ("toolkit_plan", Nothing(OTHER_PLANS)),
    ("toolkit_proactive", Depends(shapes::goals)),
    ("toolkit_prompt_evolve", Nothing(NO_EVOLUTION)),
    ("toolkit_query_chat_history", Depends(shapes::chat_history)),
    ("toolkit_question", Depends(shapes::question)),
    ("toolkit_read_pyproject", Depends(shapes::read_pyproject)),
    ("toolkit_reflection", Nothing(NO_EVOLUTION)),
    ("toolkit_release_version", Nothing(RUN_IT)),
    ("toolkit_run_tests", Depends(shapes::run_tests)),
    ("toolkit_save_file", Depends(shapes::save_file)),
    ("toolkit_scheduler", Nothing(NO_SCHEDULE)),
    ("toolkit_scheduler_storage", Nothing(NO_SCHEDULE)),
    ("toolkit_screen_read", Nothing(NO_DESKTOP)),
    ("toolkit_screenshot", Nothing(NO_DESKTOP)),
    ("toolkit_search", Depends(shapes::search)),
    ("toolkit_self_evolve", Nothing(NO_EVOLUTION)),
    ("toolkit_self_evolve_thread", Nothing(NO_EVOLUTION)),
    ("toolkit_self_report", Nothing("`agentctl status` tells how the daemon is")),
    (
        "toolkit_set_topic_title",
        Nothing("the user renames a session with `agentctl sessions rename`"),
    ),
    ("toolkit_stream_save", Nothing("write_file writes a file, and edit_file adds to it")),
    ("toolkit_sudo_gui", Nothing("commands have no more rights than the daemon; ask the user")),
    ("toolkit_task_resume", Nothing(OTHER_PLANS)),
    ("toolkit_test_gui", Nothing(NO_DESKTOP)),
    ("toolkit_todo", Depends(shapes::todo)),
    ("toolkit_toggle_reasoning", Nothing("how long a model reasons is the user's: /effort")),
    ("toolkit_weather_my", Depends(shapes::weather)),
    // S2.
    ("kb_stats", Nothing(NO_KNOWLEDGE)),
    ("replace_in_file", Is("edit_file")),
    ("run_powershell", Nothing("there is no PowerShell: run_command runs bash")),
    ("search_knowledge_base", Nothing(NO_KNOWLEDGE)),
    // S1.
    ("createPlan", Nothing(OTHER_PLANS)),
    ("lintFile", Depends(shapes::lint)),
    ("lintFiles", Depends(shapes::lint)),
    ("searchContent", Is("grep_files")),
    ("think", Nothing("think in your answer")),
    ("updatePlanStep", Nothing(OTHER_PLANS)),
    // S3.
    ("search", Is("search_web")),
];

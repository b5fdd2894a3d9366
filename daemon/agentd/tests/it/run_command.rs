//! `run_command` in the sandbox.

use std::fs;

use agentd::config::SandboxConfig;
use agentd_domain::{ActionTarget, ToolResult, ToolStatus};
use agentd_sandbox::Choice;
use agentd_tools::{LiveOutput, ToolContext};
use serde_json::{Value, json};

use crate::programs::{Place, boxed, open, place};

async fn call(place: &Place, arguments: Value) -> ToolResult {
    place.call("run_command", arguments).await
}

#[tokio::test]
async fn a_command_gives_its_output_its_errors_and_its_exit_code() {
    let place = boxed();
    let result = place.bash("echo out; echo err >&2; echo x > made").await;
    assert_eq!(result.output, "out\n[stderr]\nerr\n");
    assert_eq!((result.status, result.exit_code), (ToolStatus::Success, Some(0)));
    assert!(result.workspace_changed);
    assert_eq!(fs::read_to_string(place.workspace.path().join("made")).unwrap(), "x\n");
    let result = place.bash("echo no; exit 3").await;
    assert_eq!(result.output, "no\n[exit code 3]");
    assert_eq!((result.status, result.exit_code), (ToolStatus::Partial, Some(3)));
    assert_eq!(result.error_code, "COMMAND_NONZERO_EXIT");
    let result = call(&place, json!({ "argv": ["printf", "%s|", "a b", "$HOME", "*"] })).await;
    assert_eq!(result.output, "a b|$HOME|*|");
    assert_eq!(place.bash("true").await.output, "[no output]");
    assert_eq!(place.bash("kill -9 $$").await.exit_code, Some(137));
}

#[tokio::test]
async fn a_command_is_planned_with_what_keeps_it_in() {
    let place = boxed();
    fs::create_dir(place.workspace.path().join("d")).unwrap();
    let target = |arguments: Value| {
        let place = &place;
        async move { place.planned("run_command", &arguments).await.unwrap().targets.remove(0) }
    };
    let ActionTarget::Run { argv, cwd, confinement } =
        target(json!({ "command": "ls -l", "cwd": "d/../d", "read_only": true })).await
    else {
        panic!("a run")
    };
    assert_eq!((argv.join(" ").as_str(), cwd.as_str()), ("bash -c ls -l", "d"));
    let confinement = confinement.unwrap();
    assert!(!confinement.writes && !confinement.network);
    assert!(["bubblewrap", "landlock"].contains(&confinement.backend.as_str()));
    let written =
        call(&place, json!({ "command": "touch x; ls", "cwd": "d", "read_only": true })).await;
    assert!(!written.workspace_changed);
    assert!(!place.workspace.path().join("d/x").exists(), "{written:?}");
    let action = open().planned("run_command", &json!({ "command": "ls" })).await.unwrap();
    assert!(matches!(&action.targets[..], [ActionTarget::Run { confinement: None, .. }]));
    assert_eq!(action.summary, "run ls");
}

#[tokio::test]
async fn sb_01_without_a_sandbox_the_command_is_not_run_and_one_line_says_why() {
    let place = place(Choice::Auto, "/nonexistent", &SandboxConfig::default());
    let refused = place.bash("touch made").await;
    assert_eq!(refused.error_code, "TOOL_PROCESS_UNAVAILABLE");
    assert!(refused.output.contains("no sandbox works here"), "{refused:?}");
    assert!(!place.workspace.path().join("made").exists());
}

#[tokio::test]
async fn arguments_that_cannot_be_run_are_refused_with_their_name() {
    let place = boxed();
    for (arguments, code, words) in [
        (json!({}), "TOOL_ARGUMENT_VALIDATION_FAILED", "give either command"),
        (json!({"command": "ls", "argv": ["ls"]}), "TOOL_ARGUMENT_VALIDATION_FAILED", "either"),
        (json!({"command": " "}), "TOOL_ARGUMENT_VALIDATION_FAILED", "command is empty"),
        (json!({"argv": []}), "TOOL_ARGUMENT_VALIDATION_FAILED", "argv needs a program"),
        (json!({"command": "ls", "timeout_s": 121}), "TOOL_ARGUMENT_VALIDATION_FAILED", "1 to 120"),
        (json!({"command": "ls", "cwd": "../.."}), "PATH_OUTSIDE_WORKSPACE", "outside"),
        (json!({"command": "ls", "cwd": "none"}), "INVALID_PATH", "cannot be opened"),
    ] {
        let refused = place.call("run_command", arguments.clone()).await;
        assert_eq!(refused.error_code, code, "{arguments}: {refused:?}");
        assert!(refused.output.contains(words), "{arguments}: {refused:?}");
    }
    assert!(place.registry.find("runCommand").is_some());
}

#[tokio::test]
async fn a_call_by_an_old_name_runs_the_command_that_it_means() {
    let place = boxed();
    for arguments in [
        json!({"app": "echo", "args": ["a b", "c"], "timeout": 5}),
        json!({"command": "echo 'a b' c"}),
    ] {
        let result = place.call("toolkit_exec", arguments.clone()).await;
        assert_eq!((result.output.as_str(), result.exit_code), ("a b c\n", Some(0)), "{arguments}");
    }
    let refused = place.call("toolkit_exec", json!({"action": "batch", "commands": ["ls"]})).await;
    assert!(refused.output.contains("once for each command"), "{refused:?}");
}

#[tokio::test]
async fn sh_02_a_command_that_takes_too_long_is_ended_with_what_it_wrote_so_far() {
    let place = boxed();
    let result = call(
        &place,
        json!({ "command": "echo so far; trap '' TERM; sleep 60 | cat", "timeout_s": 3 }),
    )
    .await;
    // The shell may have had the time to say that its child was killed.
    let output = result.output.as_str();
    let is_whole =
        output.starts_with("so far\n") && output.ends_with("[Timed out after 3 s and was ended.]");
    assert!(is_whole, "{output}");
    assert_eq!(
        (result.status, result.error_code.as_str()),
        (ToolStatus::RetryableError, "TOOL_TIMEOUT")
    );
    assert!(result.workspace_changed);
}

#[tokio::test]
async fn sh_01_a_command_with_a_background_child_returns_and_says_so() {
    let place = boxed();
    let result = place.bash("sleep 600 & echo hi").await;
    assert_eq!(result.output, "hi\n[1 of its processes still ran and were ended.]");
    assert_eq!(result.exit_code, Some(0));
}

#[tokio::test]
async fn sh_03_programs_that_want_a_terminal_end_at_once() {
    let place = boxed();
    let setup = "git init -q . && git config user.name n && git config user.email e@e && \
                 for i in 1 2 3; do git commit -q --allow-empty -m c$i; done";
    assert_eq!(place.bash(setup).await.exit_code, Some(0));
    assert!(place.bash("git log").await.output.contains("c3"));
    for command in ["git commit --allow-empty", "git rebase -i HEAD~2", "sudo -n ls /root"] {
        let result = place.bash(command).await;
        assert_eq!(result.status, ToolStatus::Partial, "{command}: {result:?}");
    }
    assert_eq!(place.bash("python3 -c 'input()'").await.status, ToolStatus::Partial);
    assert_eq!(place.bash("cat").await.output, "[no output]");
}

#[tokio::test]
async fn sc_03_nothing_of_the_daemon_reaches_a_command() {
    let place = boxed();
    let secret = place.hidden.path().join("config.toml");
    fs::write(&secret, "api_key = 'KEY'").unwrap();
    let script = format!("cat {}; env; tr '\\0' '\\n' < /proc/$PPID/environ", secret.display());
    let result = place.bash(&script).await;
    for words in ["KEY", "CARGO", "NEXTEST"] {
        assert!(!result.output.contains(words), "{words}: {result:?}");
    }
}

#[tokio::test]
async fn en_02_output_that_is_no_text_harms_only_that_spot() {
    let place = boxed();
    let result = place.bash(r"printf 'a\xed\xa0\x80b \e[31mred\e[0m\n'").await;
    assert_eq!(result.output, "a\u{fffd}\u{fffd}\u{fffd}b red\n");
    let long = place.bash("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end").await;
    assert!(long.output.ends_with("x\nend\n"), "{}", long.output.len());
    assert!(long.output.contains("bytes are left out"));
    assert!(long.output.len() < 66 * 1024, "{}", long.output.len());
}

#[tokio::test]
async fn what_a_command_writes_is_shown_while_it_runs_and_a_cancel_ends_it() {
    let place = boxed();
    let (output, mut shown) = LiveOutput::channel();
    let ctx = ToolContext { output, ..place.context() };
    let cancel = ctx.cancel.clone();
    let running = async {
        place.call_in(&ctx, "run_command", json!({ "command": "echo up; sleep 60" })).await
    };
    let watching = async {
        assert_eq!(shown.recv().await.as_deref(), Some("up\n"));
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(running, watching);
    assert_eq!(result.status, ToolStatus::Interrupted);
}

#[tokio::test]
async fn sc_01_no_command_job_or_terminal_starts_outside_of_the_workspace() {
    let place = boxed();
    let workspace = place.workspace.path();
    std::os::unix::fs::symlink(place.hidden.path(), workspace.join("out")).unwrap();
    assert_eq!(place.bash("mkdir d && ln -s d in").await.exit_code, Some(0));
    for cwd in ["out", "d/../..", "/", "/proc/self/root", "in/../../.."] {
        for (tool, arguments) in [
            ("run_command", json!({ "command": "touch made", "cwd": cwd })),
            ("run_command", json!({ "command": "touch made", "cwd": cwd, "background": true })),
            ("terminal", json!({ "action": "open", "cwd": cwd })),
        ] {
            let refused = place.call(tool, arguments).await;
            assert_eq!(refused.error_code, "PATH_OUTSIDE_WORKSPACE", "{cwd}: {refused:?}");
        }
    }
    // A link that stays inside works, and is planned as where it leads.
    let arguments = json!({ "command": "touch made", "cwd": "in" });
    let planned = place.planned("run_command", &arguments).await.unwrap();
    let [ActionTarget::Run { cwd, .. }] = &planned.targets[..] else { panic!("{planned:?}") };
    assert_eq!(cwd, "d");
    assert_eq!(call(&place, arguments).await.exit_code, Some(0));
    assert!(workspace.join("d/made").exists());
}

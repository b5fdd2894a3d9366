//! Help, usage errors, and what happens when no daemon can be had.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// A command in a home of its own, without a terminal and without a daemon's program.
fn agentctl(home: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command
        .env_clear()
        .env("HOME", home.path())
        .env("USER", "ann")
        .env("PATH", "/nonexistent")
        .env("AGENTD_BIN", home.path().join("no-such-agentd"))
        .env("AGENTD_HOME", home.path())
        .stdin(Stdio::null());
    command
}

fn run(arguments: &str) -> Output {
    let home = tempfile::tempdir().unwrap();
    agentctl(&home).args(arguments.split_whitespace()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn help_goes_to_stdout_and_lists_commands_and_exit_codes() {
    let output = run("--help");
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn help_of_each_command_is_stable() {
    for command in [
        "chat",
        "send",
        "attach",
        "sessions",
        "sessions list",
        "sessions delete",
        "sessions fork",
        "sessions export",
        "sessions import",
        "config",
        "context",
        "context add",
        "token",
        "token create",
        "usage",
        "memory",
        "search",
        "memory add",
    ] {
        let output = run(&format!("{command} --help"));
        assert_eq!(output.status.code(), Some(0), "{command}");
        insta::assert_snapshot!(format!("help_{}", command.replace(' ', "_")), stdout(&output));
    }
}

#[test]
fn wrong_usage_ends_with_two() {
    for line in ["", "nonsense", "chat --new --continue", "send --delivery never x", "attach"] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
        assert!(!output.stderr.is_empty(), "{line}");
    }
}

#[test]
fn without_a_daemon_the_exit_code_is_three_and_the_remedy_is_told() {
    for line in ["--no-start sessions list", "status", "--no-start send hi", "sessions list"] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(3), "{line}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{line}");
        let text = stderr(&output);
        assert!(text.starts_with("error: "), "{line}: {text}");
        assert!(text.contains(" hint: "), "{line}: {text}");
    }
}

#[test]
fn shutdown_without_a_daemon_has_nothing_to_do() {
    let output = run("shutdown");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "no daemon runs\n");
}

#[test]
fn a_daemon_that_holds_the_data_and_does_not_listen_is_named() {
    let home = tempfile::tempdir().unwrap();
    let paths = agentd_shared::Paths::under(home.path());
    std::fs::create_dir(&paths.data_dir).unwrap();
    std::fs::write(paths.instance_lock(), "4711\n").unwrap();
    let lock = std::fs::File::open(paths.instance_lock()).unwrap();
    lock.lock().unwrap();
    for command in ["shutdown", "status", "reload"] {
        let output = agentctl(&home).arg(command).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("`kill 4711`"), "{command}: {}", stderr(&output));
    }
    drop(lock);
    let output = agentctl(&home).arg("shutdown").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn versions_are_printed_without_a_daemon() {
    let output = run("version");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stdout(&output),
        format!("agentctl {}\nagentd   not running\n", env!("CARGO_PKG_VERSION"))
    );
    let output = run("version --json");
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["agentd"], serde_json::Value::Null);
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&format!("completions {shell}"));
        assert_eq!(output.status.code(), Some(0), "{shell}");
        assert!(stdout(&output).contains("sessions"), "{shell}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let home = tempfile::tempdir().unwrap();
    let mut child = agentctl(&home)
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

#[test]
fn sh_03_a_message_in_the_arguments_does_not_wait_for_stdin() {
    let home = tempfile::tempdir().unwrap();
    let mut child = agentctl(&home)
        .args(["--no-start", "send", "hi"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The pipe stays open until the program has ended by itself.
    let open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(open);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn an_empty_stdin_is_no_message() {
    let home = tempfile::tempdir().unwrap();
    let mut child = agentctl(&home)
        .args(["send", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b" \n\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no message"), "{}", stderr(&output));
}

#[test]
fn blanks_are_no_message_and_nothing_is_started_for_them() {
    let home = tempfile::tempdir().unwrap();
    let output = agentctl(&home).args(["send", "  ", "\n"]).output().unwrap();
    // Not 3: the daemon's program, which is missing, was not even looked for.
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("there is no message"), "{}", stderr(&output));
}

#[test]
fn a_wrong_configuration_is_named_with_its_file() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("config");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), "[client]\ncolor = 7\n").unwrap();
    let output = agentctl(&home).arg("models").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("client.color") && text.contains("config.toml"), "{text}");
}

#[test]
fn a_broken_configuration_does_not_keep_from_looking_and_stopping() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("config");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), "[provider\n").unwrap();
    let check = |command: &[&str], expect: i32| {
        let output = agentctl(&home).arg("--no-start").args(command).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(expect), "{command:?}: {text}");
        assert!(text.contains("config.toml\" is not valid TOML"), "{command:?}: {text}");
        text
    };
    // None runs: that is what they say, after the warning.
    let status = check(&["status"], 3);
    assert!(status.contains("correct the file at the line that is named"), "{status}");
    assert!(status.contains("cannot reach the daemon"), "{status}");
    check(&["shutdown"], 0);
    check(&["version"], 0);
    check(&["doctor"], 1);
    // What talks does not guess.
    let send = check(&["send", "hello"], 2);
    assert!(send.contains("the configuration cannot be used"), "{send}");
}

#[test]
fn config_without_the_daemons_program_says_where_it_looks() {
    let home = tempfile::tempdir().unwrap();
    let output =
        agentctl(&home).env_remove("AGENTD_BIN").args(["config", "path"]).output().unwrap();
    // A build directory may hold the program beside this one.
    if output.status.code() == Some(3) {
        assert!(stderr(&output).contains("AGENTD_BIN"), "{}", stderr(&output));
    } else {
        assert!(!stderr(&output).contains("not found"), "{}", stderr(&output));
    }
}

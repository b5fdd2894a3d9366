//! `run_python` in the sandbox.

use std::fs;

use agentd::config::SandboxConfig;
use agentd_domain::{ActionTarget, ToolStatus};
use serde_json::json;

use crate::programs::{boxed, boxed_with, directory};

#[tokio::test]
async fn code_gives_what_it_prints_and_its_errors_are_readable() {
    let place = boxed();
    fs::write(place.workspace.path().join("data.txt"), "世界").unwrap();
    let result = place.python("print(sum(range(10)), open('data.txt').read())").await;
    assert_eq!((result.output.as_str(), result.exit_code), ("45 世界\n", Some(0)));
    let result = place.python("import sys\nprint('so far')\nraise ValueError('no')").await;
    assert_eq!((result.status, result.exit_code), (ToolStatus::Partial, Some(1)), "{result:?}");
    assert!(result.output.starts_with("so far\n[stderr]\nTraceback"), "{result:?}");
    assert!(result.output.ends_with("ValueError: no\n[exit code 1]"), "{result:?}");
    for (arguments, words) in [
        (json!({"code": "  "}), "code is empty"),
        (json!({"code": "#".repeat(20_001)}), "longer than 20000 bytes"),
        (json!({"code": "1", "timeout_s": 0}), "1 to 120"),
    ] {
        let refused = place.call("run_python", arguments).await;
        assert_eq!(refused.error_code, "TOOL_ARGUMENT_VALIDATION_FAILED", "{refused:?}");
        assert!(refused.output.contains(words), "{refused:?}");
    }
    for alias in ["python_executor", "execute_python", "toolkit_exec_python"] {
        assert!(place.registry.find(alias).is_some(), "{alias}");
    }
}

#[tokio::test]
async fn code_is_planned_as_what_runs_and_changes_nothing() {
    let place = boxed();
    let action = place.planned("run_python", &json!({"code": "print(1)"})).await.unwrap();
    assert_eq!(action.summary, "run Python: print(1)");
    let [ActionTarget::Run { argv, confinement: Some(confinement), .. }] = &action.targets[..]
    else {
        panic!("one run: {action:?}")
    };
    assert_eq!(argv.join(" "), "python3 -I -B -u -c print(1)");
    assert!(!confinement.writes && !confinement.network);
    let result = place.python("open('made', 'w')").await;
    assert!(result.output.contains("OSError") || result.output.contains("PermissionError"));
    assert!(!result.workspace_changed && !place.workspace.path().join("made").exists());
    let scratch = "import tempfile; f = tempfile.TemporaryFile('w'); print(f.write('x'))";
    assert_eq!(place.python(scratch).await.output, "1\n");
    let network = "import socket; socket.create_connection(('127.0.0.1', 9), 1)";
    assert_eq!(place.python(network).await.exit_code, Some(1));
}

#[tokio::test]
async fn sb_04_code_finds_nothing_of_the_daemon_and_nothing_of_other_calls() {
    let place = boxed();
    let result = place.python("import os; print(dict(os.environ)); print(__name__)").await;
    for words in ["CARGO", "NEXTEST", "AGENTD"] {
        assert!(!result.output.contains(words), "{words}: {result:?}");
    }
    // A module of the workspace is not taken for one of the library.
    fs::write(place.workspace.path().join("json.py"), "raise SystemExit('shadowed')").unwrap();
    let result = place.python("import json, sys; print(sys.path[0] != '')").await;
    assert_eq!(result.output, "True\n");
    assert_eq!(place.python("import builtins; builtins.kept = 1").await.exit_code, Some(0));
    let result = place.python("print(kept)").await;
    assert!(result.output.contains("NameError"), "{result:?}");
    let result = place.python("import sys; print(repr(sys.stdin.read()))").await;
    assert_eq!(result.output, "''\n");
}

#[tokio::test]
async fn sb_04_code_that_uses_too_much_ends_and_says_why() {
    let mut config = SandboxConfig::default();
    config.limits.script_cpu_s = 1;
    let place = boxed_with(&config);
    let result = place.python("while True: pass").await;
    assert_eq!((result.status, result.exit_code), (ToolStatus::Partial, Some(137)), "{result:?}");
    let result = place.python("x = 'a' * 10**10").await;
    assert!(result.output.contains("MemoryError"), "{result:?}");
    let bomb = "import os\ntry:\n  while True: os.fork()\nexcept OSError as e: print(e.errno)";
    let result = place.python(bomb).await;
    assert!(result.output.contains("11\n"), "{result:?}");
    let result = place.python("open('/tmp/x', 'wb').write(b'x' * (65 << 20))").await;
    assert_ne!(result.exit_code, Some(0), "{result:?}");
    let result = place.python("print('\\ud800')").await;
    assert!(result.output.contains("UnicodeEncodeError"), "{result:?}");
    let result = place.python("print('x' * 5_000_000); print('end')").await;
    assert!(result.output.ends_with("x\nend\n") && result.output.len() < 66 * 1024);
}

#[tokio::test]
async fn sb_04_what_code_started_is_ended_and_so_is_code_that_takes_too_long() {
    let place = boxed();
    let started = "import subprocess; subprocess.Popen(['sleep', '600']); print('hi')";
    let result = place.python(started).await;
    assert_eq!(result.output, "hi\n[1 of its processes still ran and were ended.]");
    let late = "import signal; print('so far'); signal.pause()";
    let result = place.call("run_python", json!({ "code": late, "timeout_s": 3 })).await;
    assert_eq!(result.output, "so far\n[Timed out after 3 s and was ended.]");
    assert_eq!(result.error_code, "TOOL_TIMEOUT");
}

#[tokio::test]
async fn python_that_is_missing_is_told_with_its_package() {
    // All that is there is what the sandbox is probed with.
    let programs = directory();
    std::os::unix::fs::symlink("/usr/bin/touch", programs.path().join("touch")).unwrap();
    let path = programs.path().to_string_lossy().into_owned();
    let readable_paths = vec![path.clone()];
    let place = boxed_with(&SandboxConfig { path, readable_paths, ..SandboxConfig::default() });
    let refused = place.python("print(1)").await;
    assert_eq!(refused.error_code, "MISSING_PROGRAM", "{refused:?}");
    assert!(refused.output.contains("package python3"), "{refused:?}");
}

//! Python that a model has written.

use std::time::Duration;

use agentd_sandbox::Limits;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::boxes::{Boxed, Ran, confining, finish, nothing_runs_with};

async fn python(boxed: &Boxed, script: &str) -> Ran {
    let command = boxed.command(&["python3", "-I", "-c", script]);
    finish(boxed.sandbox.spawn(&command).await.expect("it starts")).await
}

/// The boxes in which there is a Python.
async fn with_python(test: &str) -> Vec<Boxed> {
    let mut all = Vec::new();
    for mut boxed in confining(test).await {
        boxed.limits = Limits { cpu: Duration::from_secs(1), ..Limits::SCRIPT };
        if python(&boxed, "print(1)").await.out == "1\n" {
            all.push(boxed);
        } else {
            println!("{test}: skipped on {}: no python3", boxed.sandbox.backend());
        }
    }
    all
}

#[tokio::test]
async fn sb_04_python_sees_no_environment_of_the_daemon_and_no_input() {
    for boxed in with_python("python: surroundings").await {
        let names = python(&boxed, "import os; print(sorted(os.environ))").await;
        assert!(!names.out.contains("CARGO") && names.out.contains("HOME"), "{names:?}");
        let input = python(&boxed, "import sys; print(repr(sys.stdin.read()))").await;
        assert_eq!(input.out, "''\n", "{input:?}");
    }
}

#[tokio::test]
async fn sb_04_python_without_end_is_stopped_by_its_limits() {
    for boxed in with_python("python: limits").await {
        let busy = python(&boxed, "while True: pass").await;
        assert!(busy.exit.signal.is_some(), "{busy:?}");
        let greedy = python(&boxed, "x = 'a' * 10**10").await;
        assert!(greedy.err.contains("MemoryError"), "it can be read: {greedy:?}");
        let forks = "import os\nn = 0\nwhile n < 500:\n    if os.fork() == 0:\n        \
                     import signal; signal.pause()\n    n += 1";
        let forks = python(&boxed, forks).await;
        assert!(forks.err.contains("BlockingIOError"), "{forks:?}");
        assert!(forks.exit.left_running > 0 || boxed.is_container(), "{forks:?}");
    }
}

#[tokio::test]
async fn sb_04_what_python_starts_ends_with_it() {
    for boxed in with_python("python: processes").await {
        let seconds = format!("83{}.5", std::process::id());
        let script = format!(
            "import subprocess; subprocess.Popen(['sleep', '{seconds}'], start_new_session=True); print('up')"
        );
        let ran = python(&boxed, &script).await;
        let told = usize::from(!boxed.is_container());
        assert_eq!((ran.out.as_str(), ran.exit.left_running), ("up\n", told));
        nothing_runs_with(&seconds).await;
        let waits =
            format!("print('up', flush=True)\nimport threading\nthreading.Event().wait({seconds})");
        let command = boxed.command(&["python3", "-I", "-c", &waits]);
        let mut child = boxed.sandbox.spawn(&command).await.expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
        assert_eq!(lines.next_line().await.expect("read").as_deref(), Some("up"));
        child.terminate().await;
        child.wait().await.expect("an exit");
        nothing_runs_with(&seconds).await;
    }
}

#[tokio::test]
async fn sb_04_python_shares_nothing_with_the_next_and_its_output_is_whole() {
    for boxed in with_python("python: output").await {
        python(&boxed, "import builtins; builtins.left = 1; open('/tmp/left', 'w').write('x')")
            .await;
        let next = python(
            &boxed,
            "import builtins, os; print(hasattr(builtins, 'left'), os.path.exists('/tmp/left'))",
        )
        .await;
        assert_eq!(next.out, "False False\n", "{next:?}");
        let surrogate = python(&boxed, "print('\\ud800')").await;
        assert!(surrogate.err.contains("surrogates not allowed"), "it can be read: {surrogate:?}");
        let much = python(&boxed, "print('x' * 5_000_000)").await;
        assert_eq!(much.out.len(), 5_000_001, "{}", much.err);
    }
}

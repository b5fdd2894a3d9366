//! Programs in a terminal.

use std::time::Duration;

use agentd_sandbox::{Terminal, TerminalSize};

use crate::boxes::{confining, nothing_runs_with, open_air, runs_with};

const SIZE: TerminalSize = TerminalSize { rows: 24, columns: 80 };

/// Reads until these words have come.
async fn until(terminal: &Terminal, words: &str) -> String {
    let mut shown = String::new();
    let reading = async {
        let mut piece = [0; 1024];
        while !shown.contains(words) {
            let length = terminal.read(&mut piece).await.expect("read");
            assert!(length > 0, "it ended: {shown}");
            shown += &String::from_utf8_lossy(piece.get(..length).expect("what was read"));
        }
    };
    let late = tokio::time::timeout(Duration::from_secs(30), reading).await.is_err();
    assert!(!late, "no {words:?} in {shown:?}");
    shown
}

#[tokio::test]
async fn a_program_in_a_terminal_controls_it_behind_each_backend() {
    let mut all = confining("terminal").await;
    // An engine gives no terminals, and says so.
    all.retain(|boxed| !boxed.is_container());
    all.push(open_air().await);
    for boxed in all {
        let backend = boxed.sandbox.backend();
        let command = boxed.command(&["bash", "--noprofile", "--norc"]);
        let (mut child, terminal) =
            boxed.sandbox.open_terminal(&command, SIZE).await.expect("a terminal");
        assert!(child.stdout.is_none() && child.stderr.is_none());
        let type_line = async |line: &str| {
            terminal.write_all(format!("{line}\r").as_bytes()).await.expect("typed");
        };
        type_line("test -t 0 -a -t 1 -a -t 2 && stty size && echo $TERM-up").await;
        let shown = until(&terminal, "xterm-256color-up").await;
        assert!(shown.contains("24 80"), "{backend}: {shown}");
        type_line("echo by-name-$((1+1)) >/dev/tty").await;
        until(&terminal, "by-name-2").await;
        // The keyboard's signals reach what runs in front, and the shell goes on.
        type_line("bash -c 'echo now; exec sleep 600'").await;
        until(&terminal, "now\r\n").await;
        terminal.write_all(b"\x03").await.expect("typed");
        type_line("echo after-$?").await;
        until(&terminal, "after-130").await;
        type_line("exit 7").await;
        let exit = tokio::time::timeout(Duration::from_secs(30), child.wait()).await;
        assert_eq!(exit.expect("it ends").expect("an exit").code, Some(7), "{backend}");
    }
}

#[tokio::test]
async fn sh_02_what_runs_in_a_terminal_ends_with_it() {
    let mut all = confining("terminal_end").await;
    // An engine gives no terminals, and says so.
    all.retain(|boxed| !boxed.is_container());
    all.push(open_air().await);
    for boxed in all {
        let long = format!(
            "8{}.{}",
            std::process::id(),
            u8::from(boxed.network == agentd_sandbox::Network::All)
        );
        let script = format!("trap '' TERM HUP; setsid sleep {long} & echo up; wait");
        let command = boxed.command(&["bash", "-c", &script]);
        let (child, terminal) =
            boxed.sandbox.open_terminal(&command, SIZE).await.expect("a terminal");
        until(&terminal, "up").await;
        assert!(runs_with(&long));
        drop(child);
        nothing_runs_with(&long).await;
    }
}

//! The terminal driver itself.

use agentd_testkit::Pty;

#[tokio::test]
async fn a_program_in_a_terminal_is_typed_to_and_read_from() {
    let script =
        "stty -echo; echo ready; read line; printf 'got \\033[1m%s\\033[0m\\n' \"$line\"; exit 7";
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).spawn();
    pty.wait_for("ready").await;
    pty.send("hello\r");
    pty.wait_for("got hello").await;
    assert_eq!(pty.wait_exit().await, 7);
    assert!(!pty.screen().contains('\u{1b}'));
}

#[tokio::test]
async fn what_has_scrolled_away_is_still_found_once_and_in_order() {
    let script = "for n in $(seq 1 200); do echo line-$n-; done; echo end";
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).size(40, 10).spawn();
    pty.wait_for("end").await;
    assert!(!pty.screen().contains("line-1-"));
    let text = pty.text();
    let wanted: Vec<String> = (1..=200).map(|n| format!("line-{n}-")).collect();
    let found: Vec<&str> = text.lines().filter(|line| line.starts_with("line-")).collect();
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn ctrl_c_and_the_size_reach_the_program() {
    let script = "trap 'echo caught; exit 3' INT; stty size; echo ready; while :; do read x; done";
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).size(77, 12).spawn();
    pty.wait_for("12 77").await;
    pty.wait_for("ready").await;
    pty.send("\u{3}");
    pty.wait_for("caught").await;
    assert_eq!(pty.wait_exit().await, 3);
}

#[tokio::test]
async fn a_program_that_asks_where_the_cursor_is_gets_an_answer() {
    let script =
        "stty raw -echo; printf 'ab\\033[6n'; dd bs=1 count=6 2>/dev/null | od -c | head -1";
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).spawn();
    pty.wait_for("[   1   ;   3   R").await;
}

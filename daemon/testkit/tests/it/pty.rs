//! The terminal driver itself.

use agentd_testkit::{Color, CursorStyle, Modes, Pty, PtyBuilder, Screen};
use rustix::process::Signal;

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

#[tokio::test]
async fn a_screen_has_cells_with_attributes_a_cursor_and_a_title() {
    let script =
        "printf '\\033]2;name\\007\\033[2J\\033[3;5H\\033[1;31mred\\033[0m 使用\\033[2;2H'; read x";
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).size(40, 10).spawn();
    let screen =
        pty.wait_screen("the cursor at its place", |screen| screen.cursor() == (1, 1)).await;
    assert_eq!(screen.size(), (40, 10));
    assert_eq!(screen.title(), "name");
    assert_eq!(screen.find("使用"), Some((2, 8)));
    assert_eq!(screen.rows().get(2).map(String::as_str), Some("    red 使用"));
    let red = screen.cell_of("red").unwrap();
    assert!(red.bold && !red.is_wide && red.foreground == Color::Idx(1), "{red:?}");
    let wide = screen.cell_of("用").unwrap();
    assert!(wide.is_wide && wide.foreground == Color::Default, "{wide:?}");
    assert_eq!(*screen.modes(), Modes::default());
}

#[tokio::test]
async fn a_paste_comes_in_brackets_when_the_program_asked_for_them() {
    let script = "stty raw -echo; printf 'plain\\r\\n'; dd bs=1 count=3 2>/dev/null | od -c; \
                  printf '\\033[?2004hasked\\r\\n'; dd bs=1 count=15 2>/dev/null | od -An -c | tr -d ' \\n'";
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).spawn();
    pty.wait_for("plain").await;
    pty.paste("a\nb");
    pty.wait_for("a  \\r   b").await;
    pty.wait_for("asked").await;
    pty.paste("a\nb");
    pty.wait_for("033[200~a\\rb033[201~").await;
}

/// Runs a script and tells what it leaves of the terminal.
async fn left_by(script: &str) -> (Screen, bool) {
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).spawn();
    pty.wait_exit().await;
    (pty.screen_now(), pty.modes() == pty.modes_at_start())
}

#[tokio::test]
async fn whatever_a_program_leaves_behind_is_seen() {
    let check = async |script: &str, expect: Modes| {
        let (screen, _) = left_by(script).await;
        assert_eq!(*screen.modes(), expect, "{script}");
    };
    let usual = Modes::default;
    check("true", usual()).await;
    check("printf '\\033[?1049h'", Modes { alternate_screen: true, ..usual() }).await;
    check("printf '\\033[?25l'", Modes { cursor_visible: false, ..usual() }).await;
    check("printf '\\033[?2004h'", Modes { bracketed_paste: true, ..usual() }).await;
    check("printf '\\033[?1000;1006h'", Modes { mouse: true, ..usual() }).await;
    check("printf '\\033[6 q'", Modes { cursor_style: CursorStyle::SteadyVerticalBar, ..usual() })
        .await;
    check("printf '\\033[?7l\\033[?1004h'", Modes { others: [7, 1004].into(), ..usual() }).await;
    check("printf '\\033[>1u'", Modes { keyboard_pushes: 1, ..usual() }).await;
    let all = "printf '\\033[?1049h\\033[?25l\\033[?1000;1004;2004h\\033[>1u\\033[?7l'; \
               printf '\\033[?7h\\033[<u\\033[?2004;1004;1000l\\033[?25h\\033[?1049l'";
    check(all, usual()).await;
    assert!(left_by("true").await.1);
    assert!(!left_by("stty -echo").await.1);
}

#[tokio::test]
async fn a_program_in_a_shell_is_stopped_and_goes_on() {
    let script = "trap 'echo again' CONT; echo ready; while :; do read x; echo \"got $x\"; done";
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).in_shell().spawn();
    pty.wait_for("ready").await;
    pty.send("\u{1a}");
    pty.wait_shell().await;
    pty.wait_for("Stopped").await;
    pty.send("fg\r");
    pty.wait_for("again").await;
    pty.send("one\r");
    pty.wait_for("got one").await;
    pty.send("\u{3}");
    pty.wait_shell().await;
    pty.send("exit\r");
    pty.wait_exit().await;
}

#[tokio::test]
async fn a_terminal_that_is_hung_up_ends_the_program() {
    let script = "trap 'exit 9' HUP; echo ready; while :; do read x; done";
    let mut pty = Pty::builder("/bin/sh").arg("-c").arg(script).spawn();
    pty.wait_for("ready").await;
    pty.hang_up().await;
    assert_eq!(pty.wait_exit().await, 9);
    assert!(pty.text().contains("ready"));
}

#[tokio::test]
async fn a_program_may_have_nothing_to_read() {
    let script = "if [ -t 0 ]; then echo terminal; elif read x; then echo text; else echo nothing; fi; \
                  [ -t 1 ] && echo shown";
    let check = async |builder: PtyBuilder, expect: &str| {
        let pty = builder.arg("-c").arg(script).spawn();
        assert_eq!(pty.wait_exit().await, 0);
        assert_eq!(pty.text().split_whitespace().collect::<Vec<_>>(), [expect, "shown"]);
    };
    check(Pty::builder("/bin/sh"), "terminal").await;
    check(Pty::builder("/bin/sh").stdin_null(), "nothing").await;
    check(Pty::builder("/bin/sh").stdin_closed(), "nothing").await;
}

#[tokio::test]
async fn any_size_is_taken_while_the_program_writes() {
    let script = "trap 'stty size; exit 0' TERM; \
                  while :; do printf '使用 \\033[1;1H text that is longer than a row 😀\\r\\n'; done";
    let pty = Pty::builder("/bin/sh").arg("-c").arg(script).spawn();
    for (cols, rows) in [(1, 1), (500, 200), (2, 1), (80, 24)] {
        pty.resize(cols, rows);
        pty.wait_screen("something on it", |screen| {
            screen.size() == (cols, rows) && !screen.text().trim().is_empty()
        })
        .await;
    }
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_exit().await, 0);
    assert!(pty.text().contains("24 80"), "{}", pty.screen());
}

//! What commands write to a terminal, byte by byte: colours, bars, and what must not be shown.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use agentd_testkit::{Home, LlmServer, Pty, PtyBuilder, Reply};

use crate::tools::{run, stderr, stdout};
use crate::two_terminals::{agentd, agentd_program, leave};

fn agentctl(home: &Home, arguments: &[&str]) -> PtyBuilder {
    let builder = Pty::builder(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .env("AGENTD_BIN", agentd_program())
        .env("AGENTCTL_CLIENT", "ann")
        .current_dir(&home.workspace())
        .size(100, 40);
    arguments.iter().fold(builder, PtyBuilder::arg)
}

/// What a command has written when it has ended well.
async fn written(builder: PtyBuilder) -> String {
    let terminal = builder.spawn();
    assert_eq!(terminal.wait_exit().await, 0, "{}", terminal.text());
    terminal.assert_restored("after the command");
    terminal.written()
}

/// Whether a text has an escape sequence that sets a colour.
fn is_colored(text: &str) -> bool {
    text.split("\x1b[").skip(1).any(|rest| {
        let (parameters, _) =
            rest.split_once(|sign: char| !sign.is_ascii_digit() && sign != ';').unwrap_or_default();
        let is_style = rest.get(parameters.len()..).is_some_and(|end| end.starts_with('m'));
        let colors = |it: &str| it.parse().is_ok_and(|it: u8| matches!(it, 30..=49 | 90..=107));
        is_style && parameters.split(';').any(colors)
    })
}

#[tokio::test]
async fn a_list_is_styled_on_a_terminal_unless_that_is_not_wanted_or_understood() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    let sent = run(home, &["send", "what is 1 + 1?"]).await;
    assert!(sent.status.success(), "{sent:?}");
    for command in [["sessions", "list"], ["tools", "list"], ["usage", "--json"]] {
        let plain = run(home, &command).await;
        assert!(plain.status.success(), "{plain:?}");
        for text in [stdout(&plain), stderr(&plain)] {
            assert!(!text.contains('\x1b'), "{command:?} into a pipe: {text:?}");
        }
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let written = written(agentctl(home, &command).env(name, value)).await;
            assert!(!written.contains('\x1b'), "{command:?} with {name}={value}: {written:?}");
        }
        let never = written(agentctl(home, &[&command[..], &["--color", "never"]].concat())).await;
        assert!(!never.contains('\x1b'), "{command:?} with --color never: {never:?}");
    }
    let styled = written(agentctl(home, &["sessions", "list"])).await;
    assert!(styled.contains("\x1b["), "{styled:?}");
    let wanted = run(home, &["sessions", "list", "--color", "always"]).await;
    assert!(stdout(&wanted).contains("\x1b["), "{wanted:?}");
    daemon.terminate().await;
}

#[tokio::test]
async fn a_chat_has_colour_unless_it_is_not_wanted_and_a_dumb_terminal_gets_no_escape_sequence() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.set_default(|_| {
        Reply::text("see `code`:\n\n```rust\nfn main() { let x = 1; }\n```\n\nanswer ends\n")
    });
    for (name, value) in [("LANG", "C.UTF-8"), ("NO_COLOR", "1"), ("TERM", "dumb")] {
        let ann = agentctl(daemon.home(), &["chat", "--new"]).env(name, value).spawn();
        ann.wait_for("/help").await;
        ann.send("go\r");
        ann.wait_for("answer ends").await;
        ann.send("\x04");
        assert_eq!(ann.wait_exit().await, 0, "{}", ann.text());
        let written = ann.written();
        assert_eq!(is_colored(&written), name == "LANG", "{name}={value}: {written:?}");
        assert!(name != "TERM" || !written.contains('\x1b'), "{written:?}");
    }
    daemon.terminate().await;
}

#[tokio::test]
async fn long_work_shows_how_far_it_is_where_somebody_looks_and_nothing_of_it_stays() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let home = daemon.home();
    // More than a page of an export and a piece of an import.
    llm.push(Reply::text(&"long ".repeat(300_000)));
    let sent = run(home, &["send", "write much"]).await;
    assert!(sent.status.success(), "{}", stderr(&sent));
    let note = "remember the bridge of number ";
    let notes: Vec<String> = (1..=1_200).map(|number| format!("- {note}{number}")).collect();
    std::fs::write(home.workspace().join("notes.md"), notes.join("\n")).unwrap();

    let export = ["sessions", "export", "last", "--output", "talk.jsonl"];
    let import = ["sessions", "import", "talk.jsonl"];
    let remember = ["memory", "import", "notes.md"];
    let commands: [(&[&str], &str); 3] =
        [(&export, "exporting ["), (&import, "importing ["), (&remember, "taking in [")];
    for (command, bar) in commands {
        let terminal = agentctl(home, command).spawn();
        assert_eq!(terminal.wait_exit().await, 0, "{}", terminal.text());
        let written = terminal.written();
        assert!(written.contains(bar), "{command:?}: {written:?}");
        assert!(!terminal.text().contains(bar), "it is taken away: {}", terminal.text());
        terminal.assert_restored("after the bar");
        let dumb = written_dumb(home, command).await;
        assert!(!dumb.contains(bar) && !dumb.contains('\x1b'), "{command:?}: {dumb:?}");
        let piped = run(home, command).await;
        assert!(piped.status.success(), "{piped:?}");
        assert!(!stderr(&piped).contains(bar) && !stdout(&piped).contains(bar), "{piped:?}");
    }
    daemon.terminate().await;
}

async fn written_dumb(home: &Home, command: &[&str]) -> String {
    written(agentctl(home, command).env("TERM", "dumb")).await
}

/// Who may do what with a file.
fn mode(file: &Path) -> u32 {
    std::fs::metadata(file).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn the_first_key_is_never_shown_and_is_kept_for_its_owner_alone() {
    const KEY: &str = "sk-proj-0123456789-never-to-be-seen";
    let llm = LlmServer::start().await;
    // A daemon that found nothing; what it will take for OpenAI is ours.
    let daemon = agentd().env("OPENAI_BASE_URL", &llm.base_url()).start().await;
    let paths = daemon.home().paths();
    std::fs::remove_file(paths.config_file()).unwrap();

    let ann = agentctl(daemon.home(), &["chat", "--new"]).spawn();
    ann.wait_for("Your choice").await;
    ann.send("1\r");
    ann.wait_for("Paste the key").await;
    ann.send(KEY);
    ann.send("\r");
    ann.wait_for("answers now").await;
    let key_file = paths.config_dir.join("api-key");
    assert_eq!(std::fs::read_to_string(&key_file).unwrap(), format!("{KEY}\n"));
    assert_eq!((mode(&key_file), mode(&paths.config_file())), (0o600, 0o600));
    assert_eq!(mode(&paths.config_dir), 0o700);
    let config = std::fs::read_to_string(paths.config_file()).unwrap();
    assert!(!config.contains(KEY), "{config}");
    let asked = llm.requests();
    let authorization = asked.first().unwrap().header("authorization").map(str::to_owned);
    assert_eq!(authorization.as_deref(), Some(&*format!("Bearer {KEY}")), "it was tried");

    ann.wait_for("❯").await;
    ann.send("echo this\r");
    ann.wait_until("the answer", |text| text.matches("echo this").count() > 1).await;
    assert!(!ann.written().contains(KEY) && !ann.text().contains(KEY), "{}", ann.text());
    assert!(!ann.written().contains("never-to-be-seen"));
    leave(ann).await;
    let logs = run(daemon.home(), &["logs"]).await;
    assert!(!stdout(&logs).contains("never-to-be-seen"), "{logs:?}");
    daemon.terminate().await;
}

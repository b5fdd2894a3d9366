//! The first full screen on a machine: what shall answer is asked before it begins.

use std::os::unix::fs::PermissionsExt as _;

use agentd_testkit::{Daemon, DaemonBuilder, LlmServer, Pty, PtyBuilder, Reply};

use crate::terminal::{PROGRAM, READY};

const KEY: &str = "sk-proj-0123456789";

/// A daemon that runs without a configuration and has found no model.
async fn unconfigured(builder: DaemonBuilder) -> Daemon {
    let daemon = builder.start().await;
    std::fs::remove_file(daemon.home().paths().config_file()).unwrap();
    daemon
}

fn start(daemon: &Daemon, arguments: &[&str]) -> Pty {
    let builder = Pty::builder(PROGRAM)
        .env("AGENTD_HOME", daemon.home().dir())
        .current_dir(&daemon.workspace())
        .size(110, 40);
    arguments.iter().fold(builder, PtyBuilder::arg).spawn()
}

async fn leave(terminal: Pty) {
    terminal.wait_screen("an open session", |screen| screen.contains(READY)).await;
    assert!(terminal.is_alternate_screen());
    terminal.send("\x03");
    assert_eq!(terminal.wait_exit().await, 0);
    terminal.assert_restored("Ctrl-C");
}

#[tokio::test]
async fn a_pasted_key_is_not_shown_is_tried_once_and_kept_for_its_owner_alone() {
    let llm = LlmServer::start().await;
    // What the environment says counts: the service is the scripted one.
    let builder = Daemon::builder()
        .env("AGENTD_PROVIDER_BASE_URL", &llm.base_url())
        .env("AGENTD_PROVIDER_MODEL", "scripted");
    let daemon = unconfigured(builder).await;
    let terminal = start(&daemon, &[]);
    terminal.wait_for("Your choice").await;
    assert!(!terminal.is_alternate_screen(), "it is asked on the ordinary screen");
    terminal.send("1\r");
    terminal.wait_for("Paste the key").await;
    llm.push(Reply::text("OK"));
    terminal.send(&format!("{KEY}\r"));
    terminal.wait_screen("an open session", |screen| screen.contains(READY)).await;

    let requests = llm.requests();
    let [request] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let key_file = daemon.home().paths().config_dir.join("api-key");
    assert_eq!(std::fs::read_to_string(&key_file).unwrap(), format!("{KEY}\n"));
    for file in [key_file, daemon.home().paths().config_file()] {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    llm.push(Reply::text("four hundred and eight"));
    terminal.send("what is 17% of 2400?\r");
    terminal.wait_for("four hundred and eight").await;
    leave(terminal).await;
    daemon.stop().await;
}

#[tokio::test]
async fn a_server_at_another_address_is_tried_with_its_key_and_kept() {
    let llm = LlmServer::start().await;
    let daemon = unconfigured(Daemon::builder()).await;
    let terminal = start(&daemon, &[]);
    terminal.wait_for("Your choice").await;
    let shown = terminal.text();
    let line = shown.lines().find(|line| line.contains("another server")).unwrap();
    let choice = line.split(')').next().unwrap().trim().to_owned();
    terminal.send(&format!("{choice}\r"));
    terminal.wait_for("Its address").await;
    terminal.send("box.lan\r");
    terminal.wait_for("that is no address").await;
    terminal.send(&format!("{}\r", llm.base_url()));
    terminal.wait_for("name of the model").await;
    terminal.send("scripted\r");
    terminal.wait_for("Its key, not shown").await;
    llm.push(Reply::text("OK"));
    terminal.send(&format!("{KEY}\r"));
    terminal.wait_screen("an open session", |screen| screen.contains(READY)).await;
    assert!(!terminal.text().contains(KEY), "{}", terminal.text());
    let requests = llm.requests();
    let [request] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let config = std::fs::read_to_string(daemon.home().paths().config_file()).unwrap();
    assert!(config.contains("model = \"scripted\"") && !config.contains(KEY), "{config}");
    leave(terminal).await;
    daemon.stop().await;
}

#[tokio::test]
async fn who_goes_on_offline_is_asked_once() {
    let daemon = unconfigured(Daemon::builder()).await;
    let first = start(&daemon, &[]);
    first.wait_for("Your choice").await;
    first.send("\r");
    first.wait_screen("an open session", |screen| screen.contains(READY)).await;
    first.send("\x03");
    assert_eq!(first.wait_exit().await, 0);
    first.wait_for("is yours to edit").await;
    assert!(daemon.home().paths().config_file().exists());
    let second = start(&daemon, &[]);
    second.wait_screen("an open session", |screen| screen.contains(READY)).await;
    second.send("\x03");
    assert_eq!(second.wait_exit().await, 0);
    assert!(!second.text().contains("Your choice"), "{}", second.text());
    daemon.stop().await;
}

#[tokio::test]
async fn who_leaves_while_a_key_is_asked_for_leaves_nothing_and_no_setup_asks_nothing() {
    let daemon = unconfigured(Daemon::builder()).await;
    for (stop, what) in [("\x03", "Ctrl-C"), ("\x04", "Ctrl-D")] {
        let asked = start(&daemon, &[]);
        asked.wait_for("Your choice").await;
        asked.send("1\r");
        asked.wait_for("Paste the key").await;
        asked.send(stop);
        assert_eq!(asked.wait_exit().await, 130, "{what}");
        asked.assert_restored(what);
        assert_eq!(std::fs::read_dir(daemon.home().paths().config_dir).unwrap().count(), 0);
    }
    let unasked = start(&daemon, &["--no-setup"]);
    unasked.wait_screen("an open session", |screen| screen.contains(READY)).await;
    unasked.send("\x03");
    assert_eq!(unasked.wait_exit().await, 0);
    assert!(!unasked.text().contains("Your choice"), "{}", unasked.text());
    daemon.stop().await;
}

#[tokio::test]
async fn a_key_is_hidden_after_a_stop_too() {
    let daemon = unconfigured(Daemon::builder()).await;
    let shell = Pty::builder(PROGRAM)
        .env("AGENTD_HOME", daemon.home().dir())
        .current_dir(&daemon.workspace())
        .size(110, 40)
        .in_shell()
        .spawn();
    shell.wait_for("Your choice").await;
    shell.send("1\r");
    shell.wait_for("Paste the key").await;
    shell.send("\x1a");
    shell.wait_shell().await;
    shell.send("stty echo; fg\r");
    shell.wait_until("the question again", |text| text.matches("Paste the key").count() == 2).await;
    shell.send("sk-ant-no key at all\r");
    shell.wait_for("that is no key").await;
    assert!(!shell.text().contains("sk-ant"), "{}", shell.text());
    shell.send("\x03");
    shell.wait_shell().await;
    shell.send("exit\r");
    shell.wait_exit().await;
    daemon.stop().await;
}

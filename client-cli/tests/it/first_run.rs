//! The first chat on a machine, in a terminal.

use agentd_testkit::{Home, Pty};

use crate::tools::run;
use crate::two_terminals::{agentd_program, leave};

/// A chat that starts the daemon by itself, which finds no model whatever the machine has.
fn chat(home: &Home, arguments: &[&str]) -> Pty {
    let mut builder = Pty::builder(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .env("AGENTD_BIN", agentd_program())
        .env("AGENTD_PROVIDER_KIND", "offline")
        .env("AGENTCTL_CLIENT", "ann")
        .current_dir(&home.workspace())
        .size(110, 40)
        .arg("chat");
    for argument in arguments {
        builder = builder.arg(argument);
    }
    builder.spawn()
}

async fn stop(home: &Home) {
    let ended = run(home, &["shutdown"]).await;
    assert!(ended.status.success(), "{ended:?}");
}

#[tokio::test]
async fn the_first_chat_asks_for_a_model_and_no_later_one() {
    let home = Home::new();
    let config = home.paths().config_file();
    let first = chat(&home, &[]);
    first.wait_for("Your choice").await;
    first.send("1\r");
    first.wait_for("Paste the key").await;
    first.send("sk-ant-no key at all\r");
    first.wait_for("that is no key").await;
    assert!(!first.text().contains("sk-ant"), "it is not shown: {}", first.text());
    assert!(!config.exists() && !home.paths().config_dir.join("api-key").exists());
    first.send("nine\r");
    first.wait_for("type a number from 1 to").await;
    first.send("\r");
    first.wait_for("is yours to edit").await;
    leave(first).await;
    assert!(config.exists());

    let second = chat(&home, &[]);
    leave_unasked(second).await;
    stop(&home).await;
}

#[tokio::test]
async fn nobody_is_asked_with_no_setup_or_without_a_terminal_and_ctrl_c_leaves_nothing() {
    let home = Home::new();
    leave_unasked(chat(&home, &["--no-setup"])).await;
    let sent = run(&home, &["chat"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let asked = chat(&home, &[]);
    asked.wait_for("Your choice").await;
    asked.send("1\r");
    asked.wait_for("Paste the key").await;
    asked.send("\x03");
    assert_eq!(asked.wait_exit().await, 130);
    assert_eq!(asked.modes(), asked.modes_at_start(), "what is typed is shown again");
    assert!(!home.paths().config_file().exists());
    stop(&home).await;
}

async fn leave_unasked(chat: Pty) {
    chat.wait_for("❯").await;
    assert!(!chat.text().contains("Your choice"), "{}", chat.text());
    leave(chat).await;
}

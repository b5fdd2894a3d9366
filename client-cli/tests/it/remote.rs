//! Tokens, contexts, and a daemon that is reached over TLS: as a user does it, with both programs.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use agentd_testkit::{Home, ProcessDaemon};

use crate::two_terminals::{agentd, agentd_program};

/// A daemon that serves remote clients, and another user's machine.
struct World {
    daemon: ProcessDaemon,
    url: String,
    ca: PathBuf,
    away: Home,
}

impl World {
    async fn start() -> Self {
        let home = Home::new();
        let made = Command::new(agentd_program())
            .args(["tls", "init"])
            .env("AGENTD_HOME", home.dir())
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let told = String::from_utf8(made.stdout).unwrap();
        assert!(told.contains("[remote]") && told.contains("SHA-256"), "{told}");
        let tls = home.paths().tls_dir();
        let file = |name: &str| tls.join(name).display().to_string();
        let daemon = agentd()
            .home(&home)
            .set("remote.listen", vec!["127.0.0.1:0"])
            .set("remote.tls_cert", file("server.pem"))
            .set("remote.tls_key", file("server.key"))
            .start()
            .await;
        let status = run(&home, &["status", "--json"]);
        let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
        let address = status.pointer("/listen_addresses/0").unwrap().as_str().unwrap();
        let url = format!("https://{address}");
        Self { daemon, url, ca: tls.join("ca.pem"), away: Home::new() }
    }

    /// Runs a command where the daemon is.
    fn there(&self, arguments: &[&str]) -> Output {
        run(self.daemon.home(), arguments)
    }

    /// Runs a command on the other machine.
    fn away(&self, arguments: &[&str]) -> Output {
        run(&self.away, arguments)
    }

    /// Makes a token and gives its id and text.
    fn token(&self, arguments: &[&str]) -> (String, String) {
        let made = self.there(&[&["token", "create", "--json"], arguments].concat());
        assert!(made.status.success(), "{made:?}");
        let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
        let text = |key: &str| made.get(key).unwrap().as_str().unwrap().to_owned();
        (text("token_id"), text("secret"))
    }

    fn add_context(&self, name: &str, secret: &str) -> Output {
        let ca = self.ca.display().to_string();
        let mut command = agentctl(
            &self.away,
            &["context", "add", name, "--server", &self.url, "--ca", &ca, "--token-file", "-"],
        );
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(format!("{secret}\n").as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

fn agentctl(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command
        .env_clear()
        .env("HOME", home.dir())
        .env("USER", "ann")
        .env("AGENTD_HOME", home.dir())
        .env("AGENTD_BIN", home.dir().join("no-such-agentd"))
        .current_dir(home.workspace())
        .stdin(Stdio::null())
        .args(arguments);
    command
}

fn run(home: &Home, arguments: &[&str]) -> Output {
    agentctl(home, arguments).output().unwrap()
}

fn out(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

#[track_caller]
fn check(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
}

#[tokio::test]
async fn a_context_leads_to_a_daemon_elsewhere_until_it_is_removed() {
    let world = World::start().await;
    let (_, secret) = world.token(&["phone", "--expires", "30d"]);
    check(&world.add_context("home", &secret), 0);
    let file = world.away.paths().contexts_file();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Added is not yet used: there is no daemon on this machine.
    check(&world.away(&["--no-start", "status"]), 3);
    check(&world.away(&["context", "use", "home"]), 0);

    let status = world.away(&["status"]);
    check(&status, 0);
    assert!(out(&status).starts_with(&format!("context   home ({})\n", world.url)), "{status:?}");
    let status = world.away(&["status", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(
        (json["context"].as_str(), json["pid"].as_u64()),
        (Some("home"), Some(world.daemon.pid().into()))
    );
    let answer = world.away(&["send", "what is 2 + 3?"]);
    check(&answer, 0);
    assert!(out(&answer).contains('5'), "{answer:?}");
    // A directory of that machine need not be on this one: it is the daemon that looks for it. One of
    // this one means nothing there.
    let elsewhere = world.away(&["permissions", "list", "--workspace", "/only/there"]);
    check(&elsewhere, 1);
    assert!(err(&elsewhere).contains("cannot list the rules"), "{elsewhere:?}");
    check(&world.away(&["permissions", "list", "--workspace", "/usr"]), 0);
    let beside = world.away(&["permissions", "list", "--workspace", "."]);
    check(&beside, 2);
    assert!(err(&beside).contains("absolute path of the directory there"), "{beside:?}");
    let shown = world.away(&["sessions", "show", "last", "--json"]);
    assert!(!out(&shown).contains(world.away.workspace().to_str().unwrap()), "{shown:?}");

    let listed = world.away(&["context", "list"]);
    assert_eq!(out(&listed), format!("* home  {}\n", world.url));
    for shown in [&["context", "show"][..], &["context", "show", "home", "--json"]] {
        let shown = world.away(shown);
        check(&shown, 0);
        assert!(out(&shown).contains("stored") && !out(&shown).contains(&secret), "{shown:?}");
    }
    check(&world.away(&["--context", "local", "--no-start", "status"]), 3);
    check(&world.away(&["--context", "nowhere", "status"]), 4);
    check(&world.away(&["context", "use", "local"]), 0);
    check(&world.away(&["--no-start", "status"]), 3);
    check(&world.away(&["--context", "home", "status"]), 0);
    check(&world.away(&["context", "remove", "home"]), 0);
    check(&world.away(&["context", "remove", "home"]), 4);
    assert_eq!(out(&world.away(&["context", "list", "--json"])), "[]\n");
    world.daemon.terminate().await;
}

#[tokio::test]
async fn tokens_are_made_shown_once_listed_and_revoked() {
    let world = World::start().await;
    let made = world.there(&["token", "create", "phone", "--scope", "read"]);
    check(&made, 0);
    let secret = out(&made).trim();
    assert!(secret.starts_with("agentd_") && !err(&made).contains(secret), "{made:?}");
    let listed = world.there(&["token", "list"]);
    assert!(out(&listed).contains("read") && out(&listed).contains("phone"), "{listed:?}");
    assert!(!out(&listed).contains(secret));
    let listed = world.there(&["token", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed[0]["token_id"].as_str().unwrap();
    assert_eq!(listed[0]["last_used_at_ms"], 0);

    // By its URL, with the token in the environment.
    let ca = world.ca.display().to_string();
    let with_env = |arguments: &[&str]| {
        let mut command = agentctl(&world.away, arguments);
        command.env("AGENTD_SERVER", &world.url).env("AGENTD_TOKEN", secret);
        command.args(["--ca", &ca]).output().unwrap()
    };
    check(&with_env(&["sessions", "list"]), 0);
    let refused = with_env(&["send", "hi"]);
    check(&refused, 1);
    assert!(err(&refused).contains("needs chat"), "{refused:?}");
    check(&world.there(&["token", "revoke", id]), 0);
    check(&world.there(&["token", "revoke", id]), 4);
    let refused = with_env(&["sessions", "list"]);
    check(&refused, 1);
    assert!(err(&refused).contains("revoked") && err(&refused).contains("hint"), "{refused:?}");
    assert!(!err(&refused).contains(secret));
    world.daemon.terminate().await;
}

#[tokio::test]
async fn what_is_wrong_with_tls_or_options_is_said_with_the_remedy() {
    let world = World::start().await;
    let (_, secret) = world.token(&["phone"]);
    let token = world.away.dir().join("token");
    std::fs::write(&token, &secret).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    let token = token.display().to_string();
    let ca = world.ca.display().to_string();
    let fails = |arguments: &[&str], code: i32, problem: &str, remedy: &str| {
        let output = world.away(&[&["status"], arguments].concat());
        check(&output, code);
        assert!(err(&output).contains(problem), "{output:?}");
        assert!(err(&output).contains(remedy), "{output:?}");
        assert!(!err(&output).contains(&secret), "{output:?}");
    };
    let server = ["--server", &world.url];
    let strangers = World::start().await;
    let other_ca = strangers.ca.display().to_string();
    fails(&[&server[..], &["--ca", &other_ca]].concat(), 3, "not of a CA", "--ca");
    let named = ["--ca", &ca, "--server-name", "box.lan"];
    fails(&[&server[..], &named].concat(), 3, "for another name", "--server-name");
    let open = ["--ca", &ca, "--token-file", &token];
    fails(&[&server[..], &open].concat(), 2, "mode 644", "chmod 600");
    fails(&[&server[..], &["--ca", "/nonexistent"]].concat(), 2, "--ca", "check the file");
    fails(&["--server", "http://192.0.2.1:1"], 2, "without TLS", "https://");
    fails(&["--token-file", &token], 2, "on another machine", "--server");
    fails(&[&server[..], &["--ca", &ca]].concat(), 1, "needs a token", "agentctl token create");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let good = world.away(&[&["status"], &server[..], &open].concat());
    check(&good, 0);

    let wrong = world.away(&["context", "add", "x"]);
    check(&wrong, 2);
    assert!(err(&wrong).contains("--server"), "{wrong:?}");
    let url = world.url.clone();
    world.daemon.terminate().await;
    strangers.daemon.terminate().await;
    let gone = world.away.clone();
    let output = run(&gone, &["status", "--server", &url, "--token-file", &token]);
    check(&output, 3);
}

#[tokio::test]
async fn a_daemon_elsewhere_is_stopped_and_backed_up_on_its_own_machine() {
    let world = World::start().await;
    let (_, secret) = world.token(&["boss", "--scope", "admin"]);
    check(&world.add_context("home", &secret), 0);
    check(&world.away(&["context", "use", "home"]), 0);
    let relative = world.away(&["backup", "copy"]);
    check(&relative, 2);
    assert!(err(&relative).contains("daemon's machine"), "{relative:?}");
    let copy = world.daemon.home().dir().join("copy").display().to_string();
    check(&world.away(&["backup", &copy]), 0);
    let stopped = world.away(&["shutdown"]);
    check(&stopped, 0);
    assert!(err(&stopped).contains("does not answer any more"), "{stopped:?}");
    let ended = world.daemon.ended().await;
    assert!(ended.status.success(), "{ended:?}");
    assert!(!ended.stderr.contains(&secret), "a token is in the log");
}

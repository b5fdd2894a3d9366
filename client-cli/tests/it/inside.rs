//! Seeing inside a daemon: its log and its health, with the real programs.

use std::process::{Output, Stdio};
use std::time::Duration;

use agentd_testkit::{Home, LlmServer, Reply};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdout, Command};

use crate::two_terminals::{agentd, agentd_program};

fn agentctl(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command.env("AGENTD_HOME", home.dir()).env("AGENTD_BIN", agentd_program());
    command.current_dir(home.workspace()).stdin(Stdio::null()).args(arguments);
    command
}

async fn run(home: &Home, arguments: &[&str]) -> Output {
    agentctl(home, arguments).output().await.unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

/// The outcomes of the checks by name.
fn outcomes(output: &Output) -> Vec<(String, String)> {
    let checks: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let text = |check: &serde_json::Value, key: &str| check[key].as_str().unwrap().to_owned();
    checks.iter().map(|check| (text(check, "name"), text(check, "outcome"))).collect()
}

fn outcome_of<'a>(outcomes: &'a [(String, String)], name: &str) -> &'a str {
    &outcomes.iter().find(|(of, _)| of == name).unwrap().1
}

#[tokio::test]
async fn the_log_is_shown_and_a_session_can_be_picked_out() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::error(401, "invalid_api_key", "no"));
    assert_eq!(run(daemon.home(), &["send", "hi"]).await.status.code(), Some(1));
    let all = run(daemon.home(), &["logs"]).await;
    assert!(all.status.success(), "{all:?}");
    assert!(stdout(&all).contains("agentd::daemon::serve: ready"), "{all:?}");
    let of_session = run(daemon.home(), &["logs", "--json", "--session", "last"]).await;
    for line in stdout(&of_session).lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(record["fields"]["session_id"].is_string(), "{record}");
    }
    let newest = run(daemon.home(), &["logs", "-n", "1"]).await;
    assert_eq!(stdout(&newest).lines().count(), 1);
    daemon.terminate().await;
}

async fn next_with(lines: &mut Lines<BufReader<ChildStdout>>, text: &str) -> String {
    let found = async {
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            if line.contains(text) {
                return line;
            }
        }
    };
    tokio::time::timeout(agentd_testkit::PATIENCE, found).await.unwrap()
}

#[tokio::test]
async fn a_log_that_is_followed_outlives_its_daemon() {
    let daemon = agentd().start().await;
    let home = daemon.home().clone();
    let mut follow: Child = agentctl(&home, &["logs", "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    next_with(&mut lines, "ready").await;
    daemon.terminate().await;
    next_with(&mut lines, "told to stop").await;
    let again = agentd().home(&home).start().await;
    next_with(&mut lines, "ready").await;
    follow.kill().await.unwrap();
    again.terminate().await;
}

#[tokio::test]
async fn a_doctor_finds_a_healthy_daemon_healthy() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::text("OK"));
    let seen = run(daemon.home(), &["doctor", "--json"]).await;
    let outcomes = outcomes(&seen);
    let names: Vec<_> = outcomes.iter().map(|(name, _)| name.as_str()).collect();
    let expect = [
        "daemon", "config", "key", "endpoint", "model", "roles", "store", "socket", "disk",
        "clock", "memory", "turns", "service", "remote", "traces", "sandbox", "browser",
    ];
    assert_eq!(names, expect);
    for name in
        ["daemon", "config", "key", "endpoint", "roles", "store", "socket", "clock", "service"]
    {
        assert_eq!(outcome_of(&outcomes, name), "ok", "{seen:?}");
    }
    assert_eq!(seen.status.code(), Some(0));
    assert_eq!(llm.requests().len(), 1);
    // Without a question nothing is asked.
    let seen = run(daemon.home(), &["doctor", "--json", "--offline"]).await;
    assert_eq!(outcome_of(&self::outcomes(&seen), "endpoint"), "skipped");
    assert_eq!(llm.requests().len(), 1);
    daemon.terminate().await;
}

#[tokio::test]
async fn a_doctor_names_what_is_wrong_and_what_to_do() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::error(401, "invalid_api_key", "that key is no good"));
    let seen = run(daemon.home(), &["doctor"]).await;
    assert_eq!(seen.status.code(), Some(1));
    let shown = stdout(&seen);
    assert!(shown.contains("fail  endpoint"), "{shown}");
    assert!(shown.contains("that key is no good"), "{shown}");
    assert!(shown.contains("→ put the key into the file"), "{shown}");
    daemon.terminate().await;
    let offline = agentd().start().await;
    let seen = run(offline.home(), &["doctor", "--json"]).await;
    let outcomes = outcomes(&seen);
    assert_eq!(outcome_of(&outcomes, "endpoint"), "warn", "{seen:?}");
    assert_eq!(outcome_of(&outcomes, "model"), "skipped", "{seen:?}");
    assert_eq!(seen.status.code(), Some(0));
    offline.terminate().await;
}

#[tokio::test]
async fn a_slow_turn_is_told_in_the_log_with_where_its_time_went() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("session.slow_turn_ms", 1).start().await;
    llm.push(Reply::text("slow").pause_before_headers(Duration::from_millis(50)));
    assert!(run(daemon.home(), &["send", "hi"]).await.status.success());
    let logs = run(daemon.home(), &["logs", "--json", "--session", "last"]).await;
    let records = stdout(&logs).lines().map(|line| serde_json::from_str(line).unwrap());
    let slow: Vec<serde_json::Value> =
        records.filter(|record: &serde_json::Value| record["message"] == "slow turn").collect();
    let [slow] = slow.as_slice() else { panic!("{logs:?}") };
    let field = |name: &str| slow["fields"][name].as_str().unwrap().to_owned();
    assert_eq!((slow["level"].as_str(), field("attempts")), (Some("warn"), "1".to_owned()));
    let ms = |name: &str| field(name).parse::<u64>().unwrap();
    assert!(ms("first_byte_ms") >= 50 && ms("total_ms") >= ms("first_byte_ms"), "{slow}");
    for part in ["place_ms", "streaming_ms", "retry_ms", "tools_ms", "store_ms", "other_ms"] {
        assert!(ms(part) <= ms("total_ms"), "{slow}");
    }
    let seen = run(daemon.home(), &["doctor", "--offline"]).await;
    assert!(stdout(&seen).contains("1 slow turn since the start"), "{seen:?}");
    daemon.terminate().await;
}

#[tokio::test]
async fn a_doctor_without_a_daemon_says_so() {
    let home = Home::new();
    let seen = run(&home, &["doctor", "--json", "--no-start"]).await;
    assert_eq!(outcomes(&seen), [("daemon".to_owned(), "fail".to_owned())]);
    assert_eq!(seen.status.code(), Some(1));
}

async fn http(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn figures_are_handed_out_on_loopback_and_not_to_web_pages() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("metrics.listen", "127.0.0.1:0").start().await;
    llm.push(Reply::text("hello"));
    assert!(run(daemon.home(), &["send", "hi"]).await.status.success());
    let logs = run(daemon.home(), &["logs", "--json"]).await;
    let address = stdout(&logs)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|record| record["message"] == "figures at /metrics")
        .and_then(|record| record["fields"]["address"].as_str().map(str::to_owned))
        .unwrap();
    let figures = http(&address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(figures.starts_with("HTTP/1.1 200 OK"), "{figures}");
    for expect in [
        "content-type: application/openmetrics-text",
        "outcome=\"ok\"} ",
        "agentd_sessions_live 1",
        "# TYPE agentd_prompt_prefix_breaks counter",
        "agentd_prompt_prefix_breaks_total 0",
        "agentd_resident_memory_bytes ",
        "# EOF",
    ] {
        assert!(figures.contains(expect), "{expect} is not in\n{figures}");
    }
    // A page under a name of its own that leads here, and one that says where it is from.
    for headers in ["Host: evil.test", "Host: localhost\r\nOrigin: https://evil.test"] {
        let answer = http(&address, &format!("GET /metrics HTTP/1.1\r\n{headers}\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
    let answer = http(&address, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    daemon.terminate().await;
}

#[tokio::test]
async fn status_as_json_has_what_today_cost() {
    let llm = LlmServer::start().await;
    let daemon = agentd()
        .llm(&llm)
        .set("models.scripted.prices.prompt", 1.0)
        .set("models.scripted.prices.completion", 2.0)
        .start()
        .await;
    let today = async || {
        let status = run(daemon.home(), &["status", "--json"]).await;
        serde_json::from_str::<serde_json::Value>(stdout(&status)).unwrap()["today"].clone()
    };
    assert_eq!(today().await["requests"], 0);
    llm.push(Reply::text("hello"));
    assert!(run(daemon.home(), &["send", "hi"]).await.status.success());
    let today = today().await;
    assert_eq!(today["requests"], 1);
    // 10 tokens of prompt and 5 of the answer.
    assert_eq!(today["cost"]["nano_usd"], 20_000, "{today}");
    daemon.terminate().await;
}

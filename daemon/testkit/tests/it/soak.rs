//! Many users on a bad day: every message reaches an end, and nothing grows.
//!
//! Short by default. `cargo xtask soak` runs it for ten minutes with fifty users, and only then
//! checks the memory: a short run is all warm-up.

mod gauge;
mod ledger;
mod user;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use agentd_testkit::{ChaosRates, Home, LlmServer};
use rustix::process::Signal;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::agentd;
use gauge::{Gauge, Sample};
use ledger::Tally;
use user::{Setting, User};

/// Seconds, users and seed of a run; without them it is a short one.
const SECONDS: &str = "AGENTD_SOAK_SECONDS";
const SESSIONS: &str = "AGENTD_SOAK_SESSIONS";
const SEED: &str = "AGENTD_SOAK_SEED";

/// From this length on the first quarter is enough of a warm-up to compare the others.
const LONG: Duration = Duration::from_secs(240);
/// What the server calls a stall, which is longer than what the daemon waits.
const STALL: Duration = Duration::from_millis(800);
const SILENCE_MS: u64 = 400;
/// Requests to an endpoint at once, which is also the most connections that it keeps.
const CONCURRENT: u32 = 16;
/// Growth of memory from the second quarter to the last that is allowed, beside the quarters' noise.
const GROWTH_PERCENT: u64 = 15;
const GROWTH_KIB: u64 = 4 * 1024;
/// Descriptors that may be open by chance.
const SPARE_DESCRIPTORS: u64 = 8;
/// The APIs by the kind of their endpoint, whose name is the kind's too.
const KINDS: &[&str] = &["openai", "anthropic", "openai-responses"];

#[tokio::test]
async fn on_a_bad_day_every_message_reaches_an_end_and_nothing_grows() {
    let length = Duration::from_secs(setting(SECONDS, 20));
    let sessions = setting(SESSIONS, 12);
    let seed = setting(SEED, 1);
    let is_long = length >= LONG;

    let llm = LlmServer::start().await;
    let rates = ChaosRates { huge_line: 0, ..ChaosRates::default() };
    llm.chaos(seed, rates, STALL);
    let home = home(&llm);
    let daemon = agentd().home(&home).start().await;
    // Rarely enough to be no load itself.
    let gauge = Gauge::start(daemon.pid(), (length / 400).max(Duration::from_millis(100)));
    let at_first = gauge.now();

    let models = KINDS.iter().map(|kind| format!("{kind}/scripted")).collect();
    let setting = Setting {
        endpoint: home.endpoint(),
        workspace: home.workspace().display().to_string(),
        models,
        patience: Duration::from_secs(if is_long { 120 } else { 30 }),
    };
    let until = Instant::now() + length;
    let mut users = JoinSet::new();
    for number in 0..sessions {
        let user = User::connect(setting.clone(), number, seed).await;
        users.spawn(user.work(move || Instant::now() >= until));
    }
    let mut tally = Tally::default();
    while let Some(worked) = users.join_next().await {
        tally.add(worked.expect("the user came to its end"));
    }
    let windows = gauge.windows();
    let at_rest = wait_for_descriptors(&gauge, at_first, setting.patience).await;
    print(&tally, llm.served(), at_first, &windows, at_rest);
    drop(gauge);
    daemon.signal(Signal::TERM);
    let ended = daemon.ended().await;
    assert!(ended.status.success(), "{ended:?}");
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);

    assert_eq!(llm.violations(), Vec::<String>::new());
    // Nobody was asked in a turn that was interrupted before its time came.
    let asked = tally.providers.keys().filter(|provider| *provider != "none").count();
    assert_eq!(asked, KINDS.len(), "{:?}", tally.providers);
    assert!(tally.messages > sessions, "{tally:?}");
    if is_long {
        // A short run on a slow machine may miss some by chance.
        for end in ["turn completed", "turn failed", "turn interrupted", "message "] {
            assert!(tally.ends.keys().any(|key| key.starts_with(end)), "no '{end}': {tally:?}");
        }
        assert!(tally.restarts > 0 && tally.tool_calls > 0 && tally.resumed > 0, "{tally:?}");
        let [_, second, _, last] = windows;
        let limit = second.resident_kib * (100 + GROWTH_PERCENT) / 100 + GROWTH_KIB;
        assert!(last.resident_kib <= limit, "memory grew: {windows:?}");
        assert!(last.descriptors <= second.descriptors + SPARE_DESCRIPTORS, "{windows:?}");
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a whole number"))
}

/// An endpoint for each API, on one server, with the patience of a test.
fn home(llm: &LlmServer) -> Home {
    let mut home = Home::new();
    let key_file = home.dir().join("key");
    std::fs::write(&key_file, "of-the-soak").expect("write the key");
    std::fs::set_permissions(&key_file, Permissions::from_mode(0o600)).expect("a private key");
    home.set("session.titles", "model");
    home.set("session.idle_unload_ms", 2_000);
    home.set("roles.main.endpoint", KINDS[0]);
    for kind in KINDS {
        let mut set = |key: &str, value: serde_json::Value| {
            home.set(&format!("endpoints.{kind}.{key}"), value);
        };
        set("kind", (*kind).into());
        set("base_url", llm.base_url().into());
        set("model", "scripted".into());
        set("api_key_file", key_file.display().to_string().into());
        set("first_byte_timeout_ms", SILENCE_MS.into());
        set("idle_timeout_ms", SILENCE_MS.into());
        set("retry_base_ms", 20.into());
        // Longer than the second that the server asks for.
        set("retry_max_ms", 1_500.into());
        set("max_concurrent_requests", CONCURRENT.into());
        set("breaker_pause_ms", 200.into());
    }
    home
}

/// Waits until the daemon has closed what its clients had open. Idle connections to the model server
/// may stay.
async fn wait_for_descriptors(gauge: &Gauge, at_first: Sample, patience: Duration) -> Sample {
    let kinds = u64::try_from(KINDS.len()).expect("few");
    let most = at_first.descriptors + kinds * u64::from(CONCURRENT) + SPARE_DESCRIPTORS;
    let waited = tokio::time::timeout(patience, async {
        let mut ticks = tokio::time::interval(Duration::from_millis(50));
        while gauge.now().descriptors > most {
            ticks.tick().await;
        }
    })
    .await;
    let now = gauge.now();
    assert!(waited.is_ok(), "{at_first:?} at first, {now:?} at the end, at most {most} expected");
    now
}

#[expect(clippy::print_stdout, reason = "it prints what it measures")]
fn print(tally: &Tally, served: usize, first: Sample, windows: &[Sample; 4], rest: Sample) {
    let mut turn_ms = tally.turn_ms.clone();
    turn_ms.sort_unstable();
    let at = |percent: usize| turn_ms.get(turn_ms.len() * percent / 100).copied().unwrap_or(0);
    println!("| what                                     |      count |");
    println!("| ---------------------------------------- | ---------: |");
    let row = |what: &str, count: &str| println!("| {what:<40} | {count:>10} |");
    for (what, count) in &tally.ends {
        row(what, &count.to_string());
    }
    for (provider, count) in &tally.providers {
        row(&format!("turns by {provider}"), &count.to_string());
    }
    row("messages that reached an end", &tally.messages.to_string());
    row("requests to the model server", &served.to_string());
    row("answers begun anew after text was shown", &tally.restarts.to_string());
    row("tool calls", &tally.tool_calls.to_string());
    row("sessions", &tally.sessions.to_string());
    row("durable events", &tally.events.to_string());
    row("clients that left and came back", &tally.resumed.to_string());
    row("clients that read too slowly", &tally.lagged.to_string());
    row("connections that broke", &tally.lost.to_string());
    row("turn, p50", &format!("{} ms", at(50)));
    row("turn, p99", &format!("{} ms", at(99)));
    row("turn, longest", &format!("{} ms", turn_ms.last().copied().unwrap_or(0)));
    println!();
    println!("| window         | resident KiB | descriptors |");
    println!("| -------------- | -----------: | ----------: |");
    let row = |what: &str, sample: &Sample| {
        println!("| {what:<14} | {:>12} | {:>11} |", sample.resident_kib, sample.descriptors);
    };
    row("at first", &first);
    for (window, name) in windows.iter().zip(["first", "second", "third", "last"]) {
        row(&format!("{name} quarter"), window);
    }
    row("at rest", &rest);
}

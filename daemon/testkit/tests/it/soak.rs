//! Many users on a bad day: every message reaches an end, and nothing grows.
//!
//! Short by default. `cargo xtask soak` runs it for ten minutes with fifty users, and only then
//! judges memory: a short run is all warm-up. Time is divided into rounds. After each of them the users
//! leave, the daemon comes to rest, and what it holds then is compared (`growth`). What it may fill on
//! purpose is made small or emptied before, so that it hides no leak: the store's cache, the log
//! records in memory, the sessions in the store.

mod gauge;
mod growth;
mod ledger;
mod report;
mod user;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_testkit::{ChaosRates, HeapUse, Home, LOG_RECORDS, LlmServer, ProcessDaemon};
use rustix::process::Signal;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::agentd;
use gauge::{Gauge, Sample};
use growth::{Growth, Rest};
use ledger::Tally;
use report::Report;
use user::{Setting, User};

/// Seconds, users and seed of a run; without them it is a short one.
const SECONDS: &str = "AGENTD_SOAK_SECONDS";
const SESSIONS: &str = "AGENTD_SOAK_SESSIONS";
const SEED: &str = "AGENTD_SOAK_SEED";

/// From this length on there are turns enough to judge memory.
const LONG: Duration = Duration::from_secs(240);
/// Rounds of a long run. A short one has one.
const ROUNDS: u32 = 10;
/// What the server calls a stall, which is longer than what the daemon waits.
const STALL: Duration = Duration::from_millis(2_400);
/// Long enough that a busy machine is not taken for a silent server, which would open the circuit.
const SILENCE_MS: u64 = 1_200;
/// Requests to an endpoint at once, which is also the most connections that it keeps.
const CONCURRENT: u32 = 16;
/// What is faulty comes often enough that each kind does, and seldom enough that an endpoint's circuit
/// is closed most of the time: behind an open one nothing else is tried. A limit of the rate is the
/// rarest of the ordinary ones, because each makes all requests to its endpoint wait for a second.
const RATES: ChaosRates = ChaosRates {
    text: 450,
    tool_call: 180,
    drip: 80,
    cut: 50,
    reset: 35,
    stall: 10,
    late_headers: 10,
    rate_limit: 12,
    server_error: 40,
    garbage: 15,
    odd: 70,
    empty: 15,
    huge_line: 2,
};
/// Most of the turns, in percent, that may fail because the circuit is open.
const CIRCUIT_OPEN_PERCENT: u64 = 10;
/// The least that the store's cache may have, and log records that fill up within seconds.
const CACHE_BYTES: u64 = 1 << 20;
const RECORDS: u32 = 200;
/// Descriptors that may be open by chance.
const SPARE_DESCRIPTORS: u64 = 8;
/// Threads that may be left from what the daemon does by itself.
const SPARE_THREADS: u64 = 2;
/// Reads after which what threads left behind is collected: that happens at every 128th look at a page.
const READS: usize = 1_000;
/// Looks at the heap of a daemon at rest, of which the least counts: some work may just be ending.
const LOOKS: usize = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// The APIs by the kind of their endpoint, whose name is the kind's too.
const KINDS: &[&str] = &["openai", "anthropic", "openai-responses"];

#[tokio::test]
async fn on_a_bad_day_every_message_reaches_an_end_and_nothing_grows() {
    let length = Duration::from_secs(setting(SECONDS, 20));
    let sessions = setting(SESSIONS, 12);
    let seed = setting(SEED, 1);
    let is_long = length >= LONG;
    let rounds = if is_long { ROUNDS } else { 1 };

    let llm = LlmServer::start().await;
    // A short run on a slow machine has no time for it.
    let huge_line = if is_long { RATES.huge_line } else { 0 };
    llm.chaos(seed, ChaosRates { huge_line, ..RATES }, STALL);
    let home = home(&llm);
    let daemon = agentd().home(&home).env(LOG_RECORDS, &RECORDS.to_string());
    let mut daemon = daemon.start().await;
    // Rarely enough to be no load itself.
    let gauge = Gauge::start(daemon.pid(), (length / 400).max(Duration::from_millis(100)));
    let at_first = gauge.now();

    let models = KINDS.iter().map(|kind| format!("{kind}/scripted")).collect();
    let setting = Setting {
        endpoint: home.endpoint(),
        workspace: home.workspace().display().to_string(),
        models,
        users: sessions,
        patience: Duration::from_secs(if is_long { 120 } else { 30 }),
    };
    let mut users = Vec::new();
    for number in 0..sessions {
        users.push(User::connect(setting.clone(), number, seed).await);
    }
    let mut rests = Vec::new();
    for _round in 0..rounds {
        users = work(users, Instant::now() + length / rounds).await;
        let turns = users.iter().map(|user| user.tally().turns()).sum();
        wait_for_rest(&setting, &gauge, at_first).await;
        if is_long {
            settle(&setting, &gauge, at_first).await;
        }
        let heap = heap_at_rest(&mut daemon).await;
        rests.push(Rest { turns, heap, sample: gauge.now() });
    }
    let mut tally = Tally::default();
    for user in users {
        tally.add(user.into_tally());
    }
    let windows = gauge.windows();
    let growth = Growth::of(&rests);
    let chaotic = llm.chaotic();
    let served = llm.served();
    Report { tally: &tally, chaotic: &chaotic, served, at_first, windows, rests: &rests, growth }
        .print();
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
        assert_eq!(chaotic.len(), ChaosRates::KINDS, "a kind of answer is missing: {chaotic:?}");
        let refused = tally.ends.get("turn failed, PROVIDER_CIRCUIT_OPEN").copied();
        let most = tally.turns() * CIRCUIT_OPEN_PERCENT / 100;
        assert!(refused.unwrap_or_default() <= most, "too much behind open circuits: {tally:?}");
        let [_, second, _, last] = windows;
        assert!(last.descriptors <= second.descriptors + SPARE_DESCRIPTORS, "{windows:?}");
        let growth = growth.expect("rests enough to judge");
        assert_eq!(growth.excess(), Vec::<String>::new(), "{growth:?}: {rests:?}");
    }
}

/// Lets all users work until then.
async fn work(users: Vec<User>, until: Instant) -> Vec<User> {
    let mut working = JoinSet::new();
    for user in users {
        working.spawn(user.work(move || Instant::now() >= until));
    }
    let mut users = Vec::new();
    while let Some(worked) = working.join_next().await {
        users.push(worked.expect("the user came to its end"));
    }
    users
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
    home.set("store.cache_bytes", CACHE_BYTES);
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

/// Waits until no session is live and the daemon has closed what its clients had open. Idle connections
/// to the model server may stay.
async fn wait_for_rest(setting: &Setting, gauge: &Gauge, at_first: Sample) {
    let client = Client::connect(&setting.endpoint).await.expect("connect to the daemon");
    let kinds = u64::try_from(KINDS.len()).expect("few");
    let users = setting.users;
    let most = at_first.descriptors + users + kinds * u64::from(CONCURRENT) + SPARE_DESCRIPTORS;
    let waited = tokio::time::timeout(setting.patience, async {
        let mut ticks = tokio::time::interval(Duration::from_millis(50));
        loop {
            ticks.tick().await;
            let status = client.admin().get_status(v1::GetStatusRequest {}).await;
            let status = status.expect("the daemon's state").into_inner();
            if status.live_sessions == 0 && gauge.now().descriptors <= most {
                break;
            }
        }
    })
    .await;
    let now = gauge.now();
    assert!(waited.is_ok(), "{at_first:?} at first, {now:?} at the end, at most {most} expected");
}

/// Waits until sled has freed the old versions of pages. Each thread that reads keeps up to 64 of them
/// to itself, some megabytes in all, until it ends for want of work; then others collect them as they
/// read.
async fn settle(setting: &Setting, gauge: &Gauge, at_first: Sample) {
    let most = at_first.threads + SPARE_THREADS;
    let waited = tokio::time::timeout(setting.patience, async {
        let mut ticks = tokio::time::interval(Duration::from_millis(200));
        while gauge.now().threads > most {
            ticks.tick().await;
        }
    })
    .await;
    assert!(waited.is_ok(), "{:?} and more threads than {most}", gauge.now());
    let client = Client::connect(&setting.endpoint).await.expect("connect to the daemon");
    for _read in 0..READS {
        let list = client.session().list_sessions(v1::ListSessionsRequest::default()).await;
        assert_eq!(list.expect("the sessions").into_inner().sessions, []);
    }
}

async fn heap_at_rest(daemon: &mut ProcessDaemon) -> HeapUse {
    let mut ticks = tokio::time::interval(BETWEEN_LOOKS);
    let mut least = daemon.heap().await;
    for _look in 0..LOOKS {
        ticks.tick().await;
        let heap = daemon.heap().await;
        if heap.bytes < least.bytes {
            least = heap;
        }
    }
    least
}

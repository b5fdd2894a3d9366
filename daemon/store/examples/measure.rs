//! Measures opening, reading and committing: `cargo run -p agentd-store --example measure`.
//!
//! Arguments: sessions (10,000), events in each (4), bytes in each event (200), cache in KiB (16,384).

#![expect(clippy::print_stdout, reason = "it prints what it measures")]
#![expect(clippy::disallowed_methods, reason = "it measures real time")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use agentd_domain::Seq;
use agentd_store::conformance::sample::{append, event_with_text, record, session_id};
use agentd_store::{Batch, PageLimit, SledOptions, SledStore, Store, Write};
use tokio::task::JoinSet;

/// Peak and present resident size as the kernel tells them.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines =
        status.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"));
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(", ")
}

fn options(cache_kib: u64, fsync: bool) -> SledOptions {
    SledOptions { cache_bytes: cache_kib << 10, fsync, ..SledOptions::default() }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let sessions = numbers.next().unwrap_or(10_000);
    let events = numbers.next().unwrap_or(4);
    let bytes = usize::try_from(numbers.next().unwrap_or(200))?;
    let cache_kib = numbers.next().unwrap_or(16 << 10);
    // The second process opens what the first one filled, so that its memory is its own.
    if let Ok(dir) = std::env::var("MEASURE_DIR") {
        return read(Path::new(&dir), cache_kib).await;
    }
    let temp = tempfile::tempdir()?;
    let dir = temp.path().join("store");
    fill(&dir, sessions, events, bytes, cache_kib).await?;
    for run in 1..=3 {
        println!("-- process {run}");
        let status = std::process::Command::new(std::env::current_exe()?)
            .args(std::env::args().skip(1))
            .env("MEASURE_DIR", &dir)
            .status()?;
        println!("{status}");
    }
    Ok(())
}

async fn fill(
    dir: &Path,
    sessions: u64,
    events: u64,
    bytes: usize,
    cache_kib: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let store: Arc<dyn Store> = Arc::new(SledStore::open(dir, options(cache_kib, false))?.store);
    let mut tasks = JoinSet::new();
    for n in 0..sessions {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let id = session_id(u128::from(n));
            let events = (1..=events).map(|seq| event_with_text(seq, "x".repeat(bytes))).collect();
            let entry = record(id, i64::try_from(n).unwrap_or(0), 4);
            let writes = vec![Write::Append { session_id: id, events }, Write::PutSession(entry)];
            store.commit(Batch::from(writes)).await
        });
        if tasks.len() >= 500 {
            while let Some(done) = tasks.join_next().await {
                done??;
            }
        }
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    println!("filled in {:?}, {:?}, {}", start.elapsed(), store.stats().await?, resident());
    let start = Instant::now();
    store.close().await?;
    println!("closed in {:?}, {}", start.elapsed(), resident());
    Ok(())
}

async fn read(dir: &Path, cache_kib: u64) -> Result<(), Box<dyn std::error::Error>> {
    println!("before: {}", resident());
    let start = Instant::now();
    let store = SledStore::open(dir, options(cache_kib, true))?.store;
    println!("opened in {:?}, {}", start.elapsed(), resident());
    let start = Instant::now();
    let page = store.sessions(None, 50).await?;
    println!("listed {} in {:?}", page.sessions.len(), start.elapsed());

    let mut times = Vec::new();
    let id = session_id(u128::from(std::process::id()) << 40);
    for seq in 1..=300 {
        let start = Instant::now();
        store.commit(append(id, seq, seq)).await?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    println!("commit with fsync: p50 {:?}, p99 {:?}", times.get(150), times.get(297));

    let limit = PageLimit { events: 500, bytes: 1 << 20 };
    let start = Instant::now();
    for _ in 0..100 {
        store.events(id, Seq(1), limit).await?;
    }
    println!("a page of 300 events in {:?}, {}", start.elapsed() / 100, resident());
    let start = Instant::now();
    let found = store.verify().await?;
    println!("verified {} events in {:?}, {}", found.events, start.elapsed(), resident());
    let start = Instant::now();
    store.close().await?;
    println!("closed in {:?}", start.elapsed());
    Ok(())
}

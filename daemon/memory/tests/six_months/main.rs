//! Six months of a user's life, simulated: what he tells, what helps him, what contradicts what, what he
//! takes back, and the nights in between. `cargo test -p agentd-memory --test six_months -- --nocapture`
//! prints the table of docs/BENCHMARKS.md.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
#![expect(clippy::indexing_slicing, reason = "a test stops at what it did not expect")]

mod life;
mod record;
mod story;

use agentd_domain::{MemoryCategory, MemoryPriority, MemoryStatus};

use crate::life::{Life, live};
use crate::record::table;

/// Days of silence after the six months: what nobody uses has to be gone by then.
const SILENCE: i64 = 300;

#[tokio::test]
async fn six_months_of_a_life_leave_what_matters() {
    let mut life = live(24).await;
    println!("{}", table(&life.months));
    let all = life.all().await;
    let status = |text: &str| {
        let found = all.iter().filter(|it| it.content.contains(text));
        let now = found.min_by_key(|it| (!it.is_active(), std::cmp::Reverse(it.id)));
        now.map(|it| (it.status.clone(), it.priority))
    };

    // Rules that are pinned or used stay what they were.
    for rule in story::RULES {
        let held = Some((MemoryStatus::Active, MemoryPriority::Critical));
        assert_eq!(status(rule), held, "{rule}");
    }
    for preference in story::USED {
        let held = Some((MemoryStatus::Active, MemoryPriority::High));
        assert_eq!(status(preference), held, "{preference}");
    }
    // What was true for a week only has ended; what nobody used has fallen.
    let of = |part: &str| all.iter().filter(|it| it.content.contains(part)).collect::<Vec<_>>();
    let weeks = of("this week");
    assert!(weeks.len() >= 15, "{}", weeks.len());
    let running = weeks.iter().filter(|it| it.is_active()).count();
    assert!(running <= 1, "{running}");
    for chatter in of("small talk") {
        assert_eq!(chatter.priority, MemoryPriority::Low, "{}", chatter.content);
    }
    // Each reminder was shown once, on its day.
    assert_eq!(life.reminded.len(), life.reminders);
    assert!(life.reminded.values().all(|times| *times == 1));
    // What a page said was never told, and is over.
    let pages = of("evil.example");
    assert!(!pages.is_empty() && pages.iter().all(|it| !it.is_active()));
    // Of what was contradicted the newest holds, and the older ones are history.
    for service in story::MOVED {
        let holding: Vec<&str> = of(&format!("{service} listens on port"))
            .iter()
            .filter(|it| it.is_active())
            .map(|it| it.content.as_str())
            .collect();
        assert_eq!(holding, [life.ports.get(service).unwrap().as_str()], "{service}");
    }
    // Nothing that was said is lost, but what was taken back or over for long.
    let kept: String = all.iter().map(|it| it.content.as_str()).collect::<Vec<_>>().join("\n");
    let lost: Vec<&String> = life.said.iter().filter(|text| !kept.contains(*text)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    // What the daemon made of it is not critical.
    let reflections = all.iter().filter(|it| it.category == MemoryCategory::Reflection);
    assert!(reflections.clone().all(|it| it.priority == MemoryPriority::Low));
    assert!(reflections.filter(|it| it.is_active()).count() >= 2);

    // And when nobody says anything any more, what was never used goes.
    life.be_silent(SILENCE).await;
    println!("{}", table(&life.months));
    let all = life.all().await;
    assert!(!all.iter().any(|it| it.content.contains("small talk") && it.is_active()));
    assert!(!all.iter().any(|it| it.content.contains("this week")), "removed for good");
    let pinned = all.iter().filter(|it| it.pinned && it.is_active()).count();
    assert_eq!(pinned, story::PINNED);
}

#[tokio::test]
async fn it_does_not_matter_how_often_memories_are_swept() {
    let (hourly, weekly) = (live(1).await, live(24 * 7).await);
    let (hourly, weekly) = (hourly.state().await, weekly.state().await);
    assert!(hourly.len() > 150, "{}", hourly.len());
    for (one, other) in hourly.iter().zip(&weekly) {
        assert_eq!(one, other);
    }
    assert_eq!(hourly.len(), weekly.len());
}

#[tokio::test]
async fn the_same_life_leaves_the_same_memories() {
    let (one, other): (Life, Life) = (live(24 * 7).await, live(24 * 7).await);
    assert_eq!(one.state().await, other.state().await);
}

//! What is remembered: how it is found, and what waits for somebody.

use agentd_domain::MemoryStatus;
use agentd_memory::{Counts, Memories};

use super::Check;

const NAME: &str = "memory";

pub(super) async fn check(memories: &Memories) -> Check {
    match memories.counts().await {
        Ok(counts) => told(&counts),
        Err(error) => Check::fail(
            NAME,
            format!("memories cannot be read: {error}"),
            "see what the store's check says",
        ),
    }
}

fn told(counts: &Counts) -> Check {
    let of = |status: MemoryStatus| {
        let tiers = counts.by_status.iter().find(|(name, _tiers)| *name == status.name());
        tiers.map_or(0, |(_name, tiers)| tiers.iter().sum::<usize>())
    };
    let held = match of(MemoryStatus::Active) {
        0 => "nothing is remembered yet".to_owned(),
        1 => "1 memory".to_owned(),
        many => format!("{many} memories"),
    };
    let waiting = of(MemoryStatus::Quarantined);
    let waits = if waiting == 1 { "waits" } else { "wait" };
    let detail = format!(
        "{held}, {waiting} {waits} for confirmation; the search is by words alone, no embeddings are \
         configured"
    );
    if waiting == 0 {
        return Check::ok(NAME, detail);
    }
    let remedy = "look with `agentctl memory list --status quarantined`, then `agentctl memory confirm ID` \
                  or `forget ID`";
    Check::warn(NAME, detail, remedy)
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::*;

    #[test]
    fn it_says_how_memories_are_found_and_what_waits() {
        let check = told(&Counts::default());
        let expect = "nothing is remembered yet, 0 wait for confirmation; the search is by words alone, \
                      no embeddings are configured";
        assert_eq!((check.outcome, check.detail.as_str()), (Outcome::Ok, expect));
        let by_status = vec![("active", [0, 1, 2, 0]), ("quarantined", [0, 0, 1, 0])];
        let check = told(&Counts { by_status });
        assert_eq!(check.outcome, Outcome::Warn);
        assert!(check.detail.starts_with("3 memories, 1 waits for confirmation"), "{check:?}");
        assert!(check.remedy.contains("memory confirm"));
    }
}

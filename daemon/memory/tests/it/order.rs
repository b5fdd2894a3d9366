//! Bringing order into memories: mergers, summaries, and pairs that are about one thing.

use agentd_domain::{Author, Memory, MemoryAuthor, MemoryCategory, MemoryPriority, MemoryStatus};
use agentd_memory::consolidate::Verdict;
use agentd_memory::{MemoryConfig, MemoryPatch, Settled};

use crate::{World, note};

#[tokio::test]
async fn what_is_erased_is_in_no_summary_and_no_proposal_either() {
    let world = World::new();
    let old = world.high("Zebedee lives in Berlin with Ann").await;
    let new = world.high("Zebedee lives in Paris with Ann").await;
    world.high("Lunch is at noon").await;
    assert_eq!(world.memories.reflect().await.unwrap(), 1);
    let pin = MemoryPatch { pinned: Some(true), ..MemoryPatch::default() };
    world.memories.edit(old, pin, MemoryAuthor::Model).await.unwrap();
    let (pairs, _through) = world.memories.touching().await.unwrap();
    let pair = pairs.iter().find(|pair| pair.newer.id == new).unwrap();
    let settled = world.memories.settle_pair(pair, Verdict::NewerReplaces).await.unwrap();
    assert_eq!(settled, Settled::Proposed);
    let stored = world.stored().await;
    assert!(
        stored.contains("notes): Ann, lives, Zebedee") && stored.contains("Quarantined"),
        "{stored}"
    );
    for id in [new, old] {
        world.memories.erase(id).await.unwrap();
    }
    let stored = world.stored().await.to_lowercase();
    assert!(!stored.contains("zebedee") && stored.contains("lunch"), "{stored}");
}

#[tokio::test]
async fn summaries_are_few_and_never_critical_and_not_of_summaries() {
    let world = World::new();
    let texts = [
        "数据库部署在北京机房",
        "用户喜欢在北京喝茶",
        "The anvil runs Debian",
        "The falcon runs Debian",
    ];
    for text in texts {
        world.high(text).await;
    }
    assert_eq!(world.memories.reflect().await.unwrap(), 1);
    assert_eq!(world.memories.reflect().await.unwrap(), 0, "nothing is new");
    world.high("Lunch is at noon").await;
    assert_eq!(world.memories.reflect().await.unwrap(), 0, "one is too few");
    world.high("The cat is called Zebedee").await;
    assert_eq!(world.memories.reflect().await.unwrap(), 1);
    let all = world.memories.page(None, 100).await.unwrap();
    let is_summary = |it: &&Memory| it.category == MemoryCategory::Reflection;
    let holding: Vec<&Memory> = all.iter().filter(is_summary).filter(|it| it.is_active()).collect();
    let [summary] = holding[..] else { panic!("{holding:?}") };
    assert_eq!(summary.sources.len(), 6);
    assert_eq!(summary.priority, MemoryPriority::Low);
    assert!(summary.content.contains("Debian") && summary.content.contains("北京"), "{summary:?}");
    let ids: Vec<_> = all.iter().filter(is_summary).map(|it| it.id).collect();
    assert!(!summary.sources.iter().any(|id| ids.contains(id)));
    // Its sources are as they were, and no model makes it critical.
    assert!(all.iter().filter(|it| !is_summary(it)).all(|it| it.importance == 3));
    let raise = [(summary.id, MemoryPriority::Medium)];
    assert_eq!(world.memories.adjust(&raise).await.unwrap(), 1);
    for step in [MemoryPriority::High, MemoryPriority::Critical] {
        let moved = world.memories.adjust(&[(summary.id, step)]).await.unwrap();
        assert_eq!(moved, usize::from(step == MemoryPriority::High));
    }
    // What a user takes back stays away, and the one before it comes back with an undo.
    world.memories.forget(summary.id, MemoryAuthor::Model).await.unwrap();
    assert_eq!(world.memories.reflect().await.unwrap(), 0);
}

#[tokio::test]
async fn what_says_the_same_by_other_ways_becomes_one_and_nothing_is_lost() {
    let world = World::new();
    let strict = world.memories.config();
    world.memories.configure(MemoryConfig { merge_similarity: 1.0, ..strict.clone() });
    let first = world.high("The user prefers tabs over spaces").await;
    let second = world.high("The user prefers tabs over spaces in Golang sources").await;
    world.high("The user prefers spaces over tabs").await;
    world.memories.configure(strict);
    world.memories.used(&[second]).await.unwrap();
    assert_eq!(world.memories.duplicates().await.unwrap().len(), 1);
    assert_eq!(world.memories.merge_duplicates().await.unwrap(), 1);
    let one = world.get(first).await.unwrap();
    assert_eq!(one.content, "The user prefers tabs over spaces in Golang sources");
    assert_eq!(one.usage.uses, 1, "what has helped in either has helped");
    assert_eq!(world.get(second).await.unwrap().status, MemoryStatus::Merged { into: first });
    assert_eq!(world.memories.merge_duplicates().await.unwrap(), 0, "once");
    world.memories.undo(None, MemoryAuthor::Model).await.unwrap();
    assert!(world.get(second).await.unwrap().is_active());
}

#[tokio::test]
async fn what_was_edited_last_is_the_newer_and_what_changed_meanwhile_is_left_alone() {
    let world = World::new();
    let first = world.high("Zebedee lives in Berlin").await;
    let second = world.high("Zebedee lives in Paris").await;
    let edit = async |content: &str| {
        let content = Some(content.to_owned());
        let patch = MemoryPatch { content, ..MemoryPatch::default() };
        world.memories.edit(first, patch, MemoryAuthor::Model).await.unwrap();
    };
    world.pass_days(1);
    edit("Zebedee lives in Rome").await;
    let (pairs, _through) = world.memories.touching().await.unwrap();
    assert_eq!((pairs[0].older.id, pairs[0].newer.id), (second, first));
    edit("Zebedee lives in Oslo").await;
    let settle = async |verdict| world.memories.settle_pair(&pairs[0], verdict).await.unwrap();
    assert_eq!(settle(Verdict::NewerReplaces).await, Settled::Nothing);
    assert_eq!(settle(Verdict::Same).await, Settled::Nothing);
    assert!(world.get(second).await.unwrap().is_active());
}

#[tokio::test]
async fn what_a_person_wrote_is_only_proposed_to_go_when_it_became_part_of_another() {
    let user = || MemoryAuthor::User { author: Author::new("ann", "ann").unwrap() };
    for is_edited in [false, true] {
        let world = World::new();
        let first = world.high("Zebedee lives in Berlin").await;
        let said = "Zebedee has had a flat in Berlin for years";
        if is_edited {
            let second = world.high("Zebedee has a car in Berlin since May").await;
            let content = Some(said.to_owned());
            let patch = MemoryPatch { content, ..MemoryPatch::default() };
            world.memories.edit(second, patch, user()).await.unwrap();
        } else {
            let mut new = note(said);
            new.origin.author = user();
            world.memories.add(new).await.unwrap();
        }
        let (pairs, _through) = world.memories.touching().await.unwrap();
        let settled = world.memories.settle_pair(&pairs[0], Verdict::Same).await.unwrap();
        assert_eq!(settled, Settled::Merged);
        let one = world.get(first).await.unwrap();
        assert!(one.is_active() && one.content.contains(said), "{one:?}");

        let newer = world.high("Zebedee lives in Paris").await;
        let (pairs, _through) = world.memories.touching().await.unwrap();
        let [pair] = &pairs[..] else { panic!("{pairs:?}") };
        assert_eq!((pair.older.id, pair.newer.id), (first, newer));
        let settled = world.memories.settle_pair(pair, Verdict::NewerReplaces).await.unwrap();
        assert_eq!(settled, Settled::Proposed, "edited: {is_edited}");
        assert!(world.get(first).await.unwrap().is_active());
    }
}

#[tokio::test]
async fn what_only_came_into_another_tier_is_not_compared_again() {
    let world = World::new();
    let first = world.high("Zebedee lives in Berlin").await;
    world.high("Zebedee lives in Paris").await;
    let compare = async || {
        world.memories.merge_duplicates().await.unwrap();
        let (pairs, through) = world.memories.touching().await.unwrap();
        world.memories.note_upkeep(|upkeep| upkeep.compared_through = through).await.unwrap();
        pairs.len()
    };
    assert_eq!(compare().await, 1);
    let mut aged = 0;
    for days in [20, 20, 21] {
        world.pass_days(days);
        aged += world.memories.sweep().await.unwrap().aged;
    }
    assert_eq!((aged, compare().await), (2, 0));
    let raised = [(first, MemoryPriority::High)];
    assert_eq!(world.memories.adjust(&raised).await.unwrap(), 1);
    assert_eq!(compare().await, 0);
    let content = Some("Zebedee lives in Rome".to_owned());
    let patch = MemoryPatch { content, ..MemoryPatch::default() };
    world.memories.edit(first, patch, MemoryAuthor::Model).await.unwrap();
    assert_eq!(compare().await, 1, "it says something else");
}

//! Cases about the records beside the logs, deletion and closing.

use std::sync::Arc;

use agentd_domain::{
    Goal, GoalAuthor, GoalContent, GoalDone, GoalPriority, GoalScope, ItemId, MemoryId,
    MemoryUpkeep, PermissionRule, RuleEffect, RuleMatcher, RuleScope, Seq, SessionId, TimestampMs,
};
use tokio::task::JoinSet;

use crate::conformance::sample::{ALL, append, events, memory, memory_change, record, session_id};
use crate::{
    AcceptedMessage, Batch, CommitError, Counter, MemoryVector, PartialMessage, ReadError,
    Snapshot, Store, Write,
};

fn partial(text: &str) -> PartialMessage {
    let item_id = ItemId::from_parts(1, 2);
    PartialMessage { item_id, reasoning: "because".to_owned(), text: text.to_owned() }
}

fn put_partial(text: &str) -> Batch {
    Batch::of(Write::PutPartial { session_id: session_id(1), partial: partial(text) })
}

/// A terminal that is behind does not take back what another of the same id has read.
pub async fn cursors_never_go_back(store: Arc<dyn Store>) {
    let id = session_id(1);
    for (client_id, put, read) in
        [("ann", 3, 3), ("ann", 2, 3), ("ann", 7, 7), ("an", 1, 1), ("ann", 0, 7)]
    {
        let client_id = client_id.to_owned();
        let write =
            Write::PutCursor { session_id: id, client_id: client_id.clone(), seq: Seq(put) };
        store.commit(Batch::of(write)).await.unwrap();
        assert_eq!(store.cursor(id, &client_id).await.unwrap(), Some(Seq(read)));
    }
    assert_eq!(store.cursor(id, "bob").await.unwrap(), None);
    assert_eq!(store.cursor(session_id(2), "ann").await.unwrap(), None);
    assert_eq!(store.furthest_cursor(id).await.unwrap(), Some(Seq(7)));
    assert_eq!(store.furthest_cursor(session_id(2)).await.unwrap(), None);
}

/// A retry of a message finds the first answer.
pub async fn an_answer_is_found_by_the_clients_id(store: Arc<dyn Store>) {
    let accepted = AcceptedMessage { item_id: ItemId::from_parts(3, 4), seq: Seq(5) };
    let client_message_id = "m-1".parse().unwrap();
    let write = Write::PutAccepted { session_id: session_id(1), client_message_id, accepted };
    store.commit(Batch::of(write)).await.unwrap();
    for (session, id, expected) in
        [(1, "m-1", Some(accepted)), (1, "m-", None), (1, "m-11", None), (2, "m-1", None)]
    {
        let found = store.accepted(session_id(session), &id.parse().unwrap()).await.unwrap();
        assert_eq!(found, expected, "{id} in {session}");
    }
}

/// The text so far, until it is cleared.
pub async fn partial_text_is_replaced_and_cleared(store: Arc<dyn Store>) {
    assert_eq!(store.partial(session_id(1)).await.unwrap(), None);
    for text in ["a", "a b", "ä\u{0}"] {
        store.commit(put_partial(text)).await.unwrap();
        assert_eq!(store.partial(session_id(1)).await.unwrap(), Some(partial(text)));
    }
    store.commit(Batch::of(Write::ClearPartial(session_id(1)))).await.unwrap();
    assert_eq!(store.partial(session_id(1)).await.unwrap(), None);
}

/// Only the newest snapshot counts, and it may be large.
pub async fn a_snapshot_replaces_the_last(store: Arc<dyn Store>) {
    let id = session_id(1);
    assert_eq!(store.snapshot(id).await.unwrap(), None);
    for (seq, len) in [(1, 0), (2, 2_000_000), (3, 10)] {
        let snapshot = Snapshot { seq: Seq(seq), bytes: vec![7; len] };
        let write = Write::PutSnapshot { session_id: id, snapshot: snapshot.clone() };
        store.commit(Batch::of(write)).await.unwrap();
        assert_eq!(store.snapshot(id).await.unwrap(), Some(snapshot));
    }
}

/// The next start finds the turns that were under way.
pub async fn unfinished_sessions_are_listed(store: Arc<dyn Store>) {
    for write in [
        Write::MarkUnfinished(session_id(2)),
        Write::MarkUnfinished(session_id(1)),
        Write::MarkUnfinished(session_id(1)),
        Write::MarkUnfinished(session_id(3)),
        Write::ClearUnfinished(session_id(2)),
        Write::ClearUnfinished(session_id(9)),
    ] {
        store.commit(Batch::of(write)).await.unwrap();
    }
    let mut unfinished = store.unfinished().await.unwrap();
    unfinished.sort_unstable();
    assert_eq!(unfinished, [session_id(1), session_id(3)]);
}

/// What is queued without waiting comes before what is committed after it.
pub async fn later_batches_keep_their_order(store: Arc<dyn Store>) {
    assert!(store.commit_later(put_partial("old")));
    assert!(store.commit_later(put_partial("new")));
    store.commit(append(session_id(1), 1, 1)).await.unwrap();
    assert_eq!(store.partial(session_id(1)).await.unwrap(), Some(partial("new")));
    assert!(store.commit_later(put_partial("too late")));
    store.commit(Batch::of(Write::ClearPartial(session_id(1)))).await.unwrap();
    assert_eq!(store.partial(session_id(1)).await.unwrap(), None);
}

/// Writers that know nothing of each other add to one counter, and a refused batch adds nothing.
pub async fn counters_sum_what_many_batches_add(store: Arc<dyn Store>) {
    let add = |by: Vec<u64>| Write::AddToCounter { name: "c".to_owned(), by };
    let mut tasks = JoinSet::new();
    for n in 1..=50 {
        let store = Arc::clone(&store);
        let mut batch = append(session_id(n), 1, 1);
        batch.writes.extend([add(vec![1, 2]), add(vec![0, 1, 1])]);
        tasks.spawn(async move { store.commit(batch).await.unwrap() });
    }
    let mut refused = Batch::of(add(vec![1000]));
    refused.writes.extend(append(session_id(99), 7, 7).writes);
    let refused = store.commit(refused).await;
    assert!(matches!(refused, Err(CommitError::OutOfOrder { .. })), "{refused:?}");
    tasks.join_all().await;
    let counter = |values| [Counter { name: "c".to_owned(), values }];
    assert_eq!(store.counters("", "z", 9).await.unwrap(), counter(vec![50, 150, 50]));
    store.commit(Batch::of(add(vec![u64::MAX]))).await.unwrap();
    assert_eq!(store.counters("", "z", 9).await.unwrap(), counter(vec![u64::MAX, 150, 50]));
}

/// Ranges of names leave out their ends, and deleting sessions deletes no counter.
pub async fn counters_are_listed_by_name_and_outlive_sessions(store: Arc<dyn Store>) {
    // A name whose bytes look like a session's id.
    let id = SessionId::from_bytes(*b"0123456789abcdef");
    let names = ["0123456789abcdef", "b", "b/1", "b/2", "c"];
    for name in names.into_iter().rev() {
        let add = Write::AddToCounter { name: name.to_owned(), by: vec![1] };
        store.commit(Batch::of(add)).await.unwrap();
    }
    store.commit(append(id, 1, 3)).await.unwrap();
    store.commit(Batch::of(Write::DeleteSession(id))).await.unwrap();
    for (after, until, limit, expected) in [
        ("", "\u{7f}", 9, &names[..]),
        ("b", "c", 9, &names[2..4]),
        ("b", "c", 1, &names[2..3]),
        ("b/1", "z", 9, &names[3..]),
        ("c", "b", 9, &[]),
        ("b", "b", 9, &[]),
        ("a", "z", 0, &[]),
    ] {
        let found = store.counters(after, until, limit).await.unwrap();
        let found: Vec<_> = found.iter().map(|counter| counter.name.as_str()).collect();
        assert_eq!(found, expected, "{after}..{until}");
    }
}

/// A rule is there until it is removed, whatever happens to sessions.
pub async fn rules_are_replaced_removed_and_outlive_sessions(store: Arc<dyn Store>) {
    // An id whose bytes look like a session's.
    let id = SessionId::from_bytes(*b"0123456789abcdef");
    let rule = |rule_id: &str, effect| PermissionRule {
        rule_id: rule_id.to_owned(),
        effect,
        matcher: RuleMatcher::Tool { name: "t".to_owned() },
        scope: RuleScope::User,
        by: None,
        at: TimestampMs(1),
    };
    let kept = rule("0123456789abcdef", RuleEffect::Deny);
    for put in [rule("b", RuleEffect::Ask), rule("0123456789abcdef", RuleEffect::Ask)] {
        store.commit(Batch::of(Write::PutRule(put))).await.unwrap();
    }
    store.commit(append(id, 1, 3)).await.unwrap();
    let mut batch = Batch::of(Write::DeleteSession(id));
    batch.writes.push(Write::PutRule(kept.clone()));
    batch.writes.push(Write::DeleteRule { rule_id: "b".to_owned() });
    batch.writes.push(Write::DeleteRule { rule_id: "none".to_owned() });
    store.commit(batch).await.unwrap();
    assert_eq!(store.rules().await.unwrap(), [kept]);
}

/// Memories come back by age, the journal the other way round, each in pages.
pub async fn memories_and_their_changes_are_kept_in_order(store: Arc<dyn Store>) {
    let old = memory(2, "old");
    let all = [memory(1, "a"), memory(2, "new"), memory(3, "c")];
    store.commit(Batch::of(Write::PutMemory(Box::new(old)))).await.unwrap();
    let changes: Vec<_> =
        all.iter().zip(1..).map(|(memory, n)| memory_change(n, memory.clone())).collect();
    for (memory, change) in all.iter().zip(&changes).rev() {
        let mut batch = Batch::of(Write::PutMemory(Box::new(memory.clone())));
        batch.writes.push(Write::PutMemoryChange(Box::new(change.clone())));
        store.commit(batch).await.unwrap();
    }
    assert_eq!(store.memories(None, 9).await.unwrap(), all);
    assert_eq!(store.memories(Some(all[0].id), 1).await.unwrap(), all[1..2]);
    let newest = store.memory_changes(None, 2).await.unwrap();
    assert_eq!(newest, [changes[2].clone(), changes[1].clone()]);
    let oldest = store.memory_changes(Some(changes[1].id), 2).await.unwrap();
    assert_eq!(oldest, changes[..1]);
    let mut batch = Batch::of(Write::DeleteMemory(all[1].id));
    batch.writes.push(Write::DeleteMemoryChange(changes[1].id));
    store.commit(batch).await.unwrap();
    let left = [all[0].clone(), all[2].clone()];
    assert_eq!(store.memories(None, 9).await.unwrap(), left);
    assert_eq!(store.memory_changes(None, 9).await.unwrap().len(), 2);
    assert_eq!(store.memory_upkeep().await.unwrap(), MemoryUpkeep::default());
    for swept_at in [TimestampMs(1), TimestampMs(2)] {
        let upkeep = MemoryUpkeep { swept_at: Some(swept_at), ..MemoryUpkeep::default() };
        store.commit(Batch::of(Write::PutMemoryUpkeep(Box::new(upkeep.clone())))).await.unwrap();
        assert_eq!(store.memory_upkeep().await.unwrap(), upkeep);
    }
}

/// A vector is there as long as its memory, in the newest form, in pages.
pub async fn vectors_are_replaced_and_go_with_their_memories(store: Arc<dyn Store>) {
    let vector = |n: u64, numbers: &[i8]| MemoryVector {
        id: MemoryId::from_parts(n, 1),
        space: "e5 \"passage: \"".to_owned(),
        text: u64::MAX - n,
        numbers: numbers.to_vec(),
    };
    let put = |vector: &MemoryVector| Write::PutMemoryVector(Box::new(vector.clone()));
    let all = [vector(1, &[-128, 0, 127]), vector(2, &[1, 2, 3]), vector(3, &[])];
    let mut writes: Vec<Write> = all.iter().rev().map(put).collect();
    writes.insert(0, put(&vector(2, &[9])));
    writes.push(Write::PutMemory(Box::new(memory(2, "b"))));
    store.commit(Batch::from(writes)).await.unwrap();
    assert_eq!(store.memory_vectors(None, 9).await.unwrap(), all);
    assert_eq!(store.memory_vectors(Some(all[0].id), 1).await.unwrap(), all[1..2]);
    store.commit(Batch::of(Write::DeleteMemory(all[1].id))).await.unwrap();
    let left = [all[0].clone(), all[2].clone()];
    assert_eq!(store.memory_vectors(None, 9).await.unwrap(), left);
    assert!(store.memories(None, 9).await.unwrap().is_empty());
}

/// A goal is there until it is removed, whatever happens to the session that set it.
pub async fn goals_are_replaced_removed_and_outlive_sessions(store: Arc<dyn Store>) {
    // An id whose bytes look like a session's.
    let id = SessionId::from_bytes(*b"0123456789abcdef");
    let by = || GoalAuthor::Model { session_id: id };
    let goal = |goal_id: &str, done| Goal {
        goal_id: goal_id.to_owned(),
        content: GoalContent::try_from("ä\nb".to_owned()).unwrap(),
        priority: GoalPriority::FIRST,
        scope: GoalScope::Workspace { root: "/p".to_owned() },
        by: by(),
        at: TimestampMs(1),
        done,
    };
    let done = GoalDone { by: by(), at: TimestampMs(2) };
    let kept = goal("0123456789abcdef", Some(done));
    for put in [goal("b", None), goal("0123456789abcdef", None), goal("c", None)] {
        store.commit(Batch::of(Write::PutGoal(put))).await.unwrap();
    }
    store.commit(append(id, 1, 3)).await.unwrap();
    let mut batch = Batch::of(Write::DeleteSession(id));
    batch.writes.push(Write::PutGoal(kept.clone()));
    batch.writes.push(Write::DeleteGoal { goal_id: "b".to_owned() });
    batch.writes.push(Write::DeleteGoal { goal_id: "none".to_owned() });
    store.commit(batch).await.unwrap();
    assert_eq!(store.goals().await.unwrap(), [kept, goal("c", None)]);
    assert_eq!(store.rules().await.unwrap(), []);
}

/// Nothing is left under the id, and the id can be used again.
pub async fn a_deleted_session_is_gone(store: Arc<dyn Store>) {
    // The second log is long enough that no backend removes it in one piece.
    for (session, last) in [(1, 3), (2, 3000)] {
        let (id, other) = (session_id(session), session_id(9));
        store.commit(append(id, 1, last)).await.unwrap();
        let client_message_id: agentd_domain::ClientMessageId = "m".parse().unwrap();
        let accepted = AcceptedMessage { item_id: ItemId::from_parts(1, 1), seq: Seq(1) };
        let snapshot = Snapshot { seq: Seq(1), bytes: vec![1] };
        store
            .commit(Batch::from(vec![
                Write::PutSnapshot { session_id: id, snapshot },
                Write::PutPartial { session_id: id, partial: partial("x") },
                Write::PutCursor { session_id: id, client_id: "c".to_owned(), seq: Seq(2) },
                Write::PutAccepted {
                    session_id: id,
                    client_message_id: client_message_id.clone(),
                    accepted,
                },
                Write::MarkUnfinished(id),
                Write::PutSession(record(other, 1, 0)),
            ]))
            .await
            .unwrap();
        store.commit(Batch::of(Write::DeleteSession(id))).await.unwrap();

        assert_eq!(store.session(id).await.unwrap(), None);
        assert_eq!(store.sessions(None, 9).await.unwrap().sessions, [record(other, 1, 0)]);
        assert_eq!(store.events(id, Seq(1), ALL).await.unwrap().events, []);
        assert_eq!(store.events_before(id, Seq(9), ALL).await.unwrap().events, []);
        assert_eq!(store.snapshot(id).await.unwrap(), None);
        assert_eq!(store.partial(id).await.unwrap(), None);
        assert_eq!(store.cursor(id, "c").await.unwrap(), None);
        assert_eq!(store.furthest_cursor(id).await.unwrap(), None);
        assert_eq!(store.accepted(id, &client_message_id).await.unwrap(), None);
        assert_eq!(store.unfinished().await.unwrap(), []);

        store.commit(append(id, 1, 2)).await.unwrap();
        assert_eq!(store.events(id, Seq(1), ALL).await.unwrap().events, events(1, 2));
        // In one batch, too.
        let mut again = Batch::of(Write::DeleteSession(id));
        again.writes.extend(append(id, 1, 1).writes);
        again.writes.push(Write::DeleteSession(session_id(77)));
        store.commit(again).await.unwrap();
        assert_eq!(store.events(id, Seq(1), ALL).await.unwrap().events, events(1, 1));
        store.commit(Batch::of(Write::DeleteSession(id))).await.unwrap();
        store.commit(Batch::of(Write::DeleteSession(id))).await.unwrap();
        assert_eq!(store.events(id, Seq(1), ALL).await.unwrap().events, []);
    }
}

/// Nothing is accepted after closing, and closing twice is harmless.
pub async fn a_closed_store_refuses_everything(store: Arc<dyn Store>) {
    let id = session_id(1);
    store.commit(append(id, 1, 1)).await.unwrap();
    store.close().await.unwrap();
    let refused = store.commit(append(id, 2, 2)).await;
    assert!(matches!(refused, Err(CommitError::Closed)), "{refused:?}");
    assert!(!store.commit_later(put_partial("x")));
    let read = store.events(id, Seq(1), ALL).await;
    assert!(matches!(read, Err(ReadError::Closed)), "{read:?}");
    let read = store.unfinished().await;
    assert!(matches!(read, Err(ReadError::Closed)), "{read:?}");
    store.close().await.unwrap();
}

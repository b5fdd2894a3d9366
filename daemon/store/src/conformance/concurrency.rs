//! Cases about many callers at once.

use std::sync::Arc;

use agentd_domain::Seq;
use tokio::task::JoinSet;

use crate::Store;
use crate::conformance::sample::{ALL, append, events, session_id};

/// Case SD-02: nobody waits for ever.
pub async fn sd_02_commits_of_200_tasks_at_once_all_return(store: Arc<dyn Store>) {
    let mut tasks = JoinSet::new();
    for task in 0..200 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let id = session_id(task);
            for seq in 1..=3 {
                store.commit(append(id, seq, seq)).await.unwrap();
            }
            store.events(id, Seq(1), ALL).await.unwrap().events == events(1, 3)
        });
    }
    assert!(tasks.join_all().await.into_iter().all(|whole| whole));
    assert_eq!(store.sessions(None, 500).await.unwrap().sessions.len(), 200);
}

/// Case SD-02: 32 sessions that write at the same time keep their own order.
pub async fn sessions_written_at_once_do_not_mix(store: Arc<dyn Store>) {
    let mut tasks = JoinSet::new();
    for task in 0..32 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let id = session_id(task);
            for first in (1..=40).step_by(4) {
                store.commit(append(id, first, first + 3)).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    for task in 0..32 {
        let page = store.events(session_id(task), Seq(1), ALL).await.unwrap();
        assert_eq!(page.events, events(1, 40), "session {task}");
        let record = store.session(session_id(task)).await.unwrap().expect("an index entry");
        assert_eq!(record.last_seq, Seq(40));
    }
}

/// A commit that returned is seen by every read that begins afterwards, whoever reads.
pub async fn reads_see_what_was_committed_before(store: Arc<dyn Store>) {
    let (told, mut heard) = tokio::sync::watch::channel(0);
    let reader = Arc::clone(&store);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            let committed = *heard.borrow_and_update();
            let page = reader.events(session_id(1), Seq(1), ALL).await.unwrap();
            let seen = page.events.len();
            assert!(seen >= committed, "{committed} were committed, {seen} were read");
            let last = u64::try_from(seen).unwrap();
            assert_eq!(page.events, events(1, last));
            if heard.changed().await.is_err() {
                break;
            }
        }
    });
    for seq in 1..=100 {
        store.commit(append(session_id(1), seq, seq)).await.unwrap();
        told.send_replace(usize::try_from(seq).unwrap());
    }
    drop(told);
    tasks.join_all().await;
}

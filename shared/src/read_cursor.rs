//! Tells the daemon how far this terminal has read, beside everything else that happens.
//!
//! A replay moves nothing until it has reached the present; after that each finished turn does. One
//! call is on its way at a time, and only the newest place waits behind it.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::attachment::AttachEvent;
use crate::client::{Client, with_deadline};

/// Longest wait for the daemon to note how far we have read.
const PATIENCE: Duration = Duration::from_secs(2);

/// The place of this terminal in one session.
#[derive(Debug)]
pub struct ReadCursor {
    place: watch::Sender<u64>,
    replaying: bool,
    /// Aborts the task when it is dropped.
    calls: JoinSet<()>,
}

impl ReadCursor {
    /// Keeps the place of the terminal `client_id`. Call it inside a tokio runtime.
    pub fn new(client: &Client, session_id: &str, client_id: &str) -> Self {
        let (client, session_id, client_id) =
            (client.clone(), session_id.to_owned(), client_id.to_owned());
        Self::with_calls(move |seq| {
            let (session_id, client_id) = (session_id.clone(), client_id.clone());
            let request = v1::SetReadCursorRequest { session_id, client_id, seq };
            let mut events = client.event();
            async move {
                // If it is lost we are shown a little again next time.
                let set = events.set_read_cursor(with_deadline(request, PATIENCE));
                drop(tokio::time::timeout(PATIENCE, set).await);
            }
        })
    }

    fn with_calls<F, C>(call: F) -> Self
    where
        F: Fn(u64) -> C + Send + 'static,
        C: Future<Output = ()> + Send,
    {
        let (place, mut places) = watch::channel(0);
        let mut calls = JoinSet::new();
        calls.spawn(async move {
            // The last place is still seen after the sender is gone.
            while places.changed().await.is_ok() {
                let seq = *places.borrow_and_update();
                call(seq).await;
            }
        });
        Self { place, replaying: true, calls }
    }

    /// Takes what the stream brought; `last_seq` is the newest durable event on the screen.
    pub fn on(&mut self, event: &AttachEvent, last_seq: u64) {
        match event {
            AttachEvent::Attached(attached) => {
                self.replaying = true;
                // The daemon knows that much.
                self.place.send_if_modified(|place| {
                    *place = attached.cursor_seq.max(*place);
                    false
                });
            }
            AttachEvent::Lagged { .. } => self.replaying = true,
            AttachEvent::CaughtUp { .. } => {
                self.replaying = false;
                self.move_to(last_seq);
            }
            AttachEvent::Event(event) if !self.replaying && ends_turn(event) => {
                self.move_to(last_seq);
            }
            AttachEvent::Event(_)
            | AttachEvent::Lost { .. }
            | AttachEvent::Restored
            | AttachEvent::Failed(_) => {}
        }
    }

    /// Moves to the last place and waits for the daemon to note it, some seconds at most.
    pub async fn leave(self, last_seq: u64) {
        self.move_to(last_seq);
        let Self { place, mut calls, .. } = self;
        drop(place);
        drop(tokio::time::timeout(PATIENCE, calls.join_next()).await);
    }

    fn move_to(&self, seq: u64) {
        self.place.send_if_modified(|place| {
            let is_newer = seq > *place;
            *place = seq.max(*place);
            is_newer
        });
    }
}

fn ends_turn(event: &v1::Event) -> bool {
    matches!(
        event.body,
        Some(Body::TurnCompleted(_) | Body::TurnFailed(_) | Body::TurnInterrupted(_))
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{Semaphore, mpsc};

    use super::*;

    fn turn_end(seq: u64) -> AttachEvent {
        let body = Some(Body::TurnCompleted(v1::TurnCompleted::default()));
        AttachEvent::Event(Box::new(v1::Event { seq, body, ..Default::default() }))
    }

    fn attached(cursor_seq: u64) -> AttachEvent {
        AttachEvent::Attached(v1::Attached { cursor_seq, ..Default::default() })
    }

    /// A cursor whose calls wait for a permit each, and the places that they were for.
    fn cursor() -> (ReadCursor, mpsc::Receiver<u64>, Arc<Semaphore>) {
        let (tx, called) = mpsc::channel(16);
        let gate = Arc::new(Semaphore::new(0));
        let permits = Arc::clone(&gate);
        let cursor = ReadCursor::with_calls(move |seq| {
            let (tx, permits) = (tx.clone(), Arc::clone(&permits));
            async move {
                tx.send(seq).await.unwrap();
                permits.acquire().await.unwrap().forget();
            }
        });
        (cursor, called, gate)
    }

    #[tokio::test]
    async fn a_replay_moves_the_cursor_once() {
        let (mut cursor, mut called, gate) = cursor();
        cursor.on(&attached(2), 0);
        for seq in 3..=9 {
            cursor.on(&turn_end(seq), seq);
        }
        cursor.on(&AttachEvent::CaughtUp { seq: 9 }, 9);
        gate.add_permits(1);
        cursor.leave(9).await;
        assert_eq!(called.recv().await, Some(9));
        assert_eq!(called.recv().await, None);
    }

    #[tokio::test]
    async fn one_call_is_on_its_way_and_the_newest_place_waits() {
        let (mut cursor, mut called, gate) = cursor();
        cursor.on(&attached(0), 0);
        cursor.on(&AttachEvent::CaughtUp { seq: 1 }, 1);
        assert_eq!(called.recv().await, Some(1));
        for seq in 2..=5 {
            cursor.on(&turn_end(seq), seq);
        }
        assert!(called.try_recv().is_err(), "the first call has not ended");
        gate.add_permits(2);
        cursor.leave(4).await;
        assert_eq!(called.recv().await, Some(5));
        assert_eq!(called.recv().await, None);
    }

    #[tokio::test]
    async fn what_the_daemon_knows_is_not_told_again() {
        let (mut cursor, mut called, _gate) = cursor();
        cursor.on(&attached(7), 0);
        cursor.on(&AttachEvent::CaughtUp { seq: 7 }, 7);
        cursor.leave(7).await;
        assert_eq!(called.recv().await, None);
    }
}

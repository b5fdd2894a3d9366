//! The people of the session, as the calls of a turn reach them.

use std::sync::Arc;

use agentd_tools::{Announcement, Answer, People, Question};
use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{Times, TurnReport, TurnTask};

/// Asks and tells through the session's actor.
#[derive(Debug)]
pub(super) struct TurnPeople {
    reports: mpsc::Sender<TurnReport>,
    times: Arc<Times>,
    cancel: CancellationToken,
}

impl TurnPeople {
    pub(super) fn of(task: &TurnTask) -> Self {
        Self {
            reports: task.reports.clone(),
            times: Arc::clone(&task.times),
            cancel: task.cancel.clone(),
        }
    }
}

#[async_trait]
impl People for TurnPeople {
    async fn ask(&self, question: Question) -> Answer {
        let _waiting = self.times.waiting_for_people();
        let (reply, answer) = oneshot::channel();
        if self.reports.send(TurnReport::Question { question, reply }).await.is_err() {
            return Answer::Lost;
        }
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Answer::Lost,
            answer = answer => answer.unwrap_or(Answer::Lost),
        }
    }

    async fn announce(&self, announcement: Announcement) -> Option<usize> {
        let (reply, told) = oneshot::channel();
        self.reports.send(TurnReport::Announce { announcement, reply }).await.ok()?;
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => None,
            told = told => told.ok().flatten(),
        }
    }
}

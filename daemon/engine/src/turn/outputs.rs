//! What running calls show, on its way to the actor.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentd_domain::CallId;
use agentd_tools::LiveOutput;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{TurnReport, TurnTask};
use crate::tasks::Tasks;

/// The outputs of the calls that run. Dropping it ends them all.
#[derive(Debug)]
pub(super) struct Outputs {
    tasks: Tasks,
    reports: mpsc::Sender<TurnReport>,
    passing: Mutex<HashMap<CallId, Passing>>,
}

/// A task that passes on what one call shows.
#[derive(Debug)]
struct Passing {
    close: DropGuard,
    /// Answered by its sender's end.
    ended: oneshot::Receiver<()>,
}

impl Outputs {
    pub(super) fn of(task: &TurnTask) -> Self {
        Self {
            tasks: task.deps.tasks.clone(),
            reports: task.reports.clone(),
            passing: Mutex::default(),
        }
    }

    /// Gives a call something to show with.
    pub(super) fn begin(&self, call_id: CallId) -> LiveOutput {
        let (output, shown) = LiveOutput::channel();
        let (until_end, ended) = oneshot::channel();
        let close = CancellationToken::new();
        let passing = pass_on(shown, call_id.clone(), self.reports.clone(), close.clone());
        self.tasks.spawn("tool-output", async move {
            passing.await;
            drop(until_end);
        });
        let passing = Passing { close: close.drop_guard(), ended };
        self.lock().insert(call_id, passing);
        output
    }

    /// Passes on the last of what a call has shown. What it shows from now on is lost.
    pub(super) async fn end(&self, call_id: &CallId) {
        let passing = self.lock().remove(call_id);
        if let Some(Passing { close, ended }) = passing {
            drop(close);
            let _dropped_at_its_end = ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallId, Passing>> {
        // Nothing that can panic runs under this lock.
        self.passing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn pass_on(
    mut shown: mpsc::Receiver<String>,
    call_id: CallId,
    reports: mpsc::Sender<TurnReport>,
    close: CancellationToken,
) {
    let mut is_open = true;
    loop {
        let piece = tokio::select! {
            biased;
            piece = shown.recv() => piece,
            () = close.cancelled(), if is_open => {
                is_open = false;
                shown.close();
                continue;
            }
        };
        let Some(text) = piece else { return };
        if reports.send(TurnReport::Output { call_id: call_id.clone(), text }).await.is_err() {
            return;
        }
    }
}

//! Calls that wait until somebody says whether they may run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use agentd_domain::{ApprovalDecision, ApprovalResolved, ApprovalScope, Event, EventBody, Seq};
use agentd_store::Write;
use tokio::sync::oneshot;

use super::Actor;
use crate::error::CommandError;
use crate::rules;
use crate::session::approvals::{self, ApprovalAnswer, Ask, Standing};
use crate::session::decide::Draft;
use crate::turn::Verdict;

impl Actor {
    /// Asks the session's users. The answer comes when one of them has given it, durably.
    pub(super) async fn ask(&mut self, ask: Ask, reply: oneshot::Sender<Verdict>) {
        self.drop_gone_subscribers();
        let attached = self.subscribers.iter().map(|subscriber| &subscriber.participant.author);
        if approvals::is_unattended(&self.state, attached) {
            let _cancelled = reply.send(Verdict::NobodyThere);
            return;
        }
        let now = self.deps.clock.now();
        let approval_id = self.deps.ids.approval_id(now);
        let timeout = self.deps.config.borrow().approval_timeout;
        let Some(draft) = approvals::request(&self.state, ask, approval_id, now, timeout) else {
            return;
        };
        match self.record(vec![draft], Vec::new()).await {
            Ok(_seq) => {
                self.asked.insert(approval_id, reply);
            }
            Err(error) => {
                tracing::error!(session_id = %self.id, %error, "an approval could not be stored");
                let _cancelled = reply.send(Verdict::NotStored);
            }
        }
    }

    /// Answers an approval. What it permits in the workspace becomes durable with it.
    pub(super) async fn answer_approval(
        &mut self,
        answer: ApprovalAnswer,
    ) -> Result<Seq, CommandError> {
        let (scope, by) = (answer.scope, answer.by.clone());
        let drafts = approvals::answer(&self.state, answer)?;
        if scope != ApprovalScope::Workspace {
            return self.record(drafts, Vec::new()).await;
        }
        let deps = Arc::clone(&self.deps);
        let change = deps.rules.begin_change(&*deps.store).await?;
        let root = rules::root_of(Path::new(&self.state.record.workspace)).await;
        let at = deps.clock.now();
        let mut new = Vec::new();
        for Draft { body, .. } in &drafts {
            if let EventBody::ApprovalResolved(resolved) = body {
                let id = || deps.ids.item_id(at).to_string();
                new = rules::missing(&change.known, &resolved.rules, &root, &by, at, id)?;
            }
        }
        let writes = new.into_iter().map(Write::PutRule).collect();
        self.record(drafts, writes).await
    }

    /// Tells the turn what has come of its approvals, and what holds for its next calls.
    pub(super) fn permissions_changed(&mut self, events: &[Event]) {
        let changes_standing = |event: &Event| {
            matches!(
                event.body,
                EventBody::ApprovalResolved(_)
                    | EventBody::PermissionModeChanged(_)
                    | EventBody::PermissionRuleRevoked(_)
                    | EventBody::WorkModeChanged(_)
            )
        };
        // First: a turn that goes on with its verdict is held to what the answer has changed.
        if events.iter().any(changes_standing) {
            self.standing.send_replace(Standing::of(&self.state));
        }
        for event in events {
            if let EventBody::ApprovalResolved(resolved) = &event.body
                && let Some(waiting) = self.asked.remove(&resolved.approval_id)
            {
                let _cancelled = waiting.send(verdict(resolved));
            }
        }
        let open = self.state.turn.as_ref().map_or(0, |turn| turn.approvals.len());
        self.gauges.approvals.store(u32::try_from(open).unwrap_or(u32::MAX), Ordering::Relaxed);
    }
}

fn verdict(resolved: &ApprovalResolved) -> Verdict {
    match resolved.decision {
        ApprovalDecision::Allow => Verdict::Allowed,
        ApprovalDecision::Deny => Verdict::Denied { reason: resolved.reason.clone() },
        ApprovalDecision::Expired => Verdict::Expired,
        ApprovalDecision::Void => Verdict::Void,
    }
}

//! Whether a call may run: by modes and rules, or because somebody says so.

use agentd_domain::{Action, ToolCall, ToolResult};
use agentd_tools::{Permission, Permit, PreparedCall};
use tokio::sync::oneshot;

use super::failures::DENIED_BY_USER;
use super::{Ended, TurnOutcome, TurnReport, TurnTask, cancelled};
use crate::permission;
use crate::session::Ask;

/// What a call has as its error when nobody said yes to it, and nobody no.
const NOT_PERMITTED: &str = "PERMISSION_DENIED";

/// What has come of asking the session's users.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// One of them allows the call.
    Allowed,
    /// One of them denies it.
    Denied {
        /// What he says about it, or nothing.
        reason: String,
    },
    /// None of them has answered in time.
    Expired,
    /// There is none to ask.
    NobodyThere,
    /// The turn is being cut off.
    Void,
    /// The store takes nothing.
    NotStored,
}

impl TurnTask {
    /// Decides on a call with what holds at this moment, and asks where it has to be asked.
    pub(super) async fn permit(
        &self,
        call: &ToolCall,
        prepared: &PreparedCall,
        action: &Action,
    ) -> Result<Permit, Ended> {
        match self.decide(prepared, action).await {
            Permission::Allow => Ok(Permit::Granted),
            Permission::Deny { because } => Ok(not_permitted(&because)),
            Permission::Ask { because } => {
                let ask = Ask {
                    call_id: call.call_id.clone(),
                    tool: prepared.tool.spec().name.clone(),
                    action: action.clone(),
                    because,
                };
                let answer = self.ask_users(ask).await?;
                // A yes was given to what held when it was asked. What has been forbidden since stays
                // forbidden.
                match (answer, self.decide(prepared, action).await) {
                    (Permit::Granted, Permission::Deny { because }) => Ok(not_permitted(&because)),
                    (answer, _) => Ok(answer),
                }
            }
        }
    }

    async fn decide(&self, prepared: &PreparedCall, action: &Action) -> Permission {
        let standing = self.standing.borrow().clone();
        permission::decide(&self.deps, &self.roots, &standing, prepared, action).await
    }

    async fn ask_users(&self, ask: Ask) -> Result<Permit, Ended> {
        let because = ask.because.clone();
        let _waiting = self.times.waiting_for_people();
        let (reply, verdict) = oneshot::channel();
        self.report(TurnReport::Ask { ask, reply }).await?;
        let verdict = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(cancelled()),
            verdict = verdict => verdict.map_err(|_actor_gone| cancelled())?,
        };
        let result = match verdict {
            Verdict::Allowed => return Ok(Permit::Granted),
            Verdict::Void => return Err(cancelled()),
            Verdict::NotStored => return Err(Ended(TurnOutcome::StoreFailed)),
            Verdict::Denied { reason } if reason.trim().is_empty() => {
                denied(DENIED_BY_USER, "a user was asked and denied it")
            }
            Verdict::Denied { reason } => {
                denied(DENIED_BY_USER, &format!("a user was asked, denied it, and says: {reason}"))
            }
            Verdict::Expired => {
                denied(NOT_PERMITTED, "users were asked, and nobody answered in time")
            }
            Verdict::NobodyThere => {
                let why = format!(
                    "it has to be asked for, because {because}, and nobody is there who could answer. \
                     Go on without it, or say what you would have done"
                );
                denied(NOT_PERMITTED, &why)
            }
        };
        Ok(Permit::Refused(result))
    }
}

fn not_permitted(because: &str) -> Permit {
    let why = format!("not permitted, because {because}. Do not try it in another way");
    Permit::Refused(denied(NOT_PERMITTED, &why))
}

/// The result of a call that may not run.
fn denied(code: &str, why: &str) -> ToolResult {
    ToolResult::fatal(code, format!("[not run: {why}.]"))
}

//! `agentctl approvals`: calls that wait until somebody says whether they may run.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::approval::{self as approval_text, Extent};
use agentd_shared::text::{human_duration, one_line};
use clap::{Args, Subcommand, ValueEnum};
use std::time::Duration;

use crate::app::{App, rpc_failure};
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::{ApprovalAnswerView, OpenApprovalView};

/// Commands about approvals.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List what waits, in all sessions, the oldest first
    #[command(after_help = "\
Examples:
  agentctl approvals list
  agentctl approvals list --json | jq -r '.[].request.approval_id'")]
    List(JsonArgs),
    /// Show one, all of it
    #[command(after_help = "\
Examples:
  agentctl approvals show 01JZ3V8QK5RD")]
    Show(ApprovalId),
    /// Let a call run
    #[command(after_help = "\
Examples:
  agentctl approvals allow 01JZ3V8QK5RD
  agentctl approvals allow 01JZ3V8QK5RD --always=workspace")]
    Allow(AllowArgs),
    /// Keep a call from running
    #[command(after_help = "\
Examples:
  agentctl approvals deny 01JZ3V8QK5RD --reason \"use ripgrep\"")]
    Deny(DenyArgs),
}

/// Which approval.
#[derive(Debug, Clone, Args)]
pub(crate) struct ApprovalId {
    /// Approval by id, or by a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Options of `approvals allow`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AllowArgs {
    #[command(flatten)]
    which: ApprovalId,
    /// Let such calls run without asking: in this session for as long as it lives, or in all
    /// sessions of its workspace
    #[arg(long, value_name = "WHERE", value_enum, hide_possible_values = false)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "session")]
    always: Option<Where>,
}

/// Where an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Where {
    /// In the session.
    Session,
    /// In all sessions of its workspace.
    Workspace,
}

/// Options of `approvals deny`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    which: ApprovalId,
    /// Why; the model reads it
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
}

/// Runs a command about approvals.
pub(super) async fn run(command: &ApprovalsCommand, app: &App) -> Result<Exit, Failure> {
    // Without a daemon nothing waits.
    let client = app.running_client().await?;
    let open = fetch(&client, "").await?;
    match command {
        ApprovalsCommand::List(JsonArgs { json: true }) => {
            let views: Vec<OpenApprovalView<'_>> =
                open.iter().map(OpenApprovalView::from).collect();
            app.output.json_line(&views)?;
        }
        ApprovalsCommand::List(JsonArgs { json: false }) => {
            if open.is_empty() {
                app.output.note("nothing waits");
            }
            for approval in &open {
                for line in listed(approval, Extent::Short) {
                    app.output.line(&line)?;
                }
            }
        }
        ApprovalsCommand::Show(which) if which.json => {
            app.output.json(&OpenApprovalView::from(pick(&open, &which.id)?))?;
        }
        ApprovalsCommand::Show(which) => {
            for line in listed(pick(&open, &which.id)?, Extent::Whole) {
                app.output.line(&line)?;
            }
        }
        ApprovalsCommand::Allow(AllowArgs { which, always }) => {
            let scope = match always {
                None => v1::ApprovalScope::Once,
                Some(Where::Session) => v1::ApprovalScope::Session,
                Some(Where::Workspace) => v1::ApprovalScope::Workspace,
            };
            let answer = Answer { decision: v1::ApprovalDecision::Allow, scope, reason: "" };
            say(app, &client, pick(&open, &which.id)?, answer, which.json).await?;
        }
        ApprovalsCommand::Deny(DenyArgs { which, reason }) => {
            let scope = v1::ApprovalScope::Once;
            let answer = Answer { decision: v1::ApprovalDecision::Deny, scope, reason };
            say(app, &client, pick(&open, &which.id)?, answer, which.json).await?;
        }
    }
    Ok(Exit::Ok)
}

/// What is answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    pub(crate) decision: v1::ApprovalDecision,
    pub(crate) scope: v1::ApprovalScope,
    pub(crate) reason: &'a str,
}

impl Answer<'_> {
    /// This call may run.
    pub(crate) const YES: Self =
        Self { decision: v1::ApprovalDecision::Allow, scope: v1::ApprovalScope::Once, reason: "" };
}

async fn say(
    app: &App,
    client: &Client,
    open: &v1::OpenApproval,
    answer: Answer<'_>,
    json: bool,
) -> Result<(), Failure> {
    let id = open.request.as_ref().map_or("", |request| request.approval_id.as_str());
    send(client, app.author(), &open.session_id, id, answer).await?;
    if json {
        return app.output.json(&ApprovalAnswerView {
            approval_id: id,
            session_id: &open.session_id,
            decision: crate::json::approval_decision(answer.decision.into()),
            scope: crate::json::approval_scope(answer.scope.into()),
        });
    }
    let done = if answer.decision == v1::ApprovalDecision::Allow { "allowed" } else { "denied" };
    app.output.note(&format!("{id} is {done}"));
    Ok(())
}

/// Answers an approval.
///
/// # Errors
/// A report when somebody else was first, or the daemon refuses.
pub(crate) async fn send(
    client: &Client,
    author: v1::Author,
    session_id: &str,
    approval_id: &str,
    answer: Answer<'_>,
) -> Result<(), Failure> {
    let request = v1::AnswerApprovalRequest {
        session_id: session_id.to_owned(),
        approval_id: approval_id.to_owned(),
        decision: answer.decision.into(),
        scope: answer.scope.into(),
        reason: answer.reason.to_owned(),
        author: Some(author),
    };
    let answer = client.approval().answer_approval(request).await;
    answer.map(drop).map_err(|status| rpc_failure("cannot answer the approval", status))
}

async fn fetch(client: &Client, session_id: &str) -> Result<Vec<v1::OpenApproval>, Failure> {
    let request = v1::ListApprovalsRequest { session_id: session_id.to_owned() };
    let answer = client.approval().list_approvals(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot list the approvals", status))?;
    Ok(answer.into_inner().approvals)
}

fn listed(open: &v1::OpenApproval, extent: Extent) -> Vec<String> {
    let Some(request) = &open.request else { return Vec::new() };
    let left = u64::try_from(request.expires_at_ms).unwrap_or(0).saturating_sub(now_ms());
    let mut lines = vec![format!(
        "{}  session {}  {}  {}, denied in {}",
        request.approval_id,
        open.session_id,
        one_line(&open.title, 40),
        one_line(&open.workspace, 60),
        human_duration(Duration::from_millis(left)),
    )];
    lines.extend(approval_text::lines(request, extent).into_iter().map(|line| format!("  {line}")));
    let rules: Vec<String> = request.rules.iter().map(approval_text::rule).collect();
    if !rules.is_empty() {
        lines.push(format!("  --always allows from now on: {}", rules.join("; ")));
    }
    lines
}

fn pick<'a>(open: &'a [v1::OpenApproval], wanted: &str) -> Result<&'a v1::OpenApproval, Failure> {
    let upper = wanted.to_ascii_uppercase();
    let mut fits = open.iter().filter(|open| {
        !upper.is_empty()
            && open.request.as_ref().is_some_and(|request| request.approval_id.starts_with(&upper))
    });
    match (fits.next(), fits.next()) {
        (Some(found), None) => Ok(found),
        (None, _) => Err(Failure::new(Exit::NotFound, "no such approval waits")
            .because(one_line(wanted, 40))
            .hint("`agentctl approvals list` shows what waits")),
        (Some(_), Some(_)) => Err(Failure::new(Exit::Usage, "several approvals begin so")
            .because(one_line(wanted, 40))
            .hint("give more of the id")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_named_by_a_beginning_that_only_it_has() {
        let open = |id: &str| v1::OpenApproval {
            request: Some(v1::ApprovalRequested { approval_id: id.into(), ..Default::default() }),
            ..Default::default()
        };
        let open = [open("01ABC"), open("01ABD")];
        assert!(pick(&open, "01abd").is_ok_and(|found| *found == open[1]));
        for wrong in ["01AB", "02", ""] {
            assert!(pick(&open, wrong).is_err(), "{wrong}");
        }
    }
}

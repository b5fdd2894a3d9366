//! `agentctl doctor`: looks at everything that can be wrong.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::{Role, Row};
use agentd_shared::text::one_line;
use agentd_shared::with_deadline;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::exit::{Exit, Failure};
use crate::json::CheckView;
use crate::look::{Look, prefixed_rows};

/// Options of `doctor`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DoctorArgs {
    /// Do not ask the model anything
    #[arg(long)]
    pub(crate) offline: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A slow model takes its time to answer the one question.
const DEADLINE: Duration = Duration::from_secs(60);

/// Looks at the daemon from outside, then lets it look at itself.
pub(super) async fn run(args: &DoctorArgs, app: &App) -> Result<Exit, Failure> {
    let mut checks = Vec::new();
    match app.client().await {
        Err(failure) => checks.push(unreachable_daemon(&failure)),
        Ok(client) => {
            let status = super::status::fetch(&client).await?;
            checks.push(daemon(&status));
            let request = v1::RunChecksRequest { offline: args.offline };
            let answer = client.diagnostics().run_checks(with_deadline(request, DEADLINE)).await;
            let answer = answer.map_err(|status| rpc_failure("cannot run the checks", status))?;
            checks.extend(answer.into_inner().checks);
        }
    }
    if args.json {
        let views: Vec<_> = checks.iter().map(CheckView::from).collect();
        app.output.json(&views)?;
    } else {
        let width = app.output.is_terminal().then(|| Size::detect().text_width());
        let look = Look { width: width.unwrap_or(usize::MAX), colored: app.output.colored() };
        for line in checks.iter().flat_map(|check| rows(check, look)) {
            app.output.line(&line)?;
        }
    }
    let failed = checks.iter().any(|check| check.outcome() == v1::CheckOutcome::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Ok })
}

fn unreachable_daemon(failure: &Failure) -> v1::Check {
    let (detail, remedy) = match failure {
        Failure::Closed => (String::new(), String::new()),
        Failure::Report(report) => {
            (format!("{}: {}", report.what, report.why), report.hint.clone())
        }
    };
    v1::Check { name: "daemon".to_owned(), outcome: v1::CheckOutcome::Fail.into(), detail, remedy }
}

fn daemon(status: &v1::GetStatusResponse) -> v1::Check {
    let ours = env!("CARGO_PKG_VERSION");
    let detail = format!("version {}, pid {}", status.version, status.pid);
    let (outcome, detail, remedy) = if status.version == ours {
        (v1::CheckOutcome::Ok, detail, String::new())
    } else {
        let detail = format!("{detail}; agentctl is {ours}");
        let remedy = "restart the daemon, or install the same version of both".to_owned();
        (v1::CheckOutcome::Warn, detail, remedy)
    };
    v1::Check { name: "daemon".to_owned(), outcome: outcome.into(), detail, remedy }
}

/// A check as inert rows: what was found, and below it what to do.
fn rows(check: &v1::Check, look: Look) -> Vec<String> {
    let (role, word) = match check.outcome() {
        v1::CheckOutcome::Ok => (Role::Good, "ok  "),
        v1::CheckOutcome::Warn => (Role::Warn, "warn"),
        v1::CheckOutcome::Fail => (Role::Error, "fail"),
        v1::CheckOutcome::Skipped | v1::CheckOutcome::Unspecified => (Role::Dim, "skip"),
    };
    // A daemon of another release may have other names.
    let name = one_line(&check.name, 20);
    let head = Row::new(word, role).with(&format!("  {name:<9} "), Role::Plain);
    let mut rows = prefixed_rows(&check.detail, Role::Plain, head, look);
    if !check.remedy.is_empty() {
        let prefix = Row::from("→ ").indented(16);
        rows.extend(prefixed_rows(&check.remedy, Role::Plain, prefix, look));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_and_its_remedy_line_up_at_any_width() {
        let check = v1::Check {
            name: "endpoint".into(),
            outcome: v1::CheckOutcome::Fail.into(),
            detail: "m at http://h/v1: the provider\nrefused the key".into(),
            remedy: "put the right key there".into(),
        };
        let shown = |width| rows(&check, Look { width, colored: false }).join("\n");
        insta::assert_snapshot!(shown(usize::MAX), @r"
        fail  endpoint  m at http://h/v1: the provider refused the key
                        → put the right key there
        ");
        insta::assert_snapshot!(shown(40), @r"
        fail  endpoint  m at http://h/v1: the
                        provider refused the key
                        → put the right key
                          there
        ");
    }
}

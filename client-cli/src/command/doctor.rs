//! `agentctl doctor`: looks at everything that can be wrong.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::with_deadline;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::CheckView;
use crate::style;

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
        for check in &checks {
            print(check, app)?;
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

fn print(check: &v1::Check, app: &App) -> Result<(), Failure> {
    let (style, word) = match check.outcome() {
        v1::CheckOutcome::Ok => (style::GOOD, "ok  "),
        v1::CheckOutcome::Warn => (style::WARN, "warn"),
        v1::CheckOutcome::Fail => (style::ERROR, "fail"),
        v1::CheckOutcome::Skipped | v1::CheckOutcome::Unspecified => (style::DIM, "skip"),
    };
    let word = app.output.paint(style, word);
    // The model's own words may be in it.
    let detail = check.detail.replace('\n', " ");
    let line = format!("{:<9} {detail}", check.name);
    app.output.line(&format!("{word}  {}", app.output.clean(&line)))?;
    if !check.remedy.is_empty() {
        app.output.foreign_line(&format!("      {:<9} → {}", "", check.remedy))?;
    }
    Ok(())
}

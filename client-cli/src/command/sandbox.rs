//! `agentctl sandbox`: what shuts in the programs that agents run, and whether it keeps its promises.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::sandbox_service_client::SandboxServiceClient;
use agentd_shared::format::{Role, Row, daemon};
use agentd_shared::with_deadline;
use clap::{Args, Subcommand, ValueEnum};

use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::exit::{Exit, Failure};
use crate::json::{PromiseView, SandboxView};
use crate::look::{Look, prefixed_rows};

/// Longest test of a backend; one without surprises takes less than a minute.
const TEST_DEADLINE: Duration = Duration::from_secs(600);

/// Longest look for a backend that works.
const LOOK_DEADLINE: Duration = Duration::from_secs(60);

/// Options of `sandbox`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SandboxArgs {
    #[command(subcommand)]
    command: Option<SandboxCommand>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Commands about the sandbox.
#[derive(Debug, Clone, Subcommand)]
enum SandboxCommand {
    /// Show the backend in force and why it is that one
    #[command(after_help = "\
Examples:
  agentctl sandbox status --json")]
    Status(crate::cli::JsonArgs),
    /// Try to break each promise on this machine
    #[command(after_help = "\
Each promise is tried for real, with files, sockets and processes made for
it. \"not given\" means that the backend does not promise it here, and what
would. Ends with 1 when a promise is broken or could not be tried.

Examples:
  agentctl sandbox test
  agentctl sandbox test --backend landlock
  agentctl sandbox test --json | jq -r 'select(.verdict != \"held\").promise'")]
    Test(TestArgs),
}

/// Options of `sandbox test`.
#[derive(Debug, Clone, Args)]
struct TestArgs {
    /// Another backend than the one in force
    #[arg(long, value_name = "BACKEND", value_enum)]
    backend: Option<BackendArg>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// A backend.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum BackendArg {
    /// Namespaces made by bubblewrap
    Bubblewrap,
    /// Landlock and seccomp
    Landlock,
    /// A container of an engine
    Container,
    /// Nothing but limits
    None,
}

impl BackendArg {
    const fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::Container => "container",
            Self::None => "none",
        }
    }
}

/// Shows or tests the sandbox.
pub(super) async fn run(args: &SandboxArgs, app: &App) -> Result<Exit, Failure> {
    match &args.command {
        None => show(args.json, app).await,
        Some(SandboxCommand::Status(status)) => show(status.json, app).await,
        Some(SandboxCommand::Test(args)) => test(args, app).await,
    }
}

async fn show(json: bool, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = with_deadline(v1::GetSandboxRequest {}, LOOK_DEADLINE);
    let answer = client.sandbox().get_sandbox(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot ask about the sandbox", status))?;
    let sandbox = answer.into_inner().sandbox.unwrap_or_default();
    if json {
        app.output.json(&SandboxView::from(&sandbox))?;
    } else {
        for line in status_rows(&sandbox, look(app)) {
            app.output.line(&line)?;
        }
    }
    Ok(Exit::Ok)
}

fn look(app: &App) -> Look {
    let width = app.output.is_terminal().then(|| Size::detect().text_width());
    Look { width: width.unwrap_or(usize::MAX), colored: app.output.colored() }
}

fn status_rows(sandbox: &v1::SandboxStatus, look: Look) -> Vec<String> {
    let fact = daemon::sandbox(sandbox);
    let label = fact.padded_label(daemon::LABEL_WIDTH);
    let mut rows = prefixed_rows(&fact.text, fact.role, label.as_str(), look);
    if !sandbox.limits.is_empty() {
        rows.extend(prefixed_rows(&sandbox.limits, Role::Plain, "limits    ", look));
    }
    rows
}

async fn test(args: &TestArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    // Commands of others are not to wait behind it.
    let channel = client.open_stream_channel().await.map_err(|error| {
        let what = "cannot reach the daemon";
        Failure::new(Exit::Unreachable, what).because(&error).hint(error.hint())
    })?;
    let backend = args.backend.map_or("", BackendArg::name).to_owned();
    let request = with_deadline(v1::TestSandboxRequest { backend }, TEST_DEADLINE);
    let answer = SandboxServiceClient::new(channel).test_sandbox(request).await;
    let failed = |status| rpc_failure("cannot test the sandbox", status);
    let mut stream = answer.map_err(failed)?.into_inner();
    let mut count = Count::default();
    let look = look(app);
    while let Some(promise) = stream.message().await.map_err(failed)? {
        count.add(promise.verdict());
        if args.json {
            app.output.json_line(&PromiseView::from(&promise))?;
        } else {
            for line in promise_rows(&promise, look) {
                app.output.line(&line)?;
            }
        }
    }
    if !args.json {
        app.output.line(&count.text())?;
    }
    Ok(if count.is_well() { Exit::Ok } else { Exit::Failed })
}

/// How many came out how.
#[derive(Debug, Default)]
struct Count {
    held: u32,
    not_held: u32,
    not_given: u32,
    not_tried: u32,
}

impl Count {
    fn add(&mut self, verdict: v1::SandboxVerdict) {
        let number = match verdict {
            v1::SandboxVerdict::Held => &mut self.held,
            v1::SandboxVerdict::NotHeld => &mut self.not_held,
            v1::SandboxVerdict::NotGiven => &mut self.not_given,
            // One of a newer daemon shows nothing to us.
            v1::SandboxVerdict::NotTried | v1::SandboxVerdict::Unspecified => &mut self.not_tried,
        };
        *number += 1;
    }

    /// All that is promised held. A test that was cut off shows nothing.
    fn is_well(&self) -> bool {
        self.held > 0 && self.not_held == 0 && self.not_tried == 0
    }

    fn text(&self) -> String {
        let Self { held, not_held, not_given, not_tried } = self;
        let part = |number: u32, what: &str| match number {
            0 => String::new(),
            number => format!(", {number} {what}"),
        };
        format!(
            "{held} held{}{}{}",
            part(*not_held, "BROKEN"),
            part(*not_tried, "not tried"),
            part(*not_given, "not given here")
        )
    }
}

fn promise_rows(promise: &v1::TestSandboxResponse, look: Look) -> Vec<String> {
    let (role, word) = match promise.verdict() {
        v1::SandboxVerdict::Held => (Role::Good, "held     "),
        v1::SandboxVerdict::NotHeld => (Role::Error, "BROKEN   "),
        v1::SandboxVerdict::NotGiven => (Role::Dim, "not given"),
        v1::SandboxVerdict::NotTried | v1::SandboxVerdict::Unspecified => (Role::Warn, "not tried"),
    };
    let word = Row::new(word, role).with("  ", Role::Plain);
    let mut rows = prefixed_rows(&promise.text, Role::Plain, word, look);
    let by = format!("{}: {}", promise.backend, promise.detail);
    rows.extend(prefixed_rows(&by, Role::Dim, Row::default().indented(11), look));
    if !promise.remedy.is_empty() {
        rows.extend(prefixed_rows(
            &promise.remedy,
            Role::Plain,
            Row::from("→ ").indented(11),
            look,
        ));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(verdict: v1::SandboxVerdict) -> v1::TestSandboxResponse {
        v1::TestSandboxResponse {
            promise: "modes".into(),
            text: "modes stay".into(),
            verdict: verdict.into(),
            detail: "Landlock does not hold chmod".into(),
            remedy: "install bubblewrap".into(),
            backend: "landlock".into(),
        }
    }

    #[test]
    fn a_promise_is_shown_with_what_would_give_it() {
        let look = Look { width: usize::MAX, colored: false };
        let rows = promise_rows(&promise(v1::SandboxVerdict::NotGiven), look).join("\n");
        insta::assert_snapshot!(rows, @r"
        not given  modes stay
                   landlock: Landlock does not hold chmod
                   → install bubblewrap
        ");
    }

    #[test]
    fn only_what_was_tried_and_held_is_well() {
        use v1::SandboxVerdict::{Held, NotGiven, NotHeld, NotTried};

        let count = |verdicts: &[v1::SandboxVerdict]| {
            let mut count = Count::default();
            for verdict in verdicts {
                count.add(*verdict);
            }
            count
        };
        assert!(count(&[Held, NotGiven]).is_well());
        for broken in [&[Held, NotHeld][..], &[Held, NotTried], &[NotGiven], &[]] {
            assert!(!count(broken).is_well(), "{broken:?}");
        }
        assert_eq!(count(&[Held, NotHeld, NotGiven]).text(), "1 held, 1 BROKEN, 1 not given here");
    }

    #[test]
    fn no_sandbox_at_all_is_shown_loudly() {
        let sandbox = v1::SandboxStatus {
            state: v1::SandboxState::Open.into(),
            backend: "none".into(),
            reason: "sandbox.backend asks for it".into(),
            limits: String::new(),
        };
        assert!(daemon::sandbox(&sandbox).text.starts_with("NONE: nothing shuts commands in"));
    }
}

//! Parses, wires and runs.

use std::process::ExitCode;

use agent_tui::app::App;
use agent_tui::cli::Cli;
use agent_tui::conn::{Command, Conn};
use agent_tui::state::{Effect, Settings, State};
use agent_tui::terminal::{Signals, TerminalGuard, Wishes};
use agentd_proto::v1;
use agentd_shared::{Client, Identity, Paths, Recovery, StartOptions, ensure_running};
use clap::Parser as _;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let ended = runtime.map_err(Into::into).and_then(|runtime| {
        let ended = runtime.block_on(Box::pin(run(cli)));
        // A thread that waits for a key must not hold up the end.
        runtime.shutdown_background();
        ended
    });
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            report(&*error);
            ExitCode::from(3)
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the terminal is given back, and there is nobody else to tell"
)]
fn report(error: &dyn std::error::Error) {
    eprintln!("agent-tui: {error}");
}

async fn run(cli: Cli) -> Result<u8, Box<dyn std::error::Error>> {
    let paths = match &cli.home {
        Some(home) => Paths::under(std::path::absolute(home)?),
        None => Paths::from_env()?,
    };
    let identity = Identity::detect(None);
    let options = StartOptions::default();
    let endpoint = ensure_running(&paths, &options).await?;
    let client = Client::connect(&endpoint).await?;
    let settings = Settings {
        workspace: std::env::current_dir()?.to_string_lossy().into_owned(),
        ..Settings::default()
    };
    let mut state = State::new(identity.author(), settings);
    let mut first = vec![
        Effect::Send(Command::GetStatus),
        Effect::Send(Command::ListSessions(v1::ListSessionsRequest::default())),
    ];
    match cli.session {
        Some(session_id) => first.extend(state.open_session(&session_id)),
        None => first.push(Effect::Send(Command::CreateSession(state.new_session()))),
    }
    let conn = Conn::new(client, identity, Recovery::Restart { paths, options });
    let signals = Signals::new()?;
    let guard = TerminalGuard::take(Wishes { mouse: !cli.no_mouse })?;
    let app = App::new(state, conn, guard, signals)?;
    Ok(app.run(first).await?)
}

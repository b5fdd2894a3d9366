//! Parses, wires and runs.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use agent_tui::app::App;
use agent_tui::cli::Cli;
use agent_tui::conn::{Command, Conn};
use agent_tui::exit::{Failure, tell};
use agent_tui::first_run::OrdinaryScreen;
use agent_tui::history_file::HistoryFile;
use agent_tui::input::Keymap;
use agent_tui::linear;
use agent_tui::state::{Effect, Settings, State, Tone};
use agent_tui::terminal::{Signals, Stop, TerminalGuard, Wishes};
use agent_tui::theme::Surroundings;
use agentd_shared::client_config::EditMode;
use agentd_shared::setup::{Offered, offer};
use agentd_shared::{BrokenConfig, Client, Connector, ConnectorError, directory, which};
use clap::Parser as _;

/// How long nothing is shown while the daemon is looked for.
const SILENCE: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.linear {
        return failed(&linear::exec(&cli));
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return failed(&Failure::no_terminal());
    }
    if linear::is_dumb() {
        return failed(&linear::exec(&cli));
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let ended = runtime.map_err(Failure::from).and_then(|runtime| {
        let ended = runtime.block_on(Box::pin(run(cli)));
        // A thread that waits for a key must not hold up the end.
        runtime.shutdown_background();
        ended
    });
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failed(&failure),
    }
}

fn failed(failure: &Failure) -> ExitCode {
    tell(&failure.text());
    ExitCode::from(failure.code)
}

async fn run(cli: Cli) -> Result<u8, Failure> {
    let mut signals = Signals::new()?;
    let mut connector = Connector::new(&cli.connect, BrokenConfig::UseDefaults)?;
    connector.choose_server(&cli.connect.remote).map_err(Failure::from)?;
    let client = tokio::select! {
        client = connect(&connector) => client?,
        stop = ended_by(&mut signals) => return Ok(stop.exit_code()),
    };
    if !cli.no_setup {
        // Before the terminal is ours: a key is pasted on the ordinary screen, and is not shown.
        let stopped = ended_by(&mut signals);
        match offer(&connector, &client, &OrdinaryScreen, stopped).await? {
            Offered::GoOn => {}
            // As at the Ctrl-C that somebody might have pressed instead of Ctrl-D.
            Offered::Left(stop) => return Ok(stop.unwrap_or(Stop::Interrupt).exit_code()),
        }
    }
    let chosen = which::choose(&client, connector.author(), &cli.which, &cli.wishes);
    let chosen = tokio::select! {
        chosen = chosen => chosen?,
        stop = ended_by(&mut signals) => return Ok(stop.exit_code()),
    };

    let mut state = State::new(connector.author(), settings(&cli, &connector, &client));
    for warning in warnings(&connector) {
        state.notices.say(Tone::Warn, &warning);
    }
    let config = connector.config();
    let (keymap, odd_keys) = Keymap::configured(&config.keys);
    state.keymap = keymap;
    for warning in odd_keys {
        state.notices.say(Tone::Warn, &warning);
    }
    state.composer.configure(config.history_size, config.edit_mode == EditMode::Vi);
    let history = HistoryFile::open(connector.paths().history_file(), config.history_size);
    let mut first = vec![Effect::Send(Command::GetStatus), Effect::Watch];
    first.extend(state.ask_for_facts());
    first.extend(state.open_session(&chosen.session_id));
    let mouse = connector.config().mouse && !cli.no_mouse;
    let conn = Conn::new(connector, client);
    let guard = TerminalGuard::take(Wishes { mouse })?;
    let app = App::new(state, conn, guard, signals, history)?;
    let left = app.run(first).await?;
    // The terminal is given back by now.
    tell(&left.farewell);
    Ok(left.code)
}

/// Connects, and says so when that takes its time: the terminal is still the user's.
async fn connect(connector: &Connector) -> Result<Client, ConnectorError> {
    let mut connected = std::pin::pin!(connector.client(|| tell("starting the daemon ...\n")));
    if let Ok(connected) = tokio::time::timeout(SILENCE, &mut connected).await {
        return connected;
    }
    tell("connecting to agentd ...\n");
    connected.await
}

/// The first signal that asks to end. Standing still is the system's affair until the terminal is ours.
async fn ended_by(signals: &mut Signals) -> Stop {
    loop {
        match signals.next().await {
            Stop::Suspend => drop(agent_tui::terminal::stop_process()),
            Stop::Resumed => {}
            stop => return stop,
        }
    }
}

fn settings(cli: &Cli, connector: &Connector, client: &Client) -> Settings {
    let config = connector.config();
    let around = Surroundings {
        wanted: cli.theme,
        configured: config.theme,
        color: cli.color.unwrap_or(config.color),
        no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
    };
    Settings {
        theme: around.theme(),
        // One that cannot be told is none: the daemon has a default.
        workspace: directory::current(client.endpoint()).ok().flatten().unwrap_or_default(),
        reasoning: config.show_reasoning,
        sidebar: config.sidebar,
        bell: config.bell,
        local: !client.endpoint().is_remote(),
        ..Settings::default()
    }
}

/// What is odd about the configuration.
fn warnings(connector: &Connector) -> Vec<String> {
    let broken = connector.broken_config().map(|error| {
        format!("the configuration is not used: {}; {}", agentd_shared::chain(error), error.hint())
    });
    broken.into_iter().chain(connector.warnings().iter().cloned()).collect()
}

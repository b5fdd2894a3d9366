//! The first chat on a machine: offers a key, a server that was found, or to go on offline.
//!
//! It asks only where somebody can answer, no configuration was made yet, and no model has been found
//! without one. Whatever is chosen leaves a configuration, so that it is asked once.

use std::io::{BufRead as _, IsTerminal as _};

use agentd_shared::Client;
use agentd_shared::setup::{
    FirstChoice, LocalServer, SaveError, Service, TryError, is_first_run, local_servers,
};
use agentd_shared::text::one_line;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::app::App;
use crate::command::status;
use crate::exit::{Exit, Failure, chain};
use crate::signals::Signals;

/// What has come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstRun {
    /// The command goes on.
    GoOn,
    /// Somebody pressed Ctrl-C.
    Stopped,
}

/// Models of a server that are listed.
const SHOWN_MODELS: usize = 20;
/// Columns of the name of a model.
const NAME_WIDTH: usize = 60;
/// How `status` calls what answers without a model.
const OFFLINE: &str = "offline";

/// Offers a model where there is none. Does nothing where nobody can be asked, or need be.
///
/// # Errors
/// When the terminal or the daemon fails.
pub(crate) async fn offer(
    app: &App,
    client: &Client,
    signals: &mut Signals,
) -> Result<FirstRun, Failure> {
    let is_seen = std::io::stdin().is_terminal() && app.output.is_terminal();
    if !is_seen || !app.connector().is_usual() || !is_first_run(app.paths()) {
        return Ok(FirstRun::GoOn);
    }
    let provider = status::fetch(client).await?.provider.unwrap_or_default();
    if provider.kind != OFFLINE {
        return Ok(FirstRun::GoOn);
    }
    app.output.line(
        "No model is configured, and none was found. Looking for servers on this machine ...",
    )?;
    let Ok(servers) = signals.unless(local_servers()).await else { return Ok(FirstRun::Stopped) };
    let mut asking = Asking { app, client, signals };
    match asking.run(&servers).await? {
        Some(()) => Ok(FirstRun::GoOn),
        None => Ok(FirstRun::Stopped),
    }
}

struct Asking<'a> {
    app: &'a App,
    client: &'a Client,
    signals: &'a mut Signals,
}

/// What somebody types; none: Ctrl-C or Ctrl-D.
type Typed = Result<Option<String>, Failure>;

impl Asking<'_> {
    /// Asks until something is in force. None: somebody wants to leave.
    async fn run(&mut self, servers: &[LocalServer]) -> Result<Option<()>, Failure> {
        loop {
            let offline = servers.len() + 2;
            self.app.output.line("What shall answer?")?;
            self.app.output.line(
                "  1) a service: paste an API key of OpenAI, Anthropic, DeepSeek or OpenRouter",
            )?;
            for (number, server) in (2..).zip(servers) {
                let LocalServer { name, base_url, models, .. } = server;
                let count = if models.len() == 1 {
                    "1 model".into()
                } else {
                    format!("{} models", models.len())
                };
                self.app.output.line(&format!("  {number}) {name} at {base_url} ({count})"))?;
            }
            self.app.output.line(&format!(
                "  {offline}) nothing for now: a small engine without a model uses the tools"
            ))?;
            let Some(number) = self.number("Your choice", offline, offline).await? else {
                return Ok(None);
            };
            let choice = match number {
                1 => self.key().await?,
                number if number == offline => Some(FirstChoice::Offline),
                number => match servers.get(number - 2) {
                    Some(server) => self.model(server).await?,
                    None => continue,
                },
            };
            let Some(choice) = choice else { return Ok(None) };
            if self.put_in_force(&choice).await? {
                return Ok(Some(()));
            }
        }
    }

    /// Asks for a key and whose it is.
    async fn key(&mut self) -> Result<Option<FirstChoice>, Failure> {
        let prompt = "Paste the key; it is not shown:";
        let Some(key) = self.read(prompt, Echo::Off).await? else { return Ok(None) };
        self.app.output.line("")?;
        let key = key.trim().to_owned();
        if let Some(service) = Service::of_key(&key) {
            return Ok(Some(FirstChoice::Key { service, key }));
        }
        for (number, service) in (1..).zip(Service::ALL) {
            self.app.output.line(&format!("  {number}) {}", service.name()))?;
        }
        let Some(number) = self.number("Whose key is it?", 1, Service::ALL.len()).await? else {
            return Ok(None);
        };
        let service = number.checked_sub(1).and_then(|index| Service::ALL.get(index)).copied();
        Ok(service.map(|service| FirstChoice::Key { service, key }))
    }

    /// Asks which model of a server, where there are several.
    async fn model(&mut self, server: &LocalServer) -> Result<Option<FirstChoice>, Failure> {
        let shown = server.models.len().min(SHOWN_MODELS);
        let number = if shown > 1 {
            for (number, model) in (1..).zip(server.models.iter().take(shown)) {
                self.app.output.line(&format!("  {number}) {}", one_line(model, NAME_WIDTH)))?;
            }
            self.number("Which model?", 1, shown).await?
        } else {
            Some(1)
        };
        let Some(number) = number else { return Ok(None) };
        let model = number.checked_sub(1).and_then(|index| server.models.get(index)).cloned();
        Ok(model.map(|model| FirstChoice::Local { server: server.clone(), model }))
    }

    /// Writes what was chosen and tries it. False: it is not good, and nothing is left of it.
    async fn put_in_force(&mut self, choice: &FirstChoice) -> Result<bool, Failure> {
        let output = &self.app.output;
        let saved = match choice.save(self.app.paths()) {
            Ok(saved) => saved,
            // Another terminal was first.
            Err(SaveError::HasConfig(file)) => {
                output.note(&format!("{} has been written meanwhile", file.display()));
                return Ok(true);
            }
            Err(error @ SaveError::NotAKey(_)) => {
                output.note(&format!("{error}; {}", error.hint()));
                return Ok(false);
            }
            Err(error) => {
                return Err(Failure::new(Exit::Failed, "the choice cannot be kept")
                    .because(chain(&error))
                    .hint(error.hint()));
            }
        };
        let file = saved.config_file.display().to_string();
        if *choice == FirstChoice::Offline {
            output
                .note(&format!("{file} is yours to edit; `agentctl doctor` says what is missing"));
            return Ok(true);
        }
        output.note("trying it ...");
        // A Ctrl-C waits for the answer: what is written must not be left untried.
        match saved.apply(self.client).await {
            Ok(()) => {
                let provider = status::fetch(self.client).await?.provider.unwrap_or_default();
                let model = one_line(&provider.model, NAME_WIDTH);
                output.note(&format!("{model} answers now; {file} says so"));
                Ok(true)
            }
            Err(TryError::Refused { detail, remedy }) => {
                output.note(&format!("that does not work: {detail}"));
                if !remedy.is_empty() {
                    output.note(&format!("  {remedy}"));
                }
                Ok(false)
            }
            Err(error) => Err(Failure::new(Exit::Failed, "it is not known whether that works")
                .because(chain(&error))
                .hint(format!("it is in {file}; `agentctl doctor` tries it again"))),
        }
    }

    /// A number from 1 to `most`; an empty line is `usual`.
    async fn number(
        &mut self,
        question: &str,
        usual: usize,
        most: usize,
    ) -> Result<Option<usize>, Failure> {
        loop {
            let prompt = format!("{question} [{usual}]");
            let Some(line) = self.read(&prompt, Echo::On).await? else { return Ok(None) };
            match line.trim() {
                "" => return Ok(Some(usual)),
                text => match text.parse() {
                    Ok(number) if (1..=most).contains(&number) => return Ok(Some(number)),
                    Ok(_) | Err(_) => {
                        self.app.output.note(&format!("type a number from 1 to {most}"));
                    }
                },
            }
        }
    }

    /// A line; none at Ctrl-C and Ctrl-D.
    async fn read(&mut self, prompt: &str, echo: Echo) -> Typed {
        let hidden = match echo {
            Echo::On => None,
            Echo::Off => Some(Hidden::new().map_err(|error| unread(&error))?),
        };
        self.app.output.ask(prompt);
        // On a thread of its own, which is left behind at a Ctrl-C and ends with the process.
        let read = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map(|bytes| (bytes > 0).then_some(line))
        });
        let read = self.signals.unless(read).await;
        drop(hidden);
        match read {
            Ok(read) => read.map_err(|error| unread(&error))?.map_err(|error| unread(&error)),
            Err(_stop) => Ok(None),
        }
    }
}

/// Whether what is typed is shown.
#[derive(Debug, Clone, Copy)]
enum Echo {
    On,
    Off,
}

/// A terminal that does not show what is typed, until it is dropped.
struct Hidden(Termios);

impl Hidden {
    fn new() -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        // What was typed before is dropped: it was meant for something else, and was shown.
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // There is nobody left to tell if the terminal is gone.
        let _gone = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

fn unread(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, "cannot read what is typed").because(error)
}

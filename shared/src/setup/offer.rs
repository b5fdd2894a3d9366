//! The questions of a first run: a key, a server that was found, or to go on offline.
//!
//! They are asked only where somebody can answer, no configuration was made yet, and no model has been
//! found without one. Whatever is chosen leaves a configuration, so that it is asked once.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::pin::{Pin, pin};

use agentd_proto::v1;

use super::save::is_address;
use super::typed::{Echo, Typed, line};
use super::{FirstChoice, LocalServer, SaveError, Service, TryError, is_first_run, local_servers};
use crate::client::Client;
use crate::connector::Connector;
use crate::error_kind::ErrorKind;
use crate::paths::Paths;
use crate::status_error::RpcError;
use crate::text::one_line;

/// Models of a server that are listed.
const SHOWN_MODELS: usize = 20;
/// Columns of the name of a model.
const NAME_WIDTH: usize = 60;
/// How the daemon calls what answers without a model.
const OFFLINE: &str = "offline";

/// How a client says something on the ordinary screen. What it is given may hold foreign text.
pub trait Voice {
    /// Says a line of what there is to choose from.
    ///
    /// # Errors
    /// When it cannot be written.
    fn line(&self, text: &str) -> io::Result<()>;

    /// Says a line about what was typed or done. Nobody is left to tell when that fails.
    fn note(&self, text: &str);

    /// Asks a question without ending the line.
    fn ask(&self, question: &str);
}

/// What has come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered<S> {
    /// The client goes on.
    GoOn,
    /// Somebody wants to leave: by what stopped it, or by Ctrl-D.
    Left(Option<S>),
}

/// Why nothing has come of it.
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    /// The daemon does not say whether it has a model.
    #[error("cannot ask the daemon for its status")]
    Status(#[source] RpcError),
    /// The terminal cannot be written to.
    #[error("cannot show what there is to choose from")]
    Show(#[source] io::Error),
    /// The terminal cannot be read from.
    #[error("cannot read what is typed")]
    Read(#[source] io::Error),
    /// The choice cannot be written down.
    #[error("the choice cannot be kept")]
    Save(#[source] SaveError),
    /// The choice was written down, and nobody knows whether it is good.
    #[error("it is not known whether that works")]
    Try {
        /// The configuration.
        file: PathBuf,
        /// Why it is not known.
        source: TryError,
    },
}

impl OfferError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Status(error) => error.kind(),
            Self::Show(_) | Self::Read(_) | Self::Save(_) | Self::Try { .. } => ErrorKind::Internal,
        }
    }

    /// What to do about it, when that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Status(error) => error.remedy(),
            Self::Show(_) | Self::Read(_) => None,
            Self::Save(error) => Some(error.hint().to_owned()),
            Self::Try { file, .. } => {
                Some(format!("it is in {}; `agentctl doctor` tries it again", file.display()))
            }
        }
    }
}

/// Offers a model where there is none, until `stopped` ends. Does nothing where nobody can be asked, or
/// need be. The screen must be the ordinary one.
///
/// # Errors
/// When the terminal or the daemon fails.
pub async fn offer<S>(
    connector: &Connector,
    client: &Client,
    voice: &impl Voice,
    stopped: impl Future<Output = S>,
) -> Result<Offered<S>, OfferError> {
    if !is_seen() || !connector.is_usual() || !is_first_run(connector.paths()) {
        return Ok(Offered::GoOn);
    }
    let provider = provider(client).await?;
    if provider.kind != OFFLINE {
        return Ok(Offered::GoOn);
    }
    let mut stopped = pin!(stopped);
    let mut asking = Asking { paths: connector.paths(), client, voice, stopped: stopped.as_mut() };
    asking
        .say("No model is configured, and none was found. Looking for servers on this machine ...")
        .map_err(OfferError::Show)?;
    let servers = tokio::select! {
        servers = local_servers() => servers,
        stop = asking.stopped.as_mut() => return Ok(Offered::Left(Some(stop))),
    };
    match asking.run(&servers).await {
        Ok(()) => Ok(Offered::GoOn),
        Err(Unanswered::Left(stop)) => {
            // Whatever comes next is not to stand behind the question.
            voice.note("");
            Ok(Offered::Left(stop))
        }
        Err(Unanswered::Failed(error)) => Err(error),
    }
}

/// Whether somebody reads the questions and can answer them.
fn is_seen() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

async fn provider(client: &Client) -> Result<v1::ProviderStatus, OfferError> {
    let answer = client.admin().get_status(v1::GetStatusRequest {}).await;
    let status = answer.map_err(|status| OfferError::Status(status.into()))?.into_inner();
    Ok(status.provider.unwrap_or_default())
}

/// Why a question has no answer.
enum Unanswered<S> {
    Left(Option<S>),
    Failed(OfferError),
}

impl<S> From<OfferError> for Unanswered<S> {
    fn from(error: OfferError) -> Self {
        Self::Failed(error)
    }
}

impl<S> From<io::Error> for Unanswered<S> {
    fn from(error: io::Error) -> Self {
        Self::Failed(OfferError::Show(error))
    }
}

struct Asking<'a, V, F> {
    paths: &'a Paths,
    client: &'a Client,
    voice: &'a V,
    /// Not asked again once it has ended.
    stopped: Pin<&'a mut F>,
}

impl<V: Voice, S, F: Future<Output = S>> Asking<'_, V, F> {
    fn say(&self, text: &str) -> io::Result<()> {
        self.voice.line(text)
    }

    /// Asks until something is in force.
    async fn run(&mut self, servers: &[LocalServer]) -> Result<(), Unanswered<S>> {
        loop {
            let choice = self.choice(servers).await?;
            if self.put_in_force(&choice).await? {
                return Ok(());
            }
        }
    }

    /// Asks what shall answer.
    async fn choice(&mut self, servers: &[LocalServer]) -> Result<FirstChoice, Unanswered<S>> {
        let offline = servers.len() + 3;
        self.say("What shall answer?")?;
        self.say("  1) a service: paste an API key of OpenAI, Anthropic, DeepSeek or OpenRouter")?;
        for (number, server) in (2..).zip(servers) {
            let LocalServer { name, base_url, models, .. } = server;
            let count = match models.len() {
                1 => "1 model".to_owned(),
                count => format!("{count} models"),
            };
            self.say(&format!("  {number}) {name} at {base_url} ({count})"))?;
        }
        self.say(&format!("  {}) another server with OpenAI's API, by its address", offline - 1))?;
        self.say(&format!(
            "  {offline}) nothing for now: a small engine without a model uses the tools"
        ))?;
        let number = self.number("Your choice", Some(offline), offline).await?;
        match number {
            1 => return self.key().await,
            number if number == offline => return Ok(FirstChoice::Offline),
            _ => {}
        }
        match number.checked_sub(2).and_then(|index| servers.get(index)) {
            Some(server) => self.model(server).await,
            None => self.server().await,
        }
    }

    /// Asks where a server is, for its model, and for its key.
    async fn server(&mut self) -> Result<FirstChoice, Unanswered<S>> {
        let base_url = loop {
            let typed = self.text("Its address, such as http://box.lan:8000/v1:").await?;
            if is_address(&typed) {
                break typed;
            }
            let error = SaveError::NotAnAddress;
            self.voice.note(&format!("{error}; {}", error.hint()));
        };
        let model = self.text("The name of the model:").await?;
        let key = self.read("Its key, not shown; empty when it wants none:", Echo::Off).await?;
        self.say("")?;
        Ok(FirstChoice::Server { base_url, model, key: key.trim().to_owned() })
    }

    /// Asks until something is typed.
    async fn text(&mut self, question: &str) -> Result<String, Unanswered<S>> {
        loop {
            let typed = self.read(question, Echo::On).await?;
            match typed.trim() {
                "" => self.voice.note("type something, or Ctrl-D to leave"),
                text => return Ok(text.to_owned()),
            }
        }
    }

    /// Asks for a key and whose it is.
    async fn key(&mut self) -> Result<FirstChoice, Unanswered<S>> {
        let key = self.read("Paste the key; it is not shown:", Echo::Off).await?;
        self.say("")?;
        let key = key.trim().to_owned();
        let service = match Service::of_key(&key) {
            Some(service) => service,
            // Without a usual one: a key must not go to the wrong service by a mere Enter.
            None => {
                self.pick("Whose key is it?", None, &Service::ALL, |it| it.name().into()).await?
            }
        };
        Ok(FirstChoice::Key { service, key })
    }

    /// Asks which model of a server, where there are several.
    async fn model(&mut self, server: &LocalServer) -> Result<FirstChoice, Unanswered<S>> {
        let shown = server.models.get(..SHOWN_MODELS).unwrap_or(&server.models);
        let model = match shown {
            [only] => only.clone(),
            several => {
                let name = |name: &String| one_line(name, NAME_WIDTH);
                self.pick("Which model?", Some(1), several, name).await?
            }
        };
        Ok(FirstChoice::Local { server: server.clone(), model })
    }

    /// Asks for one of several, of which the `usual` one is taken when nothing is typed.
    async fn pick<T: Clone>(
        &mut self,
        question: &str,
        usual: Option<usize>,
        several: &[T],
        name: impl Fn(&T) -> String,
    ) -> Result<T, Unanswered<S>> {
        for (number, one) in (1..).zip(several) {
            self.say(&format!("  {number}) {}", name(one)))?;
        }
        loop {
            let number = self.number(question, usual, several.len()).await?;
            if let Some(one) = number.checked_sub(1).and_then(|index| several.get(index)) {
                return Ok(one.clone());
            }
        }
    }

    /// Writes what was chosen and tries it. False: it is not good, and nothing is left of it.
    async fn put_in_force(&mut self, choice: &FirstChoice) -> Result<bool, OfferError> {
        let saved = match choice.save(self.paths) {
            Ok(saved) => saved,
            // Another terminal was first.
            Err(SaveError::HasConfig(file)) => {
                self.voice.note(&format!("{} has been written meanwhile", file.display()));
                return Ok(true);
            }
            Err(error @ (SaveError::NotAKey(_) | SaveError::NotAnAddress)) => {
                self.voice.note(&format!("{error}; {}", error.hint()));
                return Ok(false);
            }
            Err(error) => return Err(OfferError::Save(error)),
        };
        let file = saved.config_file.clone();
        let shown = file.display();
        if *choice == FirstChoice::Offline {
            let missing = "`agentctl doctor` says what is missing";
            self.voice.note(&format!("{shown} is yours to edit; {missing}"));
            return Ok(true);
        }
        self.voice.note("trying it ...");
        // Who stops us waits for the answer: what is written must not be left untried.
        match saved.apply(self.client).await {
            Ok(()) => {
                let model = one_line(&provider(self.client).await?.model, NAME_WIDTH);
                self.voice.note(&format!("{model} answers now; {shown} says so"));
                Ok(true)
            }
            Err(TryError::Refused { detail }) => {
                self.voice.note(&format!("that does not work: {detail}"));
                self.voice.note("nothing of it was kept");
                Ok(false)
            }
            Err(source) => Err(OfferError::Try { file, source }),
        }
    }

    /// Asks for a number from 1 to `most`; an empty line is the `usual` one, if there is one.
    async fn number(
        &mut self,
        question: &str,
        usual: Option<usize>,
        most: usize,
    ) -> Result<usize, Unanswered<S>> {
        let shown = usual.map(|usual| format!(" [{usual}]")).unwrap_or_default();
        loop {
            let typed = self.read(&format!("{question}{shown}"), Echo::On).await?;
            let number = match typed.trim() {
                "" => usual,
                text => text.parse().ok().filter(|number| (1..=most).contains(number)),
            };
            match number {
                Some(number) => return Ok(number),
                None => self.voice.note(&format!("type a number from 1 to {most}")),
            }
        }
    }

    async fn read(&mut self, prompt: &str, echo: Echo) -> Result<String, Unanswered<S>> {
        let ask = || self.voice.ask(prompt);
        match line(ask, echo, self.stopped.as_mut()).await.map_err(OfferError::Read)? {
            Typed::Line(line) => Ok(line),
            Typed::End => Err(Unanswered::Left(None)),
            Typed::Stopped(stop) => Err(Unanswered::Left(Some(stop))),
        }
    }
}

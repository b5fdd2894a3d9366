//! Finds an endpoint: by its settings, in the environment, or on this machine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agentd_llm::{
    Anthropic, AnthropicOptions, LlmError, ModelApi, OpenAiCompatible, OpenAiOptions,
    OpenAiResponses, Provider, Reach, ResponsesOptions, Secret, Timeouts, http_client, probe_local,
};

use super::key::{self, Key};
use super::key_variable::{BaseUrl, Variable};
use super::preset::{self, Preset};
use super::withheld::Withheld;
use super::{first_of, key_variable};
use crate::config::{DEFAULT_ENDPOINT, ProviderConfig, ProviderKind};
use crate::environment::Environment;

/// Longest wait for a list of models.
pub(super) const MODELS_TIMEOUT: Duration = Duration::from_secs(2);
/// Most bytes of one answer. It becomes one event, which must fit into a message of the wire (4 MiB)
/// and, with its JSON escapes, into a page of an export.
const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// An endpoint that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) provider: Arc<dyn Provider>,
    /// The same place through the Responses API, for models that can do more there.
    pub(super) responses: Option<Arc<dyn Provider>>,
    /// Its own model; empty when it has none, or when it was not asked for it.
    pub(super) model: String,
    /// Where its key was found; none when it has none.
    pub(super) key_place: Option<String>,
    /// How it was found.
    pub(super) source: String,
}

/// Where an endpoint is.
#[derive(Debug)]
pub(super) struct Reached<'a> {
    pub(super) base_url: &'a str,
    /// Its own model; may be empty.
    model: &'a str,
    pub(super) api_key: Option<Secret>,
    key_place: Option<String>,
    /// Why a key of the environment is not sent there.
    pub(super) withheld: Option<String>,
}

/// What is looked for, and where.
#[derive(Debug)]
pub(super) struct Search<'a> {
    /// "provider" or the name of one of `[endpoints]`.
    pub(super) name: &'a str,
    pub(super) config: &'a ProviderConfig,
    pub(super) env: &'a Environment,
    /// A server whose model nobody names is asked for its first.
    pub(super) wants_model: bool,
    /// Answers where nothing else does.
    pub(super) offline: &'a Arc<dyn Provider>,
}

impl Search<'_> {
    /// Looks for it.
    ///
    /// # Errors
    /// When there is an endpoint and it cannot be used, such as without a key.
    pub(super) async fn run(&self) -> Result<Found, LlmError> {
        let config = self.config;
        match config.kind {
            ProviderKind::Offline => Ok(self.offline("config")),
            ProviderKind::Auto if !config.base_url.is_empty() => {
                self.endpoint(&preset::OPENAI, "config").await
            }
            ProviderKind::Auto => match preset::in_environment(self.env) {
                Some(preset) => {
                    self.endpoint(preset, &format!("environment {}", preset.key_env)).await
                }
                None => self.local().await,
            },
            kind => self.endpoint(preset::of_kind(kind), "config").await,
        }
    }

    async fn endpoint(&self, preset: &'static Preset, source: &str) -> Result<Found, LlmError> {
        let config = self.config;
        let Reached { base_url, model, api_key, key_place, withheld } = self.reach(preset)?;
        // Other servers that speak Chat Completions need not speak Responses.
        let has_both =
            preset.api == ModelApi::ChatCompletions && base_url == preset::OPENAI.base_url;
        let responses = has_both
            .then(|| open(config, ModelApi::Responses, base_url, api_key.clone()))
            .transpose()?;
        let mut provider = open(config, preset.api, base_url, api_key)?;
        if let Some(reason) = withheld {
            provider = Arc::new(Withheld::new(provider, reason));
        }
        let model = if model.is_empty() && self.wants_model {
            first_model(&*provider).await
        } else {
            model.to_owned()
        };
        Ok(Found { provider, responses, model, key_place, source: source.to_owned() })
    }

    /// Where it is, and the key for there.
    pub(super) fn reach(&self, preset: &'static Preset) -> Result<Reached<'_>, LlmError> {
        let config = self.config;
        let (base_url, model) = if self.is_default() {
            (
                first_of([&config.base_url, self.variable(preset.base_url_env), preset.base_url]),
                first_of([&config.model, self.variable(preset.model_env), preset.model]),
            )
        } else {
            // The variables are about the default endpoint.
            (first_of([&config.base_url, preset.base_url]), first_of([&config.model, preset.model]))
        };
        let is_configured = !config.base_url.is_empty();
        let is_default = self.is_default();
        let variable = key_variable::choose(
            &config.api_key_env,
            preset,
            BaseUrl { text: base_url, is_configured, is_default },
        );
        let (key_env, withheld) = match variable {
            Variable::Read(key_env) => (key_env, None),
            Variable::Withheld(of) => ("", Some(of).filter(|of| !of.key_env.is_empty())),
        };
        let section = self.section();
        // The credential that nobody names is for the endpoint that `[provider]` names.
        let has_credential = is_default && (is_configured || config.kind != ProviderKind::Auto);
        let key = key::find(&section, config, key_env, has_credential, self.env)?;
        let (api_key, key_place) = key.map(|Key { secret, place }| (secret, place)).unzip();
        // A base URL of one's own may do without.
        let needs_key = base_url == preset.base_url && preset.needs_key
            || preset::of_host(base_url).is_some_and(|owner| owner.needs_key);
        if api_key.is_none() && needs_key {
            let message = format!("set {key_env} or {section}.api_key_file");
            return Err(LlmError::NoKey { message });
        }
        let withheld = withheld.filter(|_| api_key.is_none()).map(|of| {
            let Preset { key_env, base_url: own, .. } = of;
            format!(
                "{key_env} is for {own} and is not sent to {base_url}: name a variable in \
                 {section}.api_key_env, or set {section}.api_key_file"
            )
        });
        Ok(Reached { base_url, model, api_key, key_place, withheld })
    }

    async fn local(&self) -> Result<Found, LlmError> {
        let config = self.config;
        let addresses: Vec<SocketAddr> =
            config.local_servers.iter().filter_map(|address| address.parse().ok()).collect();
        let client = http_client(&timeouts(config), Reach::Loopback)?;
        let Some(server) = probe_local(&addresses, &client).await else {
            return Ok(self.offline("none found"));
        };
        let model = first_of([config.model.as_str(), server.model.as_str()]).to_owned();
        let provider = open(config, ModelApi::ChatCompletions, &server.base_url, None)?;
        tracing::info!(base_url = server.base_url, model, "found a local model server");
        Ok(Found {
            provider,
            responses: None,
            model,
            key_place: None,
            source: "local server".to_owned(),
        })
    }

    fn offline(&self, source: &str) -> Found {
        Found {
            provider: Arc::clone(self.offline),
            responses: None,
            model: "offline".to_owned(),
            key_place: None,
            source: source.to_owned(),
        }
    }

    fn is_default(&self) -> bool {
        self.name == DEFAULT_ENDPOINT
    }

    /// Where its settings stand.
    fn section(&self) -> String {
        if self.is_default() {
            DEFAULT_ENDPOINT.to_owned()
        } else {
            format!("endpoints.{}", self.name)
        }
    }

    fn variable(&self, name: &str) -> &str {
        self.env.get(name).map_or("", str::trim)
    }
}

/// The first model that a server lists and that is not for embeddings; empty when it lists none.
async fn first_model(provider: &dyn Provider) -> String {
    let listed = tokio::time::timeout(MODELS_TIMEOUT, provider.models()).await;
    let names = listed.ok().and_then(Result::ok).unwrap_or_default();
    let is_for_chats = |name: &String| !name.to_ascii_lowercase().contains("embed");
    names.into_iter().find(is_for_chats).unwrap_or_default()
}

/// The provider that speaks an API.
fn open(
    config: &ProviderConfig,
    api: ModelApi,
    base_url: &str,
    api_key: Option<Secret>,
) -> Result<Arc<dyn Provider>, LlmError> {
    match api {
        ModelApi::Messages => {
            let mut options = AnthropicOptions::new(base_url, api_key);
            options.timeouts = timeouts(config);
            options.max_answer_bytes = MAX_ANSWER_BYTES;
            Ok(Arc::new(Anthropic::new(options)?))
        }
        ModelApi::Responses => {
            let mut options = ResponsesOptions::new(base_url, api_key);
            options.timeouts = timeouts(config);
            options.max_answer_bytes = MAX_ANSWER_BYTES;
            Ok(Arc::new(OpenAiResponses::new(options)?))
        }
        ModelApi::ChatCompletions => {
            let mut options = OpenAiOptions::new(base_url, api_key);
            options.timeouts = timeouts(config);
            options.max_answer_bytes = MAX_ANSWER_BYTES;
            Ok(Arc::new(OpenAiCompatible::new(options)?))
        }
    }
}

pub(super) fn timeouts(config: &ProviderConfig) -> Timeouts {
    Timeouts {
        connect: Duration::from_millis(config.connect_timeout_ms),
        first_byte: Duration::from_millis(config.first_byte_timeout_ms),
        idle: Duration::from_millis(config.idle_timeout_ms),
    }
}

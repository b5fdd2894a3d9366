//! Finds the model that answers: flag, configuration, environment, a local server, or none.

mod info;
mod key;
mod learned;
mod preset;
mod stack;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentd_engine::{ModelQuery, ModelSource, ResolvedModel, Role};
use agentd_llm::layers::{Candidate, EndpointState, FallbackPolicy, Stack};
use agentd_llm::{
    LlmError, ModelInfo, Offline, OfflineOptions, OpenAiCompatible, OpenAiOptions, Provider, Reach,
    Timeouts, http_client, probe_local,
};
use async_trait::async_trait;
use tokio::sync::watch;

use crate::config::{Config, ProviderConfig, ProviderKind};
use crate::environment::Environment;
use learned::Learned;
use preset::Preset;
use stack::Endpoints;

/// Longest wait for the list of models in `status`.
const MODELS_TIMEOUT: Duration = Duration::from_secs(2);

/// Most bytes of one answer. It becomes one event, which must fit into a message of the wire (4 MiB)
/// and, with its JSON escapes, into a page of an export.
const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// An endpoint that was found.
#[derive(Debug, Clone)]
struct Found {
    provider: Arc<dyn Provider>,
    model: String,
    source: String,
}

/// What `status` says about the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderReport {
    /// "openai-compatible" or "offline".
    pub kind: String,
    /// Where it is.
    pub base_url: String,
    /// The default model.
    pub model: String,
    /// How it was found.
    pub source: String,
    /// Models to choose from, as far as known.
    pub models: Vec<String>,
    /// Why nothing can be asked now, as far as known.
    pub problem: Option<String>,
}

/// The models of this daemon.
#[derive(Debug)]
pub struct Models {
    config: watch::Receiver<Config>,
    env: Environment,
    offline: Arc<dyn Provider>,
    endpoints: Endpoints,
    /// What was found for the configuration of that version. Offline is not kept, so that a server
    /// that comes up later is found.
    found: Mutex<Option<(ProviderConfig, Found)>>,
    learned: Arc<Learned>,
}

impl Models {
    /// Makes a source that follows the configuration. What it learns about models it keeps in a file,
    /// if there is one.
    pub fn new(
        config: watch::Receiver<Config>,
        env: Environment,
        config_path: String,
        learned_file: Option<PathBuf>,
    ) -> Self {
        let offline = Arc::new(Offline::new(OfflineOptions { config_path }));
        let learned = Arc::new(Learned::open(learned_file));
        let endpoints = Endpoints::default();
        Self { config, env, offline, endpoints, found: Mutex::new(None), learned }
    }

    async fn find(&self) -> Result<Found, LlmError> {
        let config = self.config.borrow().provider.clone();
        if let Some(found) = self.kept(&config) {
            return Ok(found);
        }
        let found = self.search(&config).await?;
        if found.provider.kind() != self.offline.kind() {
            *self.found.lock().unwrap_or_else(PoisonError::into_inner) =
                Some((config, found.clone()));
        }
        Ok(found)
    }

    fn kept(&self, config: &ProviderConfig) -> Option<Found> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.as_ref().filter(|(of, _)| of == config).map(|(_, found)| found.clone())
    }

    async fn search(&self, config: &ProviderConfig) -> Result<Found, LlmError> {
        match config.kind {
            ProviderKind::Offline => Ok(self.offline("config")),
            ProviderKind::Auto if !config.base_url.is_empty() => {
                self.endpoint(config, &preset::OPENAI, "config")
            }
            ProviderKind::Auto => match preset::in_environment(&self.env) {
                Some(preset) => {
                    self.endpoint(config, preset, &format!("environment {}", preset.key_env))
                }
                None => self.local(config).await,
            },
            kind => self.endpoint(config, preset::of_kind(kind), "config"),
        }
    }

    fn endpoint(
        &self,
        config: &ProviderConfig,
        preset: &Preset,
        source: &str,
    ) -> Result<Found, LlmError> {
        let base_url = first_of([
            config.base_url.as_str(),
            self.variable(preset.base_url_env),
            preset.base_url,
        ]);
        let model =
            first_of([config.model.as_str(), self.variable(preset.model_env), preset.model]);
        let api_key = key::find(config, preset, &self.env)?;
        // A key belongs to its provider's own host. A base URL of one's own may do without.
        if api_key.is_none() && base_url == preset.base_url {
            return Err(LlmError::NoKey {
                message: format!(
                    "set {} or provider.api_key_file",
                    first_of([config.api_key_env.as_str(), preset.key_env])
                ),
            });
        }
        let provider = open_ai(config, base_url, api_key)?;
        Ok(Found { provider, model: model.to_owned(), source: source.to_owned() })
    }

    async fn local(&self, config: &ProviderConfig) -> Result<Found, LlmError> {
        let addresses: Vec<SocketAddr> =
            config.local_servers.iter().filter_map(|address| address.parse().ok()).collect();
        let client = http_client(&timeouts(config), Reach::Loopback)?;
        let Some(server) = probe_local(&addresses, &client).await else {
            return Ok(self.offline("none found"));
        };
        let model = first_of([config.model.as_str(), server.model.as_str()]).to_owned();
        let provider = open_ai(config, &server.base_url, None)?;
        tracing::info!(base_url = server.base_url, model, "found a local model server");
        Ok(Found { provider, model, source: "local server".to_owned() })
    }

    fn offline(&self, source: &str) -> Found {
        Found {
            provider: Arc::clone(&self.offline),
            model: "offline".to_owned(),
            source: source.to_owned(),
        }
    }

    fn variable(&self, name: &str) -> &str {
        self.env.get(name).map_or("", str::trim)
    }

    /// Forgets what was found, so that the next turn looks again.
    pub fn forget(&self) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.endpoints.forget_idle();
    }

    /// What the endpoints in use are doing.
    pub fn endpoints(&self) -> Vec<EndpointState> {
        self.endpoints.states()
    }

    /// A provider with the layers around it.
    fn layered(
        &self,
        provider: Arc<dyn Provider>,
        model: &str,
        info: &Arc<ModelInfo>,
        config: &ProviderConfig,
    ) -> Arc<dyn Provider> {
        let endpoint = self.endpoints.at(provider.base_url(), config);
        let first = Candidate {
            model: model.to_owned(),
            info: Arc::clone(info),
            provider,
            endpoint,
            retry: stack::retry(config),
            max_output_tokens: None,
            effort: None,
        };
        Arc::new(Stack::new(first, Vec::new(), FallbackPolicy::default()))
    }

    /// What `status` says. An endpoint that cannot be used is named with the reason.
    pub async fn report(&self) -> ProviderReport {
        let found = match self.find().await {
            Ok(found) => found,
            Err(error) => {
                return ProviderReport {
                    kind: "none".to_owned(),
                    source: error.to_string(),
                    ..Default::default()
                };
            }
        };
        let listed = tokio::time::timeout(MODELS_TIMEOUT, found.provider.models()).await;
        // The list is a help for choosing: an endpoint without one can still answer.
        let (models, problem) = match listed {
            Ok(Ok(models)) => (models, None),
            Ok(Err(error @ (LlmError::Connect { .. } | LlmError::Auth { .. }))) => {
                (Vec::new(), Some(error.to_string()))
            }
            Ok(Err(_no_list)) => (Vec::new(), None),
            Err(_silent) => (Vec::new(), Some("the provider does not answer".to_owned())),
        };
        ProviderReport {
            kind: found.provider.kind().to_owned(),
            base_url: found.provider.base_url().to_owned(),
            model: found.model,
            source: found.source,
            models,
            problem,
        }
    }
}

#[async_trait]
impl ModelSource for Models {
    async fn resolve(&self, query: &ModelQuery) -> Result<ResolvedModel, LlmError> {
        let ModelQuery { role, model, effort } = query;
        let found = self.find().await?;
        let config = self.config.borrow().provider.clone();
        let is_offline = found.provider.kind() == self.offline.kind();
        let model =
            if is_offline { &found.model } else { first_of([model.as_str(), &found.model]) };
        let model = match role {
            Role::Cheap => first_of([config.cheap_model.as_str(), model]).to_owned(),
            Role::Main | Role::Embedding | Role::Judge => model.to_owned(),
        };
        let info = Arc::new(info::find(&model, &*found.provider, &config, &self.learned));
        let most = (config.max_output_tokens > 0).then_some(config.max_output_tokens);
        // The offline engine has nothing that could fail or run short.
        let provider = if is_offline {
            found.provider
        } else {
            self.layered(found.provider, &model, &info, &config)
        };
        Ok(ResolvedModel {
            provider,
            model,
            context_tokens: info.context_tokens,
            max_output_tokens: info::output_limit(most, &info),
            effort: effort.map(|effort| info.effort_choice(effort)),
            info,
        })
    }

    fn learn_context_limit(&self, provider_base_url: &str, model: &str, tokens: u64) {
        if !self.learned.learn(provider_base_url, model, tokens) {
            return;
        }
        tracing::info!(base_url = provider_base_url, model, tokens, "learned the model's window");
        let learned = Arc::clone(&self.learned);
        let save = move || {
            if let Err(error) = learned.save() {
                tracing::warn!(%error, "what was learned about a model is not kept");
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(save)),
            Err(_no_runtime) => save(),
        }
    }
}

fn open_ai(
    config: &ProviderConfig,
    base_url: &str,
    api_key: Option<agentd_llm::Secret>,
) -> Result<Arc<dyn Provider>, LlmError> {
    let mut options = OpenAiOptions::new(base_url, api_key);
    options.timeouts = timeouts(config);
    options.max_answer_bytes = MAX_ANSWER_BYTES;
    Ok(Arc::new(OpenAiCompatible::new(options)?))
}

fn timeouts(config: &ProviderConfig) -> Timeouts {
    Timeouts {
        connect: Duration::from_millis(config.connect_timeout_ms),
        first_byte: Duration::from_millis(config.first_byte_timeout_ms),
        idle: Duration::from_millis(config.idle_timeout_ms),
    }
}

/// The first text that is not empty; empty when all are.
fn first_of<const N: usize>(texts: [&str; N]) -> &str {
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests;

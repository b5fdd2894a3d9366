//! Finds the model that answers: flag, configuration, environment, a local server, or none.

mod assign;
mod embedder;
mod endpoint;
mod info;
mod key;
mod key_variable;
mod learned;
mod left_alone;
mod list;
mod local_embedder;
mod preset;
mod report;
mod stack;
mod unusable;
mod withheld;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agentd_domain::Effort;
use agentd_engine::{ModelQuery, ModelSource, ResolvedModel, SystemClock};
use agentd_llm::layers::{Candidate, EndpointState, FallbackPolicy, Stack};
use agentd_llm::{LlmError, Meter, ModelApi, Offline, OfflineOptions, Provider};
use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::sync::watch;

pub use list::{ListedModel, ModelList, RoleModel};
pub use report::ProviderReport;
pub(crate) use unusable::Unusable;

use crate::config::{Config, ProviderConfig};
use crate::environment::Environment;
use assign::{Assignment, Place};
use endpoint::{Found, Search};
use learned::Learned;
use left_alone::LeftAlone;
use stack::Endpoints;

/// The models of this daemon.
#[derive(Debug)]
pub struct Models {
    config: watch::Receiver<Config>,
    env: Environment,
    offline: Arc<dyn Provider>,
    endpoints: Endpoints,
    /// What was found under a name, and for which settings. Offline is not kept, nor what has no model
    /// yet, so that a server that comes up later is found.
    found: Mutex<BTreeMap<String, (ProviderConfig, Found)>>,
    learned: Arc<Learned>,
    /// Fallbacks that could not be asked.
    left_alone: LeftAlone,
    /// Who is told of every request.
    watcher: Option<Arc<dyn Meter>>,
    #[cfg(feature = "local-embeddings")]
    last_read: local_embedder::LastRead,
}

impl Models {
    /// Makes a source that follows the configuration. What it learns about models it keeps in a file,
    /// if there is one, and believes for a week of the system's clock.
    pub fn new(
        config: watch::Receiver<Config>,
        env: Environment,
        config_path: String,
        learned_file: Option<PathBuf>,
    ) -> Self {
        let offline = Arc::new(Offline::new(OfflineOptions { config_path }));
        let learned = Arc::new(Learned::open(learned_file, Arc::new(SystemClock)));
        let endpoints = Endpoints::default();
        let (found, left_alone) = (Mutex::default(), LeftAlone::default());
        Self {
            config,
            env,
            offline,
            endpoints,
            found,
            learned,
            left_alone,
            watcher: None,
            #[cfg(feature = "local-embeddings")]
            last_read: local_embedder::LastRead::default(),
        }
    }

    /// Tells `watcher` of every request.
    #[must_use]
    pub fn watched_by(mut self, watcher: Arc<dyn Meter>) -> Self {
        self.watcher = Some(watcher);
        self
    }

    /// Finds an endpoint by name, and its own model.
    async fn find(&self, name: &str) -> Result<Found, LlmError> {
        self.find_place(&Place { endpoint: name.to_owned(), model: String::new() }).await
    }

    /// Finds the endpoint of a place. It is asked for a model only when the place names none.
    async fn find_place(&self, place: &Place) -> Result<Found, LlmError> {
        let (name, wants_model) = (place.endpoint.as_str(), place.model.is_empty());
        let config = self.config.borrow().endpoint(name).cloned();
        let Some(config) = config else {
            let message = format!("there is no endpoint '{name}' in the configuration");
            return Err(LlmError::NotFound { message });
        };
        if let Some(found) = self.kept(name, &config)
            && !(wants_model && found.model.is_empty())
        {
            return Ok(found);
        }
        let (env, offline) = (&self.env, &self.offline);
        let found = Search { name, config: &config, env, wants_model, offline }.run().await?;
        let lacks_model = wants_model && found.model.is_empty();
        if !self.is_offline(&*found.provider) && !lacks_model {
            let mut kept = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(name.to_owned(), (config, found.clone()));
        }
        Ok(found)
    }

    fn kept(&self, name: &str, config: &ProviderConfig) -> Option<Found> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(name).filter(|(of, _)| of == config).map(|(_, found)| found.clone())
    }

    fn is_offline(&self, provider: &dyn Provider) -> bool {
        provider.kind() == self.offline.kind()
    }

    /// Where the main role's key was found, by the name of a file or a variable; none when there is
    /// none.
    pub(crate) async fn key_place(&self) -> Option<String> {
        let config = self.config.borrow().clone();
        let place = assign::assign(&config, &ModelQuery::default()).first;
        self.find(&place.endpoint).await.ok()?.key_place
    }

    /// Forgets what was found, so that the next turn looks again.
    pub fn forget(&self) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.left_alone.clear();
        self.endpoints.forget_idle();
    }

    /// What the endpoints in use are doing.
    pub fn endpoints(&self) -> Vec<EndpointState> {
        self.endpoints.states()
    }

    /// A model that may answer, with everything that its requests need.
    async fn candidate(
        &self,
        config: &Config,
        place: &Place,
        max_output_tokens: Option<u32>,
        effort: Option<Effort>,
    ) -> Result<Candidate, LlmError> {
        let Found { provider, responses, model, .. } = self.find_place(place).await?;
        let settings = config.endpoint(&place.endpoint).unwrap_or(&config.provider);
        // The offline engine is its own and only model.
        let model = if self.is_offline(&*provider) {
            model
        } else {
            first_of([&place.model, &model]).to_owned()
        };
        if model.is_empty() {
            let message =
                format!("{} offers no model; name one, such as with /model", provider.base_url());
            return Err(LlmError::NotFound { message });
        }
        let place = Place { endpoint: place.endpoint.clone(), model };
        let info = info::find(&place, &*provider, config, &self.learned);
        let provider = responses.filter(|_| info.api == ModelApi::Responses).unwrap_or(provider);
        let configured = Some(settings.max_output_tokens).filter(|most| *most > 0);
        Ok(Candidate {
            endpoint: self.endpoints.at(provider.base_url(), settings),
            retry: stack::retry(settings),
            max_output_tokens: info::output_limit(max_output_tokens.or(configured), &info),
            effort: effort.and_then(|effort| info.effort_choice(effort).effective),
            model: place.model,
            info: Arc::new(info),
            provider,
        })
    }

    /// The candidates that can be asked, looked for at once, so that a server that does not answer delays
    /// a turn no more than once in a while. What is wrong with the others goes to the log.
    async fn fallbacks(&self, config: &Config, assignment: &Assignment) -> Vec<Candidate> {
        let Assignment { first: _, fallbacks, max_output_tokens, effort } = assignment;
        let found = join_all(fallbacks.iter().map(async |place| {
            let settings = config.endpoint(&place.endpoint);
            if self.left_alone.holds(place, settings) {
                return None;
            }
            let found = self.candidate(config, place, *max_output_tokens, *effort).await;
            let problem = match found {
                Ok(candidate) if !self.is_offline(&*candidate.provider) => return Some(candidate),
                Ok(_offline) => "there is no server".to_owned(),
                Err(error) => error.to_string(),
            };
            tracing::warn!(?place, problem, "a fallback model cannot be asked");
            self.left_alone.put(place, settings);
            None
        }));
        found.await.into_iter().flatten().collect()
    }
}

#[async_trait]
impl ModelSource for Models {
    async fn resolve(&self, query: &ModelQuery) -> Result<ResolvedModel, LlmError> {
        let config = self.config.borrow().clone();
        let assignment = assign::assign(&config, query);
        let Assignment { first, fallbacks: _, max_output_tokens, effort } = &assignment;
        let first = self.candidate(&config, first, *max_output_tokens, *effort).await?;
        let (model, info) = (first.model.clone(), Arc::clone(&first.info));
        let max_output_tokens = first.max_output_tokens;
        // The offline engine has nothing that could fail or run short.
        let provider: Arc<dyn Provider> = if self.is_offline(&*first.provider) {
            first.provider
        } else {
            let fallbacks = self.fallbacks(&config, &assignment).await;
            let stack = Stack::new(first, fallbacks, FallbackPolicy::default());
            match &self.watcher {
                Some(watcher) => Arc::new(stack.watched_by(Arc::clone(watcher))),
                None => Arc::new(stack),
            }
        };
        Ok(ResolvedModel {
            provider,
            model,
            context_tokens: info.context_tokens,
            max_output_tokens,
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

/// The first text that is not empty; empty when all are.
fn first_of<const N: usize>(texts: [&str; N]) -> &str {
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests;

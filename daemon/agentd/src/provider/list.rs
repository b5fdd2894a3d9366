//! The models that can be chosen, what is known of them, and who has which role.

use std::collections::BTreeMap;

use agentd_engine::{ModelQuery, Role};
use agentd_llm::{Catalogue, InfoSource, ModelInfo};
use futures_util::future::join_all;

use super::assign::{Place, assign};
use super::endpoint::{Found, MODELS_TIMEOUT};
use super::{Models, first_of, info};
use crate::config::{Config, DEFAULT_ENDPOINT};

/// Most models in a list.
const MAX_LISTED: usize = 500;

/// The models and the roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelList {
    /// Those that can be asked now first, by name.
    pub models: Vec<ListedModel>,
    /// Who has which role.
    pub roles: Vec<RoleModel>,
}

/// A model in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// As users write it: "model" at the default endpoint, else "endpoint/model".
    pub name: String,
    /// An endpoint offers it.
    pub is_available: bool,
    /// What is known of it.
    pub info: ModelInfo,
}

/// The model of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleModel {
    /// The role's name in the configuration.
    pub role: &'static str,
    /// Where it is asked; empty when the role has no model.
    pub base_url: String,
    /// Its name there.
    pub model: String,
    /// Models that are asked when it cannot answer.
    pub fallbacks: Vec<String>,
}

impl Models {
    /// Lists the models of all endpoints, of the configuration and of the catalogue. An endpoint that
    /// does not answer in two seconds has only its own model.
    pub async fn list(&self) -> ModelList {
        let config = self.config.borrow().clone();
        let names =
            std::iter::once(DEFAULT_ENDPOINT).chain(config.endpoints.keys().map(String::as_str));
        let offered = join_all(names.map(|name| self.offered(&config, name))).await;
        let mut listed: BTreeMap<String, ListedModel> =
            offered.into_iter().flatten().map(|model| (model.name.clone(), model)).collect();
        let own = config.models.keys().map(String::as_str);
        for name in own.chain(Catalogue::builtin().names()) {
            listed.entry(name.to_owned()).or_insert_with(|| ListedModel {
                name: name.to_owned(),
                is_available: false,
                info: match config.models.get(name) {
                    Some(facts) => info::known(name).with(facts, InfoSource::Config),
                    None => info::known(name),
                },
            });
        }
        let mut models: Vec<ListedModel> = listed.into_values().collect();
        // Stable: by name within each half.
        models.sort_by_key(|model| !model.is_available);
        models.truncate(MAX_LISTED);
        ModelList { models, roles: self.roles(&config).await }
    }

    /// What an endpoint offers; nothing when it cannot be used.
    async fn offered(&self, config: &Config, endpoint: &str) -> Vec<ListedModel> {
        let Ok(Found { provider, model, .. }) = self.find(endpoint).await else {
            return Vec::new();
        };
        if self.is_offline(&*provider) {
            return Vec::new();
        }
        let listed = tokio::time::timeout(MODELS_TIMEOUT, provider.models()).await;
        let mut names = listed.ok().and_then(Result::ok).unwrap_or_default();
        // A list that is there is believed; without one the endpoint's own model is all that is known.
        if names.is_empty() && !model.is_empty() {
            names.push(model);
        }
        let models = names.into_iter().map(|model| {
            let name = match endpoint {
                DEFAULT_ENDPOINT => model.clone(),
                other => format!("{other}/{model}"),
            };
            let place = Place { endpoint: endpoint.to_owned(), model };
            let info = info::find(&place, &*provider, config, &self.learned);
            ListedModel { name, is_available: true, info }
        });
        models.collect()
    }

    async fn roles(&self, config: &Config) -> Vec<RoleModel> {
        let roles = [
            ("main", Role::Main),
            ("cheap", Role::Cheap),
            ("embedding", Role::Embedding),
            ("judge", Role::Judge),
        ];
        join_all(roles.map(|(name, role)| self.role(config, name, role))).await
    }

    async fn role(&self, config: &Config, name: &'static str, role: Role) -> RoleModel {
        let nobody = RoleModel {
            role: name,
            base_url: String::new(),
            model: String::new(),
            fallbacks: Vec::new(),
        };
        // A model that answers makes no vectors: this role has a model only where one is named.
        if role == Role::Embedding && !config.roles.embedding.is_set() {
            return nobody;
        }
        let assignment = assign(config, &ModelQuery { role, ..ModelQuery::default() });
        let Ok(found) = self.find_place(&assignment.first).await else { return nobody };
        let fallbacks =
            assignment.fallbacks.into_iter().map(|place| match place.endpoint.as_str() {
                DEFAULT_ENDPOINT => place.model,
                endpoint => format!("{endpoint}/{}", place.model),
            });
        let is_offline = self.is_offline(&*found.provider);
        let wanted = if is_offline { "" } else { assignment.first.model.as_str() };
        RoleModel {
            role: name,
            base_url: found.provider.base_url().to_owned(),
            model: first_of([wanted, &found.model]).to_owned(),
            fallbacks: fallbacks.collect(),
        }
    }
}

//! `[endpoints]`, `[roles]` and `[models]`: who is asked for what.

use std::collections::BTreeMap;

use agentd_domain::Effort;
use agentd_engine::Role;
use agentd_llm::{EffortForm, ModelFacts};
use serde::{Deserialize, Serialize};

use super::schema::BadValue;
use super::{Config, ProviderConfig, ProviderKind};

/// The name of the endpoint that `[provider]` describes.
pub const DEFAULT_ENDPOINT: &str = "provider";
/// Most endpoints, own models and fallbacks of a role.
const MAX_ENDPOINTS: usize = 50;
const MAX_MODELS: usize = 500;
const MAX_FALLBACKS: usize = 10;

/// `[roles.NAME]` for each role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RolesConfig {
    /// Answers users.
    pub main: RoleConfig,
    /// Does what a small model does well.
    pub cheap: RoleConfig,
    /// Makes vectors of texts.
    pub embedding: RoleConfig,
    /// Judges answers.
    pub judge: RoleConfig,
}

impl RolesConfig {
    /// The settings of a role.
    pub fn of(&self, role: Role) -> &RoleConfig {
        match role {
            Role::Main => &self.main,
            Role::Cheap => &self.cheap,
            Role::Embedding => &self.embedding,
            Role::Judge => &self.judge,
        }
    }
}

/// `[roles.NAME]`: which model has a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleConfig {
    /// Name of the endpoint: "provider" or one of `[endpoints]`.
    pub endpoint: String,
    /// Model; empty: the endpoint's own, for the other roles the main role's.
    pub model: String,
    /// Most tokens of an answer; 0: the endpoint's setting.
    pub max_output_tokens: u32,
    /// How long the model reasons unless a session says otherwise; empty: its own default.
    pub effort: String,
    /// Models that are asked when it cannot answer, in order: "model" or "endpoint/model".
    pub fallbacks: Vec<String>,
}

impl Default for RoleConfig {
    fn default() -> Self {
        Self {
            endpoint: DEFAULT_ENDPOINT.to_owned(),
            model: String::new(),
            max_output_tokens: 0,
            effort: String::new(),
            fallbacks: Vec::new(),
        }
    }
}

impl RoleConfig {
    /// True when it names a model of its own, if only by its endpoint.
    pub fn is_set(&self) -> bool {
        !self.model.is_empty() || self.endpoint != DEFAULT_ENDPOINT
    }

    /// The effort, if one is set. Checked when the configuration is read.
    pub fn effort(&self) -> Option<Effort> {
        self.effort.parse().ok()
    }
}

impl Config {
    /// The settings of an endpoint.
    pub fn endpoint(&self, name: &str) -> Option<&ProviderConfig> {
        if name == DEFAULT_ENDPOINT { Some(&self.provider) } else { self.endpoints.get(name) }
    }

    /// Splits "endpoint/model". What stands before the slash is an endpoint only where there is one:
    /// gateways have slashes in the names of their models.
    pub fn split_model<'m>(&self, name: &'m str) -> (Option<&'m str>, &'m str) {
        match name.split_once('/') {
            Some((endpoint, model)) if self.endpoint(endpoint).is_some() && !model.is_empty() => {
                (Some(endpoint), model)
            }
            _ => (None, name),
        }
    }

    /// Checks what types do not express.
    pub(super) fn check_roles(&self) -> Result<(), BadValue> {
        count("endpoints", self.endpoints.len(), MAX_ENDPOINTS)?;
        count("models", self.models.len(), MAX_MODELS)?;
        for (name, endpoint) in &self.endpoints {
            check_endpoint(name, endpoint)?;
        }
        for (name, facts) in &self.models {
            check_facts(&format!("models.{}", super::load::shown_segment(name)), facts)?;
        }
        for (name, role) in [
            ("main", &self.roles.main),
            ("cheap", &self.roles.cheap),
            ("embedding", &self.roles.embedding),
            ("judge", &self.roles.judge),
        ] {
            self.check_role(&format!("roles.{name}"), role)?;
        }
        Ok(())
    }

    fn check_role(&self, key: &str, role: &RoleConfig) -> Result<(), BadValue> {
        let RoleConfig { endpoint, model: _, max_output_tokens: _, effort, fallbacks } = role;
        if self.endpoint(endpoint).is_none() {
            let known: Vec<&str> = std::iter::once(DEFAULT_ENDPOINT)
                .chain(self.endpoints.keys().map(String::as_str))
                .collect();
            let problem = format!("there is no endpoint '{endpoint}'; known: {}", known.join(", "));
            return Err(BadValue::new(format!("{key}.endpoint"), problem));
        }
        if !effort.is_empty()
            && let Err(error) = effort.parse::<Effort>()
        {
            return Err(BadValue::new(format!("{key}.effort"), format!("'{effort}' {error}")));
        }
        count(&format!("{key}.fallbacks"), fallbacks.len(), MAX_FALLBACKS)?;
        if fallbacks.iter().any(|fallback| fallback.trim().is_empty()) {
            let problem = "a name is empty; remove it".to_owned();
            return Err(BadValue::new(format!("{key}.fallbacks"), problem));
        }
        Ok(())
    }
}

fn count(key: &str, number: usize, most: usize) -> Result<(), BadValue> {
    if number <= most {
        return Ok(());
    }
    Err(BadValue::new(key.to_owned(), format!("has {number} entries, of which {most} are taken")))
}

fn check_endpoint(name: &str, endpoint: &ProviderConfig) -> Result<(), BadValue> {
    let key = format!("endpoints.{}", super::load::shown_segment(name));
    let is_legal = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
    if name == DEFAULT_ENDPOINT || name.is_empty() || !name.chars().all(is_legal) {
        let problem = "is no name for an endpoint: use letters, digits, '-', '_' and '.', \
                       and not \"provider\", which is the section [provider]";
        return Err(BadValue::new(key, problem.to_owned()));
    }
    if endpoint.kind == ProviderKind::Auto && endpoint.base_url.is_empty() {
        let problem = "an endpoint needs a kind or a base_url".to_owned();
        return Err(BadValue::new(format!("{key}.kind"), problem));
    }
    if !endpoint.cheap_model.is_empty() {
        let problem = "is for [provider] only; use roles.cheap".to_owned();
        return Err(BadValue::new(format!("{key}.cheap_model"), problem));
    }
    endpoint.check(&key)
}

fn check_facts(key: &str, facts: &ModelFacts) -> Result<(), BadValue> {
    if let Some(tokens) = facts.context_tokens
        && !(1_024..=100_000_000).contains(&tokens)
    {
        let problem = format!("{tokens} is not between 1024 and 100000000");
        return Err(BadValue::new(format!("{key}.context_tokens"), problem));
    }
    if facts.max_output_tokens == Some(0) {
        let problem = "0 is no limit of an answer; leave the key out".to_owned();
        return Err(BadValue::new(format!("{key}.max_output_tokens"), problem));
    }
    let (Some(form), Some(efforts)) = (facts.effort_form, &facts.efforts) else { return Ok(()) };
    let wants_budgets = form == EffortForm::Budget;
    if efforts.values().any(|value| value.budget().is_some() != wants_budgets) {
        let wanted = if wants_budgets { "numbers of tokens" } else { "words" };
        let problem = format!("the values must be {wanted}, as effort_form says");
        return Err(BadValue::new(format!("{key}.efforts"), problem));
    }
    Ok(())
}

/// Own endpoints, by name.
pub type Endpoints = BTreeMap<String, ProviderConfig>;
/// What is known of models beyond the catalogue, by name.
pub type OwnModels = BTreeMap<String, ModelFacts>;

//! Roles and fallbacks that are configured and have nobody behind them.

use agentd_engine::{ModelQuery, Role};

use super::assign::{self, Assignment, Place};
use super::{LlmError, Models};
use crate::config::{Config, DEFAULT_ENDPOINT};

/// Something of `[roles]` that cannot be asked.
#[derive(Debug)]
pub(crate) struct Unusable {
    /// Its key in the configuration.
    pub(crate) key: String,
    /// What stands there.
    pub(crate) model: String,
    /// Why it cannot be asked; none: nothing but the offline engine is there.
    pub(crate) error: Option<LlmError>,
    /// Others can still do what it is for.
    pub(crate) is_fallback: bool,
}

impl Models {
    /// Everything in `[roles]` that cannot be asked. The main role's own model is left out: whoever
    /// asks for that is told.
    pub(crate) async fn unusable(&self) -> Vec<Unusable> {
        let config = self.config.borrow().clone();
        let mut unusable = Vec::new();
        for (name, role) in [
            ("main", Role::Main),
            ("cheap", Role::Cheap),
            ("embedding", Role::Embedding),
            ("judge", Role::Judge),
        ] {
            let Assignment { first, fallbacks, .. } =
                assign::assign(&config, &ModelQuery { role, ..ModelQuery::default() });
            let own = config.roles.of(role);
            let is_set = own.is_set() && role != Role::Main;
            let fallbacks = if own.fallbacks.is_empty() { Vec::new() } else { fallbacks };
            let places = std::iter::once((format!("roles.{name}.model"), first, false))
                .filter(|_| is_set)
                .chain(
                    fallbacks
                        .into_iter()
                        .map(|place| (format!("roles.{name}.fallbacks"), place, true)),
                );
            for (key, place, is_fallback) in places {
                if let Some(error) = self.problem(&config, &place).await {
                    let model = shown(&place);
                    unusable.push(Unusable { key, model, error, is_fallback });
                }
            }
        }
        unusable
    }

    /// Why a place cannot be asked; an error of its own where only the offline engine is there.
    async fn problem(&self, config: &Config, place: &Place) -> Option<Option<LlmError>> {
        match self.candidate(config, place, None, None).await {
            Ok(candidate) if self.is_offline(&*candidate.provider) => Some(None),
            Ok(_usable) => None,
            Err(error) => Some(Some(error)),
        }
    }
}

fn shown(Place { endpoint, model }: &Place) -> String {
    match (endpoint.as_str(), model.as_str()) {
        (DEFAULT_ENDPOINT, model) => model.to_owned(),
        (endpoint, "") => endpoint.to_owned(),
        (endpoint, model) => format!("{endpoint}/{model}"),
    }
}

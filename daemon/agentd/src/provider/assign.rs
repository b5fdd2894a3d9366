//! Who is asked: from a role and a session's wish to the name of an endpoint and a model.

use agentd_domain::Effort;
use agentd_engine::{ModelQuery, Role};

use crate::config::{Config, DEFAULT_ENDPOINT, RoleConfig};

/// A model at an endpoint, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// "provider" or one of `[endpoints]`.
    pub(super) endpoint: String,
    /// Empty: the endpoint's own.
    pub(super) model: String,
}

impl Place {
    fn of(config: &Config, name: &str, default_endpoint: &str) -> Self {
        let (endpoint, model) = config.split_model(name);
        Self { endpoint: endpoint.unwrap_or(default_endpoint).to_owned(), model: model.to_owned() }
    }

    fn of_role(config: &Config, role: &RoleConfig) -> Self {
        Self::of(config, &role.model, &role.endpoint)
    }
}

/// Who is asked, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) first: Place,
    /// Who is asked when the first cannot answer, in order.
    pub(super) fallbacks: Vec<Place>,
    /// Most tokens of an answer; none: the endpoint's setting.
    pub(super) max_output_tokens: Option<u32>,
    pub(super) effort: Option<Effort>,
}

/// Says who is asked.
pub(super) fn assign(config: &Config, query: &ModelQuery) -> Assignment {
    let ModelQuery { role, model, effort } = query;
    let own = config.roles.of(*role);
    let main = &config.roles.main;
    let cheap_model = config.provider.cheap_model.as_str();
    let first = match role {
        Role::Cheap | Role::Embedding | Role::Judge if own.is_set() => Place::of_role(config, own),
        Role::Cheap if !cheap_model.is_empty() => Place::of(config, cheap_model, DEFAULT_ENDPOINT),
        Role::Main | Role::Cheap | Role::Embedding | Role::Judge if !model.is_empty() => {
            Place::of(config, model, &main.endpoint)
        }
        Role::Main | Role::Cheap | Role::Embedding | Role::Judge => Place::of_role(config, main),
    };
    // Who has the main role's model has its fallbacks too.
    let from = if own.fallbacks.is_empty() && !own.is_set() { main } else { own };
    let fallbacks = from.fallbacks.iter().map(|name| Place::of(config, name, &from.endpoint));
    Assignment {
        fallbacks: fallbacks.filter(|place| *place != first).collect(),
        first,
        max_output_tokens: Some(own.max_output_tokens).filter(|most| *most > 0),
        effort: effort.or_else(|| own.effort()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
        [endpoints.home]
        kind = "ollama"
        [roles.main]
        model = "large"
        effort = "high"
        max_output_tokens = 9
        fallbacks = ["small", "home/qwen3", "anthropic/claude"]
        [roles.judge]
        endpoint = "home"
    "#;

    /// The endpoint and model of a role, then the fallbacks.
    fn check(config: &str, role: Role, model: &str, expect: &str) {
        let config: Config = toml::from_str(config).unwrap();
        let query = ModelQuery { role, model: model.to_owned(), effort: None };
        let Assignment { first, fallbacks, .. } = assign(&config, &query);
        let places = std::iter::once(first).chain(fallbacks);
        let places = places.map(|place| format!("{}>{}", place.endpoint, place.model));
        assert_eq!(places.collect::<Vec<_>>().join(" "), expect, "{role:?} {model:?}");
    }

    #[test]
    fn a_session_s_model_comes_before_the_role_s_and_may_name_its_endpoint() {
        let fallbacks = "provider>small home>qwen3 provider>anthropic/claude";
        check(CONFIG, Role::Main, "", &format!("provider>large {fallbacks}"));
        check(CONFIG, Role::Main, "mine", &format!("provider>mine {fallbacks}"));
        check(CONFIG, Role::Main, "home/mine", &format!("home>mine {fallbacks}"));
        check(CONFIG, Role::Main, "openai/gpt", &format!("provider>openai/gpt {fallbacks}"));
        check(
            CONFIG,
            Role::Main,
            "home/qwen3",
            "home>qwen3 provider>small provider>anthropic/claude",
        );
    }

    #[test]
    fn a_role_without_a_model_has_the_session_s_or_the_main_role_s() {
        check(CONFIG, Role::Judge, "mine", "home>");
        let cheap = |config: &str, expect: &str| check(config, Role::Cheap, "mine", expect);
        cheap("", "provider>mine");
        cheap("provider.cheap_model = \"tiny\"", "provider>tiny");
        cheap("provider.cheap_model = \"tiny\"\nroles.cheap.model = \"mini\"", "provider>mini");
        check("roles.main.model = \"large\"", Role::Cheap, "", "provider>large");
        check("", Role::Embedding, "", "provider>");
    }

    #[test]
    fn a_session_s_effort_comes_before_the_role_s() {
        let config: Config = toml::from_str(CONFIG).unwrap();
        let check = |role, effort, expect: (Option<Effort>, Option<u32>)| {
            let query = ModelQuery { role, model: String::new(), effort };
            let Assignment { effort, max_output_tokens, .. } = assign(&config, &query);
            assert_eq!((effort, max_output_tokens), expect, "{role:?}");
        };
        check(Role::Main, None, (Some(Effort::High), Some(9)));
        check(Role::Main, Some(Effort::Low), (Some(Effort::Low), Some(9)));
        check(Role::Cheap, None, (None, None));
    }
}

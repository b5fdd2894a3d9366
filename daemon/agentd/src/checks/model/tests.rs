use tokio::sync::watch;

use super::*;
use crate::config::Config;

async fn check(config: &str, env: &[(&str, &str)]) -> Vec<Check> {
    let config: Config = toml::from_str(config).unwrap();
    let (_tx, config) = watch::channel(config);
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let models = Models::new(config, env, "config.toml".to_owned(), None);
    checks(&models, false).await
}

fn of<'c>(checks: &'c [Check], name: &str) -> &'c Check {
    checks.iter().find(|check| check.name == name).unwrap()
}

const BASE: &str = "provider.base_url = \"http://127.0.0.1:9/v1\"\n";

#[tokio::test]
async fn the_window_is_told_with_where_it_is_from() {
    let window = |model: &str, rest: &str| {
        let config = format!("{BASE}provider.model = \"{model}\"\n{rest}");
        async move { of(&check(&config, &[]).await, MODEL).clone() }
    };
    let unknown = window("mine", "").await;
    assert_eq!(unknown.outcome, Outcome::Warn);
    assert_eq!(
        unknown.detail,
        "mine: 32768 tokens of context (assumed, because the model is not known); tools yes, images no, effort \
         cannot be chosen, price not known"
    );
    assert_eq!(unknown.remedy, "set context_tokens in [models.\"mine\"] of the configuration");
    // A price alone says nothing of the window.
    let priced = window("mine", "models.mine.prices = { prompt = 1.0, completion = 2.0 }").await;
    assert_eq!(priced.outcome, Outcome::Warn);
    assert!(priced.detail.ends_with("price known"), "{priced:?}");
    let configured = window("mine", "models.mine.context_tokens = 9000").await;
    assert_eq!(configured.outcome, Outcome::Ok);
    assert!(configured.detail.contains("9000 tokens of context (configured)"), "{configured:?}");
    let known = window("gpt-5", "").await;
    assert_eq!(known.outcome, Outcome::Ok);
    for expect in ["(from the catalogue)", "images yes", "effort minimal, low, medium, high"] {
        assert!(known.detail.contains(expect), "{known:?}");
    }
}

#[tokio::test]
async fn a_key_is_named_by_its_place_and_never_told() {
    let config = format!("{BASE}provider.model = \"mine\"\nprovider.api_key_env = \"MY_KEY\"");
    let found = check(&config, &[("MY_KEY", "sk-secret")]).await;
    assert_eq!(of(&found, KEY).detail, "there is one in the variable MY_KEY; it was not tried");
    let url = "http://127.0.0.1:9/v1";
    let endpoint = Check::ok(ENDPOINT, "");
    let taken = key(Some("the file /k"), url, &endpoint, false);
    assert_eq!(taken.detail, format!("{url} takes the one in the file /k"));
    let refused = key(Some("the file /k"), url, &Check::fail(ENDPOINT, "", ""), true);
    assert_eq!(refused.outcome, Outcome::Fail);
    assert_eq!(
        key(None, url, &endpoint, false).detail,
        format!("there is none, and {url} wants none")
    );
}

#[tokio::test]
async fn roles_and_fallbacks_that_cannot_be_asked_are_named() {
    let config = |roles: &str| {
        format!(
            "{BASE}provider.model = \"mine\"\nendpoints.deep.kind = \"deepseek\"\n\
             endpoints.none.local_servers = []\n{roles}"
        )
    };
    let roles_of = |roles: &str| {
        let config = config(roles);
        async move { of(&check(&config, &[]).await, ROLES).clone() }
    };
    assert_eq!(roles_of("").await.outcome, Outcome::Ok);
    assert_eq!(roles_of("roles.main.fallbacks = [\"other\"]").await.outcome, Outcome::Ok);
    let fallback = roles_of("roles.main.fallbacks = [\"other\", \"deep/deepseek-chat\"]").await;
    assert_eq!(fallback.outcome, Outcome::Warn);
    assert!(
        fallback.detail.starts_with("roles.main.fallbacks deep/deepseek-chat: "),
        "{fallback:?}"
    );
    assert!(fallback.detail.contains("DEEPSEEK_API_KEY"), "{fallback:?}");
    assert!(!fallback.remedy.is_empty());
    let role = roles_of("roles.cheap = { endpoint = \"none\", model = \"tiny\" }").await;
    assert_eq!(role.outcome, Outcome::Fail);
    assert_eq!(role.detail, "roles.cheap.model none/tiny: there is no model server");
}

/// Answers with these parts, and keeps what it was asked.
#[derive(Debug)]
struct Scripted {
    parts: Vec<StreamPart>,
    asked: std::sync::Mutex<Vec<Request>>,
}

#[async_trait::async_trait]
impl agentd_llm::Provider for Scripted {
    fn kind(&self) -> &'static str {
        "test"
    }

    fn base_url(&self) -> &'static str {
        "http://main.test/v1"
    }

    async fn stream(&self, request: Request) -> Result<agentd_llm::ResponseStream, LlmError> {
        self.asked.lock().unwrap().push(request);
        let parts = self.parts.clone().into_iter().map(Ok);
        Ok(Box::pin(futures_util::stream::iter(parts)))
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn an_answer_of_a_fallback_is_not_the_model_s_own() {
    let restarted = |model: &str| {
        let error = LlmError::Auth { status: 401, message: "no such key".to_owned() };
        let model = model.to_owned();
        StreamPart::Restarted(Restart { attempt: 2, model, error: error.report() })
    };
    let finished = StreamPart::Finished(agentd_llm::Completion {
        finish: agentd_llm::Finish::Done,
        tool_calls: Vec::new(),
        usage: None,
        native: None,
    });
    let check = async |mut parts: Vec<StreamPart>| {
        parts.push(finished.clone());
        let provider = Arc::new(Scripted { parts, asked: std::sync::Mutex::default() });
        let info = Arc::new(ModelInfo { max_output_tokens: Some(77), ..ModelInfo::default() });
        let effort =
            agentd_domain::EffortChoice { requested: Effort::Max, effective: Some(Effort::High) };
        let resolved = ResolvedModel {
            provider: Arc::clone(&provider) as Arc<dyn agentd_llm::Provider>,
            model: "main".to_owned(),
            context_tokens: info.context_tokens,
            max_output_tokens: None,
            effort: Some(effort),
            info: Arc::clone(&info),
        };
        let checked = endpoint(&resolved).await;
        let asked = provider.asked.lock().unwrap().pop().unwrap();
        assert_eq!((&asked.info, asked.effort), (&info, Some(Effort::High)), "as a turn asks");
        checked
    };
    let (own, _) = check(Vec::new()).await;
    assert_eq!(own.outcome, Outcome::Ok);
    let (again, _) = check(vec![restarted("main")]).await;
    assert_eq!(again.outcome, Outcome::Ok, "another attempt of its own: {again:?}");
    let (other, is_refused) = check(vec![restarted("spare"), restarted("last")]).await;
    assert_eq!((other.outcome, is_refused), (Outcome::Fail, true));
    assert_eq!(
        other.detail,
        "main at http://main.test/v1 did not answer, last did in its place: the provider refused \
         the API key (401): no such key"
    );
}

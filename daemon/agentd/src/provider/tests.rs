use std::os::unix::fs::PermissionsExt as _;

use crate::config::ProviderKind;

use agentd_llm::InfoSource;

use super::*;

/// Resolves with a configuration and an environment; no local server is looked for.
async fn check(config: ProviderConfig, env: &[(&str, &str)]) -> String {
    let provider = ProviderConfig { local_servers: Vec::new(), ..config };
    let (_tx, config) = watch::channel(Config { provider, ..Config::default() });
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let models = Models::new(config, env, "config.toml".to_owned(), None);
    match models.find(crate::config::DEFAULT_ENDPOINT).await {
        Ok(found) => format!(
            "{} {} {} ({})",
            found.provider.kind(),
            found.provider.base_url(),
            found.model,
            found.source
        ),
        Err(error) => error.to_string(),
    }
}

fn auto() -> ProviderConfig {
    ProviderConfig::default()
}

#[tokio::test]
async fn detection_goes_config_then_environment_then_offline() {
    let all = [
        ("OPENROUTER_API_KEY", "k4"),
        ("ANTHROPIC_API_KEY", "k3"),
        ("DEEPSEEK_API_KEY", "k2"),
        ("OPENAI_API_KEY", "k1"),
        ("OPENAI_MODEL", "gpt-x"),
    ];
    let configured = ProviderConfig {
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        model: "mine".to_owned(),
        ..auto()
    };
    assert_eq!(
        check(configured, &all).await,
        "openai-compatible http://127.0.0.1:9/v1 mine (config)"
    );
    for (count, expected) in [
        (5, "openai-compatible https://api.openai.com/v1 gpt-x (environment OPENAI_API_KEY)"),
        (
            3,
            "openai-compatible https://api.deepseek.com/v1 deepseek-flash (environment DEEPSEEK_API_KEY)",
        ),
        (
            2,
            "anthropic https://api.anthropic.com/v1 claude-sonnet-5-5 (environment ANTHROPIC_API_KEY)",
        ),
        (
            1,
            "openai-compatible https://openrouter.ai/api/v1 openrouter/auto (environment OPENROUTER_API_KEY)",
        ),
        (0, "offline  offline (none found)"),
    ] {
        assert_eq!(check(auto(), &all[..count]).await, expected);
    }
}

#[tokio::test]
async fn a_base_url_in_the_environment_needs_no_key() {
    assert_eq!(
        check(auto(), &[("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1"), ("OPENAI_MODEL", "m")])
            .await,
        "openai-compatible http://127.0.0.1:8000/v1 m (environment OPENAI_API_KEY)"
    );
}

#[tokio::test]
async fn a_missing_key_is_named() {
    let config = ProviderConfig { kind: ProviderKind::DeepSeek, ..auto() };
    assert_eq!(
        check(config, &[]).await,
        "no usable API key: set DEEPSEEK_API_KEY or provider.api_key_file"
    );
}

#[tokio::test]
async fn a_key_file_that_others_can_read_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, "sk-secret\n").unwrap();
    let config = || ProviderConfig {
        kind: ProviderKind::OpenAi,
        api_key_file: file.display().to_string(),
        ..auto()
    };
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = check(config(), &[]).await;
    assert!(refused.contains("has mode 644") && !refused.contains("sk-secret"), "{refused}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(
        check(config(), &[]).await,
        "openai-compatible https://api.openai.com/v1 gpt-4o-mini (config)"
    );
}

#[tokio::test]
async fn offline_can_be_asked_for() {
    let config = ProviderConfig { kind: ProviderKind::Offline, ..auto() };
    assert_eq!(check(config, &[("OPENAI_API_KEY", "k")]).await, "offline  offline (config)");
}

fn models(config: &str, env: &[(&str, &str)]) -> Models {
    let config: Config = toml::from_str(config).unwrap();
    let (_tx, config) = watch::channel(config);
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Models::new(config, env, "config.toml".to_owned(), None)
}

async fn resolved(models: &Models, model: &str, effort: Option<Effort>) -> ResolvedModel {
    let query = ModelQuery { model: model.to_owned(), effort, ..ModelQuery::default() };
    models.resolve(&query).await.unwrap()
}

const TWO_ENDPOINTS: &str = r#"
    [provider]
    kind = "openai"
    base_url = "http://127.0.0.1:9/v1"
    model = "gpt-5"
    max_output_tokens = 200000
    [endpoints.other]
    kind = "openai"
    base_url = "http://127.0.0.1:10/v1"
    model = "gpt-4o"
    context_tokens = 9000
    [models."other/gpt-4o"]
    max_output_tokens = 77
    tools = false
"#;

#[tokio::test]
async fn a_model_may_name_its_endpoint_and_is_known_there() {
    let models = models(TWO_ENDPOINTS, &[]);
    let first = resolved(&models, "", Some(Effort::Max)).await;
    assert_eq!(
        (first.provider.base_url(), first.model.as_str()),
        ("http://127.0.0.1:9/v1", "gpt-5")
    );
    assert_eq!((first.context_tokens, first.max_output_tokens), (400_000, Some(128_000)));
    let choice =
        agentd_domain::EffortChoice { requested: Effort::Max, effective: Some(Effort::High) };
    assert_eq!(first.effort, Some(choice));
    let second = resolved(&models, "other/gpt-4o", Some(Effort::Max)).await;
    assert_eq!(second.provider.base_url(), "http://127.0.0.1:10/v1");
    assert_eq!((second.context_tokens, second.info.max_output_tokens), (9_000, Some(77)));
    assert_eq!((second.info.tools, second.info.source), (false, InfoSource::Config));
    assert_eq!(second.effort.unwrap().effective, None);
    let own = resolved(&models, "nowhere/model", None).await;
    assert_eq!(own.model, "nowhere/model");
}

#[tokio::test]
async fn a_learned_window_counts_from_the_next_turn_on() {
    let models = models(TWO_ENDPOINTS, &[]);
    models.learn_context_limit("http://127.0.0.1:9/v1", "mine", 4_096);
    let mine = resolved(&models, "mine", None).await;
    assert_eq!((mine.context_tokens, mine.info.source), (4_096, InfoSource::Learned));
    assert_eq!(resolved(&models, "theirs", None).await.context_tokens, 32_768);
    // What was configured is what was meant.
    models.learn_context_limit("http://127.0.0.1:10/v1", "gpt-4o", 4_096);
    assert_eq!(resolved(&models, "other/gpt-4o", None).await.context_tokens, 9_000);
}

#[tokio::test]
async fn sc_03_a_key_in_the_environment_goes_to_no_other_host() {
    let config = r#"
        [provider]
        kind = "offline"
        [endpoints.mine]
        kind = "deepseek"
        base_url = "http://127.0.0.1:9/v1"
        [endpoints.theirs]
        kind = "deepseek"
    "#;
    let models = models(config, &[("DEEPSEEK_API_KEY", "sk-secret")]);
    // Debug hides keys, but shows whether there is one.
    let mine = format!("{:?}", models.find("mine").await.unwrap().provider);
    let theirs = format!("{:?}", models.find("theirs").await.unwrap().provider);
    assert!(!mine.contains("Sensitive") && theirs.contains("Sensitive"), "{mine}\n{theirs}");
}

#[tokio::test]
async fn sc_03_a_key_of_the_environment_goes_where_its_provider_is() {
    let keys = [("OPENAI_API_KEY", "sk-secret-1")];
    let check = async |config: &str, env: &[(&str, &str)], expect: Result<bool, &str>| {
        let models = models(config, env);
        let found = models.find(crate::config::DEFAULT_ENDPOINT).await;
        // Debug hides keys, but shows whether there is one.
        let has_key = found.map(|found| format!("{:?}", found.provider).contains("Sensitive"));
        let problem = has_key.as_ref().err().map(ToString::to_string);
        assert_eq!(has_key.ok().ok_or(problem.as_deref().unwrap_or_default()), expect, "{config}");
    };
    let base_url = |url: &str| format!("provider = {{ base_url = \"{url}\", model = \"m\" }}");
    let router = base_url("https://openrouter.ai/api/v1");
    let missing = "no usable API key: set OPENROUTER_API_KEY or provider.api_key_file";
    check(&router, &keys, Err(missing)).await;
    check(&router, &[("OPENROUTER_API_KEY", "k")], Ok(true)).await;
    check(&base_url("https://proxy.example/v1"), &keys, Ok(false)).await;
    check(&base_url("http://127.0.0.1:9/v1"), &keys, Ok(true)).await;
    let named = r#"
        [provider]
        base_url = "https://proxy.example/v1"
        model = "m"
        api_key_env = "OPENAI_API_KEY"
    "#;
    check(named, &keys, Ok(true)).await;
    let (base, model) = ("OPENAI_BASE_URL", "OPENAI_MODEL");
    let family = [keys[0], (base, "https://proxy.example/v1"), (model, "m")];
    check("", &family, Ok(true)).await;
}

#[tokio::test]
async fn sc_03_a_refusal_without_a_key_says_which_variable_was_not_sent() {
    #[derive(Debug)]
    struct Refuses;
    #[async_trait]
    impl Provider for Refuses {
        fn kind(&self) -> &'static str {
            "test"
        }
        fn base_url(&self) -> &'static str {
            "https://proxy.example/v1"
        }
        async fn stream(
            &self,
            _request: agentd_llm::Request,
        ) -> Result<agentd_llm::ResponseStream, LlmError> {
            Err(LlmError::Auth { status: 401, message: "who are you".to_owned() })
        }
        async fn models(&self) -> Result<Vec<String>, LlmError> {
            Ok(Vec::new())
        }
    }
    let config = r#"provider = { base_url = "https://proxy.example/v1", model = "m" }"#;
    let found = models(config, &[("OPENAI_API_KEY", "sk-secret-1")]).find("provider").await;
    let shown = format!("{:?}", found.unwrap().provider);
    let reason = "OPENAI_API_KEY is for https://api.openai.com/v1 and is not sent to \
                  https://proxy.example/v1: name a variable in provider.api_key_env, or set \
                  provider.api_key_file";
    assert!(shown.contains(reason), "{shown}");
    let provider = withheld::Withheld::new(Arc::new(Refuses), reason.to_owned());
    let Err(error) = provider.stream(agentd_llm::Request::default()).await else {
        panic!("it was not refused")
    };
    assert_eq!(error.code(), "PROVIDER_NO_KEY");
    let refusal = "the provider refused the API key (401): who are you";
    assert_eq!(error.to_string(), format!("no usable API key: {reason}; {refusal}"));
}

#[tokio::test]
async fn sc_03_the_credential_that_nobody_names_is_for_the_endpoint_that_is_configured() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("agentd-api-key");
    std::fs::write(&file, "sk-credential").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o400)).unwrap();
    let directory = dir.path().display().to_string();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let local = listener.local_addr().unwrap();
    let mut heard = tokio::task::JoinSet::new();
    heard.spawn(first_request(listener));
    let credentials = ("CREDENTIALS_DIRECTORY", directory.as_str());
    let has_key = async |config: &str, env: &[(&str, &str)]| {
        let models = models(config, env);
        let found = models.find("provider").await.unwrap();
        assert!(!models.is_offline(&*found.provider), "nothing was found");
        format!("{:?}", found.provider).contains("Sensitive")
    };
    let named = r#"provider = { base_url = "https://proxy.example/v1", model = "m" }"#;
    assert!(has_key(named, &[credentials]).await);
    let family = [("OPENAI_BASE_URL", "https://p.example/v1"), ("OPENAI_MODEL", "m"), credentials];
    assert!(!has_key("", &family).await, "it came from the environment");
    let auto = format!("provider = {{ local_servers = [\"{local}\"], model = \"m\" }}");
    assert!(!has_key(&auto, &[credentials]).await, "it was found on this machine");
    assert!(!heard.join_next().await.unwrap().unwrap().contains("sk-credential"));
}

/// Lists a model to whoever comes first, and gives what was asked.
async fn first_request(listener: tokio::net::TcpListener) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let (mut stream, _peer) = listener.accept().await.unwrap();
    let mut request = vec![0; 4096];
    let length = stream.read(&mut request).await.unwrap();
    let body = r#"{"data":[{"id":"mine"}]}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(answer.as_bytes()).await.unwrap();
    String::from_utf8_lossy(&request[..length]).into_owned()
}

/// A server that hangs up on everybody while the set lives, and how many came.
async fn hangs_up(
    tasks: &mut tokio::task::JoinSet<()>,
) -> (std::net::SocketAddr, Arc<std::sync::atomic::AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::default());
    let counter: Arc<std::sync::atomic::AtomicUsize> = Arc::clone(&count);
    tasks.spawn(async move {
        while let Ok((stream, _peer)) = listener.accept().await {
            counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            drop(stream);
        }
    });
    (address, count)
}

#[tokio::test]
async fn a_fallback_that_cannot_be_asked_is_left_alone_for_a_minute() {
    let mut tasks = tokio::task::JoinSet::new();
    let (address, count) = hangs_up(&mut tasks).await;
    let came = || count.load(std::sync::atomic::Ordering::SeqCst);
    let config = |fallback: &str| {
        format!(
            r#"
            [provider]
            base_url = "http://127.0.0.1:9/v1"
            model = "m"
            [endpoints.mute]
            kind = "ollama"
            base_url = "http://{address}/v1"
            [roles.main]
            endpoint = "mute"
            fallbacks = ["{fallback}"]
            "#
        )
    };
    // Who names its model need not be asked for one.
    let named = models(&config("qwen3"), &[]);
    resolved(&named, "provider/m", None).await;
    assert_eq!(came(), 0);
    let unnamed = models(&config(""), &[]);
    resolved(&unnamed, "provider/m", None).await;
    let first = came();
    assert!(first > 0, "it was not asked");
    resolved(&unnamed, "provider/m", None).await;
    assert_eq!(came(), first);
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    tokio::time::resume();
    resolved(&unnamed, "provider/m", None).await;
    assert!(came() > first, "it was not asked again");
}

#[tokio::test]
async fn openrouter_translates_every_model_s_efforts() {
    let config = "[provider]\nkind = \"openrouter\"\nmodel = \"anthropic/claude-haiku-4.5\"";
    let models = models(config, &[("OPENROUTER_API_KEY", "k")]);
    let model = resolved(&models, "", Some(Effort::Medium)).await;
    assert_eq!(model.info.reasoning.form, agentd_llm::EffortForm::Nested);
    let value = model.info.reasoning.value(Effort::Medium).unwrap();
    assert_eq!(value.word(), Some("medium"));
}

#[tokio::test]
async fn openai_s_own_host_is_asked_through_the_api_that_suits_the_model() {
    let models = models("[provider]\nkind = \"openai\"", &[("OPENAI_API_KEY", "k")]);
    let kind = async |model: &str| resolved(&models, model, None).await.provider.kind();
    assert_eq!(kind("gpt-6.2-sol").await, "openai-responses");
    assert_eq!(kind("gpt-4o").await, "openai-compatible");
    let other = r#"provider = { kind = "openai", base_url = "http://127.0.0.1:9/v1" }"#;
    let other = self::models(other, &[]);
    assert_eq!(resolved(&other, "gpt-6.2-sol", None).await.provider.kind(), "openai-compatible");
    let only = r#"provider = { kind = "openai-responses", base_url = "http://127.0.0.1:9/v1" }"#;
    let only = self::models(only, &[]);
    assert_eq!(resolved(&only, "gpt-4o", None).await.provider.kind(), "openai-responses");
}

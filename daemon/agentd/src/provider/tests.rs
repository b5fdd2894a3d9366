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

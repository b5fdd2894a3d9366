use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// Resolves with a configuration and an environment; no local server is looked for.
async fn check(config: ProviderConfig, env: &[(&str, &str)]) -> String {
    let provider = ProviderConfig { local_servers: Vec::new(), ..config };
    let (_tx, config) = watch::channel(Config { provider, ..Config::default() });
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let models = Models::new(config, env, "config.toml".to_owned(), None);
    match models.find().await {
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
            "openai-compatible https://api.deepseek.com/v1 deepseek-chat (environment DEEPSEEK_API_KEY)",
        ),
        (
            2,
            "openai-compatible https://api.anthropic.com/v1 claude-sonnet-4-5 (environment ANTHROPIC_API_KEY)",
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

use super::*;
use crate::config::{ProviderKind, TEMPLATE};

fn check(file: &str, env: &[(&str, &str)]) -> Result<Loaded, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, file).unwrap();
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    load(&path, &env)
        .map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"))
}

#[test]
fn no_file_means_defaults() {
    let loaded = load(Path::new("/nonexistent/config.toml"), &Environment::new()).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert_eq!(loaded.file, None);
}

#[test]
fn the_template_is_the_defaults() {
    assert_eq!(check(TEMPLATE, &[]).unwrap().config, Config::default());
    let uncommented: String = TEMPLATE
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if rest.contains(" = ") && !rest.starts_with(' ') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let loaded = check(&uncommented, &[]).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert_eq!(loaded.sources.len(), known_keys().len(), "the template names every key");
}

#[test]
fn the_environment_overrides_the_file() {
    let loaded = check(
        "[provider]\nkind = \"openai\"\nmodel = \"from-file\"\n",
        &[
            ("AGENTD_PROVIDER_MODEL", "from-env"),
            ("AGENTD_SESSION_ROUNDS_LIMIT", "7"),
            ("AGENTD_STORE_FSYNC", "false"),
            ("AGENTD_PROVIDER_LOCAL_SERVERS", "127.0.0.1:1, 127.0.0.1:2"),
            ("AGENTD_HOME", "/somewhere"),
        ],
    )
    .unwrap();
    assert_eq!(loaded.config.provider.kind, ProviderKind::OpenAi);
    assert_eq!(loaded.config.provider.model, "from-env");
    assert_eq!(loaded.config.session.rounds_limit, 7);
    assert!(!loaded.config.store.fsync);
    assert_eq!(loaded.config.provider.local_servers, ["127.0.0.1:1", "127.0.0.1:2"]);
    assert_eq!(
        loaded.sources["provider.model"],
        ConfigSource::Environment("AGENTD_PROVIDER_MODEL".to_owned())
    );
}

#[test]
fn mistakes_are_named_with_a_remedy() {
    for (file, env, expected) in [
        (
            "[provider]\nbase_ulr = \"x\"",
            None,
            "there is no key 'provider.base_ulr' in FILE; did you mean 'provider.base_url'?",
        ),
        ("[zzz]\nq = 1", None, "there is no key 'zzz.q' in FILE"),
        (
            "",
            Some(("AGENTD_PROVIDER_MODLE", "x")),
            "there is no key 'AGENTD_PROVIDER_MODLE' in the environment; did you mean 'AGENTD_PROVIDER_MODEL'?",
        ),
        (
            "[session]\nrounds_limit = 0",
            None,
            "session.rounds_limit: 0 is not between 1 and 200 (from FILE)",
        ),
        (
            "",
            Some(("AGENTD_SESSION_ROUNDS_LIMIT", "many")),
            "session.rounds_limit: 'many' is not a whole number (from the variable AGENTD_SESSION_ROUNDS_LIMIT)",
        ),
        (
            "",
            Some(("AGENTD_BUDGET_DAY_USD", "five")),
            "budget.day_usd: 'five' is not a number (from the variable AGENTD_BUDGET_DAY_USD)",
        ),
        (
            "[budget]\nday_usd = -1",
            None,
            "budget.day_usd: -1 is not between 0 and 1000000 (from FILE)",
        ),
        (
            "[provider]\nbase_url = \"localhost:11434\"",
            None,
            "provider.base_url: 'localhost:11434' does not begin with http:// or https:// (from FILE)",
        ),
        (
            "[otel]\nsample_ratio = 1.5",
            None,
            "otel.sample_ratio: 1.5 is not between 0 and 1 (from FILE)",
        ),
        (
            "",
            Some(("AGENTD_OTEL_ENDPOINT", "localhost:4317")),
            "otel.endpoint: 'localhost:4317' is not such as http://127.0.0.1:4317 or https://collector.example:4317 (from the variable AGENTD_OTEL_ENDPOINT)",
        ),
    ] {
        assert_eq!(check(file, env.as_slice()).unwrap_err(), expected);
    }
}

#[test]
fn a_value_of_the_wrong_type_names_its_key() {
    let error =
        check("[log]\nlevel = \"info\"\n[session]\nrounds_limit = \"ten\"", &[]).unwrap_err();
    assert!(error.starts_with("session.rounds_limit: invalid type"), "{error}");
    let error = check("[provider\n", &[]).unwrap_err();
    assert!(error.starts_with("FILE is not valid TOML"), "{error}");
}

#[test]
fn the_clients_section_is_left_to_the_clients() {
    assert!(check("[client]\nanything = 1", &[]).is_ok());
}

#[test]
fn keys_of_earlier_releases_still_count_and_are_warned_of() {
    let loaded = check("[session]\nmax_attempts = 7\n", &[]).unwrap();
    assert_eq!(loaded.config.provider.max_attempts, 7);
    assert!(loaded.warnings[0].starts_with("session.max_attempts is now called provider.max"));
    let env = [("AGENTD_SESSION_MAX_ATTEMPTS", "8")];
    let loaded = check("[session]\nmax_attempts = 7\n", &env).unwrap();
    assert_eq!((loaded.config.provider.max_attempts, loaded.warnings.len()), (8, 2));
    // The new name outweighs the old one.
    let both = "[session]\nmax_attempts = 7\n[provider]\nmax_attempts = 2\n";
    assert_eq!(check(both, &[]).unwrap().config.provider.max_attempts, 2);
    let error = check("[session]\nmax_attempts = 77\n", &[]).unwrap_err();
    assert!(error.contains("provider.max_attempts: 77 is not between 1 and 10"), "{error}");
}

#[test]
fn endpoints_roles_and_models_are_read() {
    let file = r#"
        [endpoints.home]
        kind = "ollama"
        [roles.main]
        model = "gpt-5"
        effort = "low"
        fallbacks = ["home/qwen3"]
        [models."gpt-4.1"]
        context_tokens = 8192
        efforts = { low = "low" }
        effort_form = "word"
    "#;
    let loaded = check(file, &[("AGENTD_ROLES_CHEAP_MODEL", "mini")]).unwrap();
    let Config { endpoints, roles, models, .. } = loaded.config;
    assert_eq!(endpoints["home"].kind, ProviderKind::Ollama);
    assert_eq!((roles.main.model.as_str(), roles.main.fallbacks.len()), ("gpt-5", 1));
    assert_eq!(roles.cheap.model, "mini");
    assert_eq!(models["gpt-4.1"].context_tokens, Some(8192));
    let sources: Vec<&str> = loaded.sources.keys().map(String::as_str).collect();
    assert!(sources.contains(&"models.\"gpt-4.1\".context_tokens"), "{sources:?}");
    assert!(sources.contains(&"endpoints.home.kind"), "{sources:?}");
}

#[test]
fn mistakes_in_endpoints_roles_and_models_are_named_with_a_remedy() {
    let refused = |file: &str, expect: &str| {
        let error = check(file, &[]).unwrap_err();
        assert!(error.starts_with(expect), "{file}: {error}");
    };
    refused(
        "[endpoints.home]\nbase_ulr = \"x\"",
        "there is no key 'endpoints.home.base_ulr' in FILE; did you mean 'endpoints.home.base_url'?",
    );
    refused(
        "[endpoints.home]",
        "endpoints.home.kind: an endpoint needs a kind or a base_url (from FILE)",
    );
    refused(
        "[endpoints.home]\nkind = \"ollama\"\nmax_attempts = 0",
        "endpoints.home.max_attempts: 0 is not between 1 and 10",
    );
    refused(
        "[endpoints.home]\nkind = \"ollama\"\ncheap_model = \"x\"",
        "endpoints.home.cheap_model: is for [provider] only; use roles.cheap",
    );
    refused(
        "[endpoints.\"a/b\"]\nkind = \"ollama\"",
        "endpoints.\"a/b\": is no name for an endpoint",
    );
    refused("[endpoints.home]\nkind = \"olama\"", "endpoints.home.kind: unknown variant `olama`");
    refused(
        "[roles.main]\nendpoint = \"hmoe\"",
        "roles.main.endpoint: there is no endpoint 'hmoe'; known: provider",
    );
    refused(
        "[roles.main]\neffort = \"much\"",
        "roles.main.effort: 'much' is none of off, minimal, low, medium, high, max (from FILE)",
    );
    refused("[roles.main]\nfallbacks = [\"\"]", "roles.main.fallbacks: a name is empty");
    refused("[roles.boss]\nmodel = \"x\"", "there is no key 'roles.boss.model' in FILE");
    refused(
        "[models.\"a.b\"]\ncontxt_tokens = 1",
        "there is no key 'models.\"a.b\".contxt_tokens' in FILE; did you mean 'models.\"a.b\".context_tokens'?",
    );
    refused("[models.m]\ncontext_tokens = 1", "models.m.context_tokens: 1 is not between");
    refused(
        "[models.m]\nprices = { prompt = -1.0, completion = 1.0 }",
        "models.m.prices: -1 is no price between 0 and 100000 US dollars",
    );
    refused(
        "[models.m]\neffort_form = \"budget\"\nefforts = { low = \"low\" }",
        "models.m.efforts: the values must be numbers of tokens",
    );
    let error = check("", &[("AGENTD_ENDPOINTS_HOME_KIND", "ollama")]).unwrap_err();
    assert!(error.starts_with("there is no key 'AGENTD_ENDPOINTS_HOME_KIND'"), "{error}");
}

#[test]
fn every_key_of_a_model_is_known() {
    let facts = agentd_llm::ModelFacts {
        context_tokens: Some(8192),
        max_output_tokens: Some(1),
        vision: Some(true),
        tools: Some(true),
        effort_form: Some(agentd_llm::EffortForm::None),
        refuses: Some(std::collections::BTreeSet::new()),
        api: Some(agentd_llm::ModelApi::Messages),
        efforts: Some(BTreeMap::new()),
        prices: Some(toml::from_str("prompt = 1.0\ncompletion = 2.0").unwrap()),
    };
    let Value::Table(keys) = Value::try_from(facts).unwrap() else { panic!("a table") };
    let mut keys: Vec<&str> = keys.keys().map(String::as_str).collect();
    let mut known = MODEL_KEYS.to_vec();
    keys.sort_unstable();
    known.sort_unstable();
    assert_eq!(keys, known);
}

#[test]
fn dl_04_a_listener_that_would_let_anybody_in_is_refused() {
    let refused = |remote: &str, key: &str, remedy: &str| {
        let error = check(&format!("[remote]\n{remote}"), &[]).unwrap_err();
        assert!(error.starts_with(key), "{remote}: {error}");
        assert!(error.contains(remedy), "{remote}: {error}");
    };
    refused("listen = [\"0.0.0.0:7443\"]", "remote.listen", "`agentd tls init`");
    refused("listen = [\"127.0.0.1:7443\"]", "remote.listen", "insecure_loopback = true");
    let insecure = "insecure_loopback = true\nlisten = [\"127.0.0.1:1\", \"[::]:7443\"]";
    refused(insecure, "remote.listen", "[::]:7443 can be reached from other machines");
    refused("listen = [\"localhost:7443\"]", "remote.listen", "0.0.0.0:7443");
    refused("tls_cert = \"c.pem\"", "remote.tls_key", "set both");
    refused("tls_key = \"k.pem\"", "remote.tls_cert", "set both");
    refused("client_ca = \"ca.pem\"", "remote.client_ca", "set them");
    refused("max_connections = 0", "remote.max_connections", "between");
    for good in [
        "insecure_loopback = true\nlisten = [\"127.0.0.1:7443\", \"[::1]:7443\"]",
        "tls_cert = \"c\"\ntls_key = \"k\"\nlisten = [\"0.0.0.0:7443\"]",
    ] {
        check(&format!("[remote]\n{good}"), &[]).unwrap();
    }
}

#[test]
fn where_remote_clients_come_in_changes_only_with_a_restart() {
    let load = |text: &str| check(&format!("[remote]\n{text}"), &[]).unwrap().config;
    let old = load("tls_cert = \"c\"\ntls_key = \"k\"");
    let renewed = load("tls_cert = \"c2\"\ntls_key = \"k2\"");
    assert!(old.needs_restart(&renewed).is_empty());
    let moved =
        load("tls_cert = \"c\"\ntls_key = \"k\"\nlisten = [\"[::1]:1\"]\nmax_connections = 1");
    assert_eq!(old.needs_restart(&moved), ["remote.listen", "remote.max_connections"]);
    assert_eq!(old.needs_restart(&load("")), ["remote.tls_cert"]);
}

#[test]
fn money_may_be_a_whole_number() {
    let env = [("AGENTD_BUDGET_TURN_USD", "0.25")];
    assert!(check("[budget]\nday_usd = 5\nday_tokens = 1000", &env).is_ok());
}

#[test]
fn where_traces_go_changes_only_with_a_restart() {
    let load = |text: &str| check(&format!("[otel]\n{text}"), &[]).unwrap().config;
    let old = load("");
    let new = load("endpoint = \"http://127.0.0.1:4317\"\nsample_ratio = 0");
    assert_eq!(old.needs_restart(&new), ["otel.endpoint", "otel.sample_ratio"]);
    assert!(old.needs_restart(&load("sample_ratio = 1")).is_empty());
}

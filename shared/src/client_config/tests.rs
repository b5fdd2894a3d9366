use super::*;

fn parse(text: &str, variables: &[(&str, &str)]) -> Result<LoadedClientConfig, String> {
    let variables = variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ClientConfig::parse(Path::new("c.toml"), text, variables).map_err(|error| error.to_string())
}

#[test]
fn without_a_section_the_defaults_hold() {
    for text in ["", "[provider]\nkind = \"offline\"\n", "[client]\n"] {
        assert_eq!(parse(text, &[]), Ok(LoadedClientConfig::default()), "{text}");
    }
}

#[test]
fn variables_win_over_the_file() {
    let text = "[client]\nshow_reasoning = false\nmarkdown = \"never\"\nhistory_size = 5\n";
    let loaded = parse(
        text,
        &[
            ("AGENTD_CLIENT_MARKDOWN", "always"),
            ("AGENTD_CLIENT_EDIT_MODE", "vi"),
            ("AGENTD_CLIENT_START_DAEMON", "false"),
            ("OTHER", "1"),
        ],
    );
    let config = ClientConfig {
        show_reasoning: false,
        markdown: When::Always,
        history_size: 5,
        edit_mode: EditMode::Vi,
        start_daemon: false,
        ..ClientConfig::default()
    };
    assert_eq!(loaded, Ok(LoadedClientConfig { config, warnings: Vec::new() }));
}

#[test]
fn the_full_screen_client_has_keys_of_its_own() {
    let text = "[client]\ntheme = \"light\"\nbell = false\nmouse = false\n";
    let loaded = parse(text, &[("AGENTD_CLIENT_SIDEBAR", "false")]);
    let config = ClientConfig {
        theme: ThemeChoice::Light,
        bell: false,
        mouse: false,
        sidebar: false,
        ..ClientConfig::default()
    };
    assert_eq!(loaded, Ok(LoadedClientConfig { config, warnings: Vec::new() }));
    for (name, expect) in [("dark", ThemeChoice::Dark), ("mono", ThemeChoice::Mono)] {
        let loaded = parse("", &[("AGENTD_CLIENT_THEME", name)]).unwrap();
        assert_eq!(loaded.config.theme, expect);
    }
}

#[test]
fn an_unknown_key_is_told_with_the_nearest_known_one() {
    let check = |text: &str, variables: &[(&str, &str)], expect: &str| {
        assert_eq!(parse(text, variables).unwrap().warnings, [expect]);
    };
    check(
        "[client]\nshow_reasonin = true",
        &[],
        "c.toml: unknown key client.show_reasonin; did you mean client.show_reasoning?",
    );
    check(
        "",
        &[("AGENTD_CLIENT_COLOUR", "never")],
        "environment AGENTD_CLIENT_COLOUR: unknown key client.colour; did you mean client.color?",
    );
    check(
        "[client]\nq = 1",
        &[],
        "c.toml: unknown key client.q; the keys are show_reasoning, markdown, color, history_size, edit_mode, start_daemon, theme, bell, mouse, sidebar, keys",
    );
}

#[test]
fn an_unusable_value_is_an_error_that_says_what_is_allowed() {
    let check = |text: &str, expect: &str| assert_eq!(parse(text, &[]), Err(expect.to_owned()));
    check(
        "[client]\ncolor = \"red\"",
        "c.toml: client.color must be \"auto\", \"always\" or \"never\", not \"red\"",
    );
    check(
        "[client]\nhistory_size = -1",
        "c.toml: client.history_size must be a number from 0 to 1000000, not -1",
    );
    check("[client]\nstart_daemon = 1", "c.toml: client.start_daemon must be true or false, not 1");
    check(
        "[client]\ntheme = \"blue\"",
        "c.toml: client.theme must be \"auto\", \"dark\", \"light\" or \"mono\", not \"blue\"",
    );
    check("[client]\nbell = \"no\"", "c.toml: client.bell must be true or false, not \"no\"");
    check("client = 3", "c.toml: client must be a section [client], not 3");
    assert!(parse("[client", &[]).is_err());
}

#[test]
fn keys_are_a_list_or_one_text_for_each_action() {
    let text = "[client.keys]\npage_up = [\"PageUp\", \"Ctrl-B\"]\nhelp = \"F12\"\nsend = []\n";
    let keys = parse(text, &[]).unwrap().config.keys;
    let keys: Vec<(&str, Vec<&str>)> = keys
        .iter()
        .map(|(action, keys)| (action.as_str(), keys.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        keys,
        [("help", vec!["F12"]), ("page_up", vec!["PageUp", "Ctrl-B"]), ("send", vec![])]
    );
    let check = |text: &str| {
        let error = parse(text, &[]).unwrap_err();
        assert!(error.starts_with("c.toml: client.keys must be a section of lists"), "{error}");
    };
    check("[client]\nkeys = 3");
    check("[client.keys]\nhelp = 3");
    check("[client.keys]\nhelp = [true]");
}

#[test]
fn a_missing_file_gives_the_defaults_and_an_unreadable_one_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let missing = ClientConfig::load(&dir.path().join("none.toml")).unwrap();
    assert_eq!(missing.config, ClientConfig::default());
    assert!(matches!(ClientConfig::load(dir.path()), Err(ClientConfigError::Read { .. })));
}

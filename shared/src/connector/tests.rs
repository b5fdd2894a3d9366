use super::*;
use crate::contexts::{Context, Contexts};
use crate::{ErrorKind, Token};

/// Paths in a folder of their own, with a context `box` in them.
fn paths(dir: &tempfile::TempDir) -> Paths {
    let paths = Paths::under(dir.path());
    let mut contexts = Contexts::default();
    let context = Context {
        server: "https://box.lan:7443".to_owned(),
        token: Some(Token::new("agentd_a_stored").unwrap()),
        ..Context::default()
    };
    contexts.add("box", context).unwrap();
    contexts.save(&paths.contexts_file()).unwrap();
    paths
}

fn args(server: Option<&str>, context: Option<&str>) -> RemoteArgs {
    RemoteArgs {
        server: server.map(str::to_owned),
        context: context.map(str::to_owned),
        ..RemoteArgs::default()
    }
}

#[test]
fn the_command_line_goes_before_the_environment_and_that_before_the_context_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(&dir);
    let check = |args: RemoteArgs, env: Option<&str>, expect: Option<(Option<&str>, &str)>| {
        let chosen = Server::choose_in(&args, &paths, |name| {
            env.filter(|_| name == "AGENTD_SERVER").map(str::to_owned)
        });
        let chosen = chosen.unwrap().map(|server| (server.context.clone(), server.url()));
        let expect = expect.map(|(name, url)| (name.map(str::to_owned), url.to_owned()));
        assert_eq!(chosen, expect, "{args:?} {env:?}");
    };
    let (here, other) = ("http://127.0.0.1:1", "http://127.0.0.1:2");
    check(args(None, None), None, None);
    check(args(None, None), Some(" "), None);
    check(args(None, None), Some(here), Some((None, here)));
    check(args(Some(other), None), Some(here), Some((None, other)));
    check(args(None, Some("local")), Some(here), None);
}

#[test]
fn a_context_is_used_when_it_is_named_or_selected() {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::under(dir.path());
    let mut contexts = Contexts::default();
    let server = "http://127.0.0.1:7".to_owned();
    contexts.add("near", Context { server: server.clone(), ..Context::default() }).unwrap();
    contexts.save(&paths.contexts_file()).unwrap();
    let chosen = |args: RemoteArgs| Server::choose_in(&args, &paths, |_| None);
    let expect = |found: Option<Server>| {
        let found = found.unwrap();
        assert_eq!((found.context.as_deref(), found.url()), (Some("near"), server.clone()));
    };
    assert_eq!(chosen(args(None, None)).unwrap(), None);
    expect(chosen(args(None, Some("near"))).unwrap());
    contexts.select("near").unwrap();
    contexts.save(&paths.contexts_file()).unwrap();
    expect(chosen(args(None, None)).unwrap());
    let error = chosen(args(None, Some("far"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

#[test]
fn options_for_a_daemon_elsewhere_are_refused_when_none_is_meant() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(&dir);
    let stray = RemoteArgs { server_name: Some("box".to_owned()), ..args(None, None) };
    let error = Server::choose_in(&stray, &paths, |_| None).unwrap_err();
    assert!(matches!(error, ServerError::Stray { option: "--server-name" }), "{error:?}");
}

#[test]
fn a_token_that_is_given_makes_the_contexts_own_needless() {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::under(dir.path());
    let mut contexts = Contexts::default();
    let gone = Context {
        server: "http://127.0.0.1:7".to_owned(),
        token_file: Some(dir.path().join("gone")),
        ..Context::default()
    };
    contexts.add("near", gone).unwrap();
    contexts.save(&paths.contexts_file()).unwrap();
    let near = args(None, Some("near"));
    let error = Server::choose_in(&near, &paths, |_| None).unwrap_err();
    assert!(matches!(error, ServerError::Remote(_)), "{error:?}");
    let token = |name: &str| (name == "AGENTD_TOKEN").then(|| "agentd_a_secret".to_owned());
    assert!(Server::choose_in(&near, &paths, token).unwrap().is_some());
}

#[test]
fn a_socket_that_was_named_is_neither_started_nor_looked_up() {
    let dir = tempfile::tempdir().unwrap();
    let options = |socket: Option<PathBuf>, no_start: bool| ConnectArgs {
        home: Some(dir.path().to_owned()),
        socket,
        no_start,
        client: Some("ann".to_owned()),
        ..ConnectArgs::default()
    };
    let check = |args: ConnectArgs, may_start: bool, socket: PathBuf| {
        let connector = Connector::new(&args, BrokenConfig::Refuse).unwrap();
        assert_eq!(connector.may_start(), may_start, "{args:?}");
        assert_eq!(connector.endpoint().unwrap().socket(), socket, "{args:?}");
        assert!(connector.is_named());
        assert_eq!(connector.author().client_id, "ann");
    };
    let own = Paths::under(dir.path()).socket();
    check(options(None, false), true, own.clone());
    check(options(None, true), false, own);
    check(options(Some("/s".into()), false), false, "/s".into());
}

#[test]
fn a_broken_configuration_is_refused_or_told() {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::under(dir.path());
    std::fs::create_dir(&paths.config_dir).unwrap();
    std::fs::write(paths.config_file(), "[client]\nmarkdown = 7\n").unwrap();
    let args = ConnectArgs { home: Some(dir.path().to_owned()), ..ConnectArgs::default() };
    let refused = Connector::new(&args, BrokenConfig::Refuse).unwrap_err();
    assert!(matches!(refused, ConnectorError::Config(_)), "{refused:?}");
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    let connector = Connector::new(&args, BrokenConfig::UseDefaults).unwrap();
    assert!(connector.broken_config().is_some());
    assert_eq!(*connector.config(), ClientConfig::default());
}

#[tokio::test]
async fn who_holds_the_data_without_listening_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::under(dir.path());
    std::fs::create_dir(&paths.data_dir).unwrap();
    std::fs::write(paths.instance_lock(), "4711\n").unwrap();
    let args = ConnectArgs { home: Some(dir.path().to_owned()), ..ConnectArgs::default() };
    let connector = Connector::new(&args, BrokenConfig::Refuse).unwrap();
    assert!(connector.try_running_client().await.unwrap().is_none());
    let error = connector.running_client().await.unwrap_err();
    assert!(matches!(error, ConnectorError::Connect(ConnectError::NotRunning { .. })), "{error:?}");
    let lock = std::fs::File::open(paths.instance_lock()).unwrap();
    lock.lock().unwrap();
    let error = connector.running_client().await.unwrap_err();
    assert_eq!(error.to_string(), "a daemon (pid 4711) runs and cannot be reached");
    assert!(error.hint().contains("`kill 4711`"), "{}", error.hint());
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn nobody_is_called_about_a_wait_that_does_not_happen() {
    let dir = tempfile::tempdir().unwrap();
    let home = Some(dir.path().to_owned());
    let args = ConnectArgs { home, no_start: true, ..ConnectArgs::default() };
    let connector = Connector::new(&args, BrokenConfig::Refuse).unwrap();
    let mut waits = 0;
    let error = connector.client(|| waits += 1).await.unwrap_err();
    assert_eq!((error.kind(), waits), (ErrorKind::Unavailable, 0), "{error:?}");
}

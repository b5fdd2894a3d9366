//! The first configuration: written by a client, tried by the daemon.

use agentd_shared::setup::{FirstChoice, LocalServer, TryError, is_first_run};
use agentd_testkit::{Daemon, LlmServer, Reply};

fn server(base_url: String) -> FirstChoice {
    let models = vec!["scripted".to_owned()];
    let server = LocalServer { name: "vLLM", kind: "vllm", base_url, models };
    FirstChoice::Local { server, model: "scripted".to_owned() }
}

/// A daemon that runs without a configuration and has found no model.
async fn unconfigured() -> Daemon {
    let daemon = Daemon::builder().set("provider.kind", "offline").start().await;
    let file = daemon.home().paths().config_file();
    std::fs::remove_file(&file).unwrap();
    assert!(is_first_run(&daemon.home().paths()));
    daemon
}

#[tokio::test]
async fn a_first_choice_is_in_force_at_once() {
    let llm = LlmServer::start().await;
    let daemon = unconfigured().await;
    let client = daemon.client().await;
    llm.push(Reply::text("OK"));
    let saved = server(llm.base_url()).save(&daemon.home().paths()).unwrap();
    saved.apply(&client).await.unwrap();
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::text("hello"));
    assert_eq!(ann.ask("hi").await, "hello");
    daemon.stop().await;
}

#[tokio::test]
async fn a_first_choice_that_does_not_work_is_taken_back() {
    let daemon = unconfigured().await;
    let client = daemon.client().await;
    let paths = daemon.home().paths();
    // Nobody listens there any more.
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let saved = server(gone.clone()).save(&paths).unwrap();
    let refused = saved.apply(&client).await.unwrap_err();
    let TryError::Refused { detail } = &refused else { panic!("{refused:?}") };
    assert!(detail.contains(&gone), "{refused:?}");
    assert!(is_first_run(&paths));
    assert_eq!(std::fs::read_dir(&paths.config_dir).unwrap().count(), 0);
    daemon.stop().await;
}

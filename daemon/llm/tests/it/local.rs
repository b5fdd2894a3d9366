//! Finding a model server on this machine.

use agentd_llm::{LocalServer, Reach, Timeouts, http_client, probe_local};
use agentd_testkit::LlmServer;
use tokio::net::TcpListener;

#[tokio::test]
async fn a_server_that_lists_models_is_found() {
    let client = http_client(&Timeouts::default(), Reach::Loopback).expect("a client");
    let (empty, first, second) =
        (LlmServer::start().await, LlmServer::start().await, LlmServer::start().await);
    let gone = LlmServer::start().await.address();
    // It accepts and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent = silent.local_addr().expect("an address");
    empty.set_models(&["nomic-embed-text"]);
    first.set_models(&["nomic-embed-text", "qwen3"]);
    second.set_models(&["other"]);
    let found = |server: &LlmServer, model: &str| {
        Some(LocalServer { base_url: server.base_url(), model: model.to_owned() })
    };
    let addresses = [gone, silent, empty.address(), first.address(), second.address()];
    assert_eq!(probe_local(&addresses, &client).await, found(&first, "qwen3"));
    assert_eq!(probe_local(&addresses[4..], &client).await, found(&second, "other"));
    assert_eq!(probe_local(&addresses[..3], &client).await, None);
    assert_eq!(probe_local(&[], &client).await, None);
}

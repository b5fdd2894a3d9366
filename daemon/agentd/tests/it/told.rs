//! What the model is told before anybody has said anything. It is paid for with every request.

use agentd_testkit::{Daemon, LlmServer, Reply};
use serde_json::Value;

const KIB: usize = 1024;

/// The first request of a daemon with all its tools.
async fn first_request() -> Value {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).programs(env!("CARGO_BIN_EXE_agentd")).start().await;
    llm.push(Reply::text("hello"));
    daemon.driver("ann").await.ask("hi").await;
    let request = llm.wait_for_request(1).await;
    daemon.stop().await;
    request.body.clone()
}

#[tokio::test]
async fn the_tools_and_instructions_of_a_request_stay_small() {
    let request = first_request().await;
    let tools = request["tools"].as_array().unwrap();
    let sizes: Vec<(usize, &str)> = tools
        .iter()
        .map(|tool| (tool.to_string().len(), tool["function"]["name"].as_str().unwrap()))
        .collect();
    assert!(sizes.iter().any(|(_, name)| *name == "run_command"), "{sizes:?}");
    let tools = request["tools"].to_string().len();
    let hint = "tighten descriptions, or give tools the second rank";
    assert!(tools <= 10 * KIB, "{tools} bytes of tools; {hint}: {sizes:?}");
    let system = request["messages"][0].to_string().len();
    assert!(tools + system <= 12 * KIB, "{tools} bytes of tools and {system} of instructions");
}

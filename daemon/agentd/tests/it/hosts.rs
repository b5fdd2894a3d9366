//! Commands that ask for hosts.

use agentd::config::SandboxConfig;
use agentd_domain::{ActionTarget, ToolResult};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::programs::{Place, boxed_with, open};

/// A server on loopback, and a daemon whose owner lets programs through to it.
async fn with_server() -> (Place, u16, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _read = stream.read(&mut [0; 4096]).await;
            let page = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\npage\n";
            let _gone = stream.write_all(page.as_bytes()).await;
        }
    });
    let allow_hosts = vec![format!("127.0.0.1:{port}")];
    let config = SandboxConfig { allow_hosts, ..SandboxConfig::default() };
    (boxed_with(&config), port, serving)
}

/// What the plan of a call says of its network, or why there is none.
async fn planned(
    place: &Place,
    tool: &str,
    arguments: Value,
) -> Result<(bool, Vec<String>), ToolResult> {
    let mut planned = place.planned(tool, &arguments).await?;
    let ActionTarget::Run { confinement, .. } = planned.targets.remove(0) else { panic!("a run") };
    let confinement = confinement.expect("a box");
    Ok((confinement.network, confinement.hosts))
}

/// True where the sandbox in force can tell hosts apart; elsewhere the refusal is checked.
#[expect(clippy::print_stdout, reason = "whoever runs this should know what was left out")]
async fn tells_hosts_apart(place: &Place) -> bool {
    let asked = json!({ "command": "true", "network": ["crates.io"] });
    let Err(refused) = planned(place, "run_command", asked).await else { return true };
    assert_eq!(refused.error_code, "HOSTS_NOT_HELD", "{refused:?}");
    assert!(refused.output.contains("install bubblewrap"), "{refused:?}");
    println!("hosts: refused here: {}", refused.output);
    false
}

/// Asks the proxy of the box.
const ASK: &str = "exec 3<> /dev/tcp/127.0.0.1/${HTTP_PROXY##*:}; \
                   printf 'GET %s HTTP/1.1\\r\\nconnection: close\\r\\n\\r\\n' $url >&3; cat <&3";

#[tokio::test]
async fn a_command_that_asks_for_hosts_is_planned_with_them_and_reaches_no_others() {
    let (place, port, _serving) = with_server().await;
    if !tells_hosts_apart(&place).await {
        return;
    }
    let url = format!("http://127.0.0.1:{port}/");
    let granted = json!({ "command": format!("url={url}; {ASK}"), "network": ["127.0.0.1"] });
    let plan = planned(&place, "run_command", granted.clone()).await.unwrap();
    assert_eq!(plan, (true, vec!["127.0.0.1".to_owned()]));
    let result = place.call("run_command", granted).await;
    assert!(result.output.contains("page"), "{result:?}");
    let other = json!({
        "command": format!("url=http://example.org/; {ASK}"), "network": ["127.0.0.1"]
    });
    let result = place.call("run_command", other).await;
    assert!(result.output.contains("403 Forbidden"), "{result:?}");
    assert!(result.output.contains("[Hosts that it was not let through to: example.org."));
}

#[tokio::test]
async fn each_tool_that_runs_what_the_model_says_takes_hosts() {
    let (place, port, _serving) = with_server().await;
    if !tells_hosts_apart(&place).await {
        return;
    }
    let hosts = json!(["*.Crates.io", "crates.io.", "crates.io"]);
    let expect = (true, vec!["*.crates.io".to_owned(), "crates.io".to_owned()]);
    std::fs::write(place.workspace.path().join("Cargo.toml"), "[package]").unwrap();
    for (tool, arguments) in [
        ("run_command", json!({ "command": "true", "network": hosts })),
        ("run_command", json!({ "command": "true", "background": true, "network": hosts })),
        ("run_python", json!({ "code": "1", "network": hosts })),
        ("check_project", json!({ "action": "test", "network": hosts })),
        ("terminal", json!({ "action": "open", "network": hosts })),
    ] {
        let plan = planned(&place, tool, arguments).await.unwrap_or_else(|no| panic!("{no:?}"));
        assert_eq!(plan, expect, "{tool}");
    }
    let code = format!(
        "import urllib.request as u, os\nproxy = u.ProxyHandler({{'http': os.environ['HTTP_PROXY']}})\n\
         os.environ.pop('no_proxy'); os.environ.pop('NO_PROXY')\n\
         print(u.build_opener(proxy).open('http://127.0.0.1:{port}/').read())"
    );
    let result = place.call("run_python", json!({ "code": code, "network": ["127.0.0.1"] })).await;
    assert_eq!(result.output, "b'page\\n'\n", "{result:?}");
}

#[tokio::test]
async fn a_job_has_its_way_as_long_as_it_runs_and_its_end_tells_what_was_refused() {
    let (place, port, _serving) = with_server().await;
    if !tells_hosts_apart(&place).await {
        return;
    }
    let script =
        format!("url=http://127.0.0.1:{port}/; {ASK}; url=http://example.org/; {ASK}; echo over");
    let arguments = json!({ "command": script, "background": true, "network": ["127.0.0.1"] });
    let started = place.call("run_command", arguments).await;
    let id = started.output.split_once("runs as job ").expect("a job").1;
    let ended = place.look("wait", id.split_once(' ').expect("an id").0).await;
    for words in ["page", "403 Forbidden", "over", "not let through to: example.org"] {
        assert!(ended.output.contains(words), "{words}: {ended:?}");
    }
}

#[tokio::test]
async fn all_of_the_network_is_asked_for_by_a_word_of_its_own_and_what_is_no_host_is_refused() {
    let (place, _port, _serving) = with_server().await;
    let call = |network: Value| json!({ "command": "true", "network": network });
    let all = planned(&place, "run_command", call(json!(["*"]))).await.unwrap();
    assert_eq!(all, (true, Vec::new()));
    let none = planned(&place, "run_command", call(json!([]))).await.unwrap();
    assert_eq!(none, (false, Vec::new()));
    for wrong in [json!(["https://crates.io/"]), json!(["*", "crates.io"]), json!(["a b"])] {
        let refused = planned(&place, "run_command", call(wrong)).await.unwrap_err();
        assert_eq!(refused.error_code, "TOOL_ARGUMENT_VALIDATION_FAILED");
        assert!(refused.output.contains("network"), "{refused:?}");
    }
    let many: Vec<String> = (0..17).map(|number| format!("{number}.example")).collect();
    let refused = planned(&place, "run_command", call(json!(many))).await.unwrap_err();
    assert!(refused.output.contains("16 at most"), "{refused:?}");
    let open = open();
    let action = open.planned("run_command", &call(json!(["crates.io"]))).await.unwrap();
    assert!(matches!(&action.targets[..], [ActionTarget::Run { confinement: None, .. }]));
}

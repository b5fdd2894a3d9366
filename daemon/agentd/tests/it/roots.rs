//! Sessions that work in several directories.

use std::path::Path;

use agentd_proto::v1;
use agentd_proto::v1::rule_matcher::Matcher;
use agentd_testkit::{Daemon, LlmServer, Reply};
use agentd_tools::{CallLimits, ToolContext, run_call};
use serde_json::{Value, json};
use tonic::Code;

use crate::programs::{Place, boxed, directory};
use crate::support::{check_error, results};

fn create(daemon: &Daemon, further: &[&Path]) -> v1::CreateSessionRequest {
    v1::CreateSessionRequest {
        workspace: daemon.workspace().display().to_string(),
        further_roots: further.iter().map(|root| root.display().to_string()).collect(),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_session_works_in_further_directories_and_does_so_after_a_restart() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::builder().llm(&llm).set("permission.mode", "full").start().await;
    let (further, beside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(further.path().join("a.txt"), "one\n").unwrap();
    std::fs::write(beside.path().join("a.txt"), "hush\n").unwrap();
    let given = beside.path().join("link");
    std::os::unix::fs::symlink(further.path(), &given).unwrap();
    let request = create(&daemon, &[&given]);
    let made = daemon.client().await.session().create_session(request).await.unwrap();
    let session = made.into_inner().session.unwrap();
    // It is kept without links: another directory is not put in its place later.
    let root = further.path().canonicalize().unwrap().display().to_string();
    assert_eq!(session.further_roots, std::slice::from_ref(&root));
    for restarts in [false, true] {
        if restarts {
            daemon.restart().await;
        }
        let mut ann = daemon.attach("ann", &session.session_id).await;
        assert_eq!(ann.session().await.session.unwrap().further_roots, std::slice::from_ref(&root));
        let outside = beside.path().join("a.txt").display().to_string();
        for path in [format!("{root}/a.txt"), outside] {
            llm.push(Reply::tool_call("read_file", &json!({ "path": path }).to_string()));
        }
        llm.push(Reply::text("done"));
        ann.ask("look").await;
        let [.., read, refused] = &results(&ann)[..] else { panic!() };
        assert_eq!((read.output.as_str(), read.status()), ("one\n", v1::ToolStatus::Success));
        assert_eq!(refused.error_code, "PATH_OUTSIDE_WORKSPACE", "{refused:?}");
        let system = llm.requests().last().unwrap().body["messages"][0].to_string();
        assert!(system.contains(&format!("absolute paths:\\n- {root}\\n")), "{system}");
    }
    daemon.stop().await;
}

#[tokio::test]
async fn a_rule_of_the_workspace_that_forbids_holds_in_further_directories() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("permission.mode", "full").start().await;
    let further = tempfile::tempdir().unwrap();
    let root = further.path().canonicalize().unwrap();
    let client = daemon.client().await;
    let made = client.session().create_session(create(&daemon, &[&root])).await.unwrap();
    let mut ann = daemon.attach("ann", &made.into_inner().session.unwrap().session_id).await;
    let glob = "private/**".to_owned();
    let deny = v1::AddRuleRequest {
        effect: v1::RuleEffect::Deny.into(),
        matcher: Some(v1::RuleMatcher { matcher: Some(Matcher::WriteGlob(glob)) }),
        workspace: daemon.workspace().display().to_string(),
        author: Some(ann.author()),
    };
    client.permission().add_rule(deny).await.unwrap();
    for name in ["private/x", "public/x"] {
        let path = root.join(name).display().to_string();
        let arguments = json!({"path": path, "content": "x"}).to_string();
        llm.push(Reply::tool_call("write_file", &arguments));
    }
    llm.push(Reply::text("done"));
    ann.ask("write").await;
    let codes: Vec<String> = results(&ann).into_iter().map(|result| result.error_code).collect();
    assert_eq!(codes, ["PERMISSION_DENIED", ""]);
    assert!(!root.join("private").exists() && root.join("public/x").exists());
    daemon.stop().await;
}

#[tokio::test]
async fn what_a_further_directory_may_not_be_is_refused() {
    let daemon = Daemon::builder().start().await;
    let client = daemon.client().await;
    let (further, home) = (tempfile::tempdir().unwrap(), daemon.home().dir().to_owned());
    let (further, data) = (further.path(), daemon.home().paths().data_dir);
    let inner = further.join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(further.join("file"), "").unwrap();
    let own = daemon.workspace().join("own");
    std::fs::create_dir(&own).unwrap();
    let link = further.join("link");
    std::os::unix::fs::symlink(&data, &link).unwrap();
    let ninth: Vec<std::path::PathBuf> = (0..9).map(|n| further.join(n.to_string())).collect();
    let nine: Vec<&Path> = ninth.iter().map(std::path::PathBuf::as_path).collect();
    for (roots, part) in [
        (vec![Path::new("relative")], "not an absolute path"),
        (vec![Path::new("/no/such/place")], "cannot be used"),
        (vec![&further.join("file")], "not a directory"),
        (vec![&daemon.workspace()], "already"),
        (vec![&own], "already"),
        (vec![&home], "holds"),
        (vec![further, further], "already"),
        (vec![further, &inner], "already"),
        (vec![&inner, further], "holds"),
        (vec![&data], "the daemon's own"),
        (vec![&link], "the daemon's own"),
        (nine, "at most 8"),
    ] {
        let refused = client.session().create_session(create(&daemon, &roots)).await.unwrap_err();
        check_error(&refused, Code::InvalidArgument, part);
        assert!(format!("{refused:?}").contains("further_roots"), "{refused:?}");
    }
    let listed = client.session().list_sessions(v1::ListSessionsRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().sessions, []);
    daemon.stop().await;
}

async fn run(place: &Place, root: &Path, arguments: Value) -> agentd_domain::ToolResult {
    let ctx = ToolContext { further_roots: [root.to_owned()].into(), ..place.context() };
    let call = place.registry.prepare("run_command", &arguments.to_string()).unwrap();
    match call.plan(&ctx).await {
        Ok(planned) => run_call(call, &planned, &ctx, CallLimits::default()).await.result,
        Err(refused) => refused,
    }
}

#[tokio::test]
async fn commands_work_in_further_directories_and_in_none_beside_them() {
    let place = boxed();
    let (further, beside) = (directory(), directory());
    let root = further.path().canonicalize().unwrap();
    let outside = beside.path().canonicalize().unwrap();
    std::fs::write(outside.join("secret"), "hush").unwrap();
    let command = format!("echo one > a; cat a; pwd; cat {}/secret; true", outside.display());
    let here = json!({"command": command, "cwd": root});
    let result = run(&place, &root, here).await;
    let expect = format!("one\n{}\n", root.display());
    assert!(result.output.starts_with(&expect) && !result.output.contains("hush"), "{result:?}");
    assert_eq!(std::fs::read_to_string(root.join("a")).unwrap(), "one\n");
    let reads = json!({"command": "echo two > a", "cwd": root, "read_only": true});
    assert_ne!(run(&place, &root, reads).await.exit_code, Some(0));
    assert_eq!(std::fs::read_to_string(root.join("a")).unwrap(), "one\n");
    std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
    for cwd in [outside.clone(), root.join("link"), root.join(".."), root.join("../x")] {
        let refused = run(&place, &root, json!({"command": "ls", "cwd": cwd})).await;
        let is_refused = ["PATH_OUTSIDE_WORKSPACE", "INVALID_PATH"];
        assert!(is_refused.contains(&refused.error_code.as_str()), "{refused:?}");
    }
}

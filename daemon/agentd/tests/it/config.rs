//! The configuration of a running daemon, and what it says of itself.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, LlmServer, Reply};
use tonic::Code;

use crate::support::check_error;

async fn reload(daemon: &Daemon) -> Result<v1::ReloadConfigResponse, tonic::Status> {
    let client = daemon.client().await;
    Ok(client.admin().reload_config(v1::ReloadConfigRequest {}).await?.into_inner())
}

async fn status(daemon: &Daemon) -> v1::GetStatusResponse {
    let client = daemon.client().await;
    client.admin().get_status(v1::GetStatusRequest {}).await.unwrap().into_inner()
}

#[tokio::test]
async fn a_reload_switches_the_provider_for_the_next_turn() {
    let (old, new) = (LlmServer::start().await, LlmServer::start().await);
    let mut daemon = Daemon::start(&old).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("one").await;
    new.push(Reply::text("from the new one"));
    daemon.home_mut().use_llm(&new);
    daemon.home_mut().set("store.fsync", true);
    daemon.home().write_config();
    let reloaded = reload(&daemon).await.unwrap();
    assert_eq!(reloaded.needs_restart, ["store.fsync"]);
    assert!(reloaded.config_file.ends_with("config.toml"));
    assert_eq!(ann.ask("two").await, "from the new one");
    assert_eq!((old.requests().len(), new.requests().len()), (1, 1));
    assert_eq!(status(&daemon).await.provider.unwrap().base_url, new.base_url());
    daemon.stop().await;
}

#[tokio::test]
async fn a_wrong_key_is_told_with_the_nearest_one_and_the_old_configuration_stays() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut broken = daemon.home().clone();
    for (key, value, part) in [
        ("provider.base_ulr", "x", "provider.base_url"),
        ("session.auto_resume", "sometimes", "session.auto_resume"),
        ("provider.base_url", "ftp://x", "does not begin with http"),
    ] {
        broken.set(key, value);
        broken.write_config();
        let refused = reload(&daemon).await.unwrap_err();
        check_error(&refused, Code::InvalidArgument, part);
        let warnings = status(&daemon).await.warnings.join("\n");
        assert!(warnings.contains("not in force") && warnings.contains(part), "{warnings}");
        broken = daemon.home().clone();
    }
    daemon.home().write_config();
    reload(&daemon).await.unwrap();
    assert_eq!(status(&daemon).await.warnings, Vec::<String>::new());
    let mut ann = daemon.driver("ann").await;
    assert_eq!(ann.ask("still the old one").await, "still the old one");
    daemon.stop().await;
}

#[tokio::test]
async fn a_wrong_configuration_stops_the_start() {
    let refused = Daemon::builder().set("session.rounds_limit", 0).try_start().await.unwrap_err();
    assert!(refused.to_string().contains("0 is not between 1 and 200"), "{refused}");
    let unknown = Daemon::builder().set("session.round_limit", 5).try_start().await.unwrap_err();
    assert!(unknown.to_string().contains("session.rounds_limit"), "{unknown}");
}

#[tokio::test]
async fn an_endpoint_that_is_down_fails_the_turn_and_is_found_again_when_it_is_back() {
    let daemon = Daemon::builder()
        .set("provider.kind", "auto")
        .set("provider.base_url", "http://127.0.0.1:9/v1")
        .set("provider.model", "m")
        .set("provider.max_attempts", 1)
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    ann.submit("hello").await;
    let Body::TurnFailed(failed) = ann.wait_turn_end().await else { panic!("no failure") };
    let warnings = status(&daemon).await.warnings.join("\n");
    assert!(warnings.contains("cannot connect to http://127.0.0.1:9/v1"), "{warnings}");
    let error = failed.error.unwrap();
    assert!(error.retryable && error.message.contains("127.0.0.1:9"), "{error:?}");
    assert!(!error.hint.is_empty());
    daemon.stop().await;
}

#[tokio::test]
async fn a_missing_key_fails_the_turn_where_everybody_sees_it() {
    let daemon = Daemon::builder().set("provider.kind", "deepseek").start().await;
    let mut ann = daemon.driver("ann").await;
    ann.submit("hello").await;
    let Body::TurnFailed(failed) = ann.wait_turn_end().await else { panic!("no failure") };
    let error = failed.error.unwrap();
    assert!(error.message.contains("DEEPSEEK_API_KEY"), "{error:?}");
    let status = status(&daemon).await;
    assert!(status.provider.unwrap().source.contains("DEEPSEEK_API_KEY"));
    daemon.stop().await;
}

#[tokio::test]
async fn the_key_of_the_environment_goes_to_the_provider_and_nowhere_else() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder()
        .set("provider.kind", "auto")
        .env("OPENAI_API_KEY", "sk-very-secret")
        .env("OPENAI_BASE_URL", &llm.base_url())
        .env("OPENAI_MODEL", "from-env")
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    assert_eq!(ann.ask("hello").await, "hello");
    let request = llm.wait_for_request(1).await;
    assert_eq!(request.header("authorization"), Some("Bearer sk-very-secret"));
    assert_eq!(request.model(), "from-env");
    let status = status(&daemon).await;
    assert_eq!(status.provider.as_ref().unwrap().source, "environment OPENAI_API_KEY");
    assert!(!format!("{status:?}").contains("sk-very-secret"));
    assert!(!format!("{:?}", ann.log().await).contains("sk-very-secret"));
    // A provider that echoes the key does not bring it to the terminals.
    llm.push(Reply::error(401, "invalid_api_key", "Incorrect API key: sk-very-secret"));
    ann.submit("again").await;
    ann.wait_turn_end().await;
    assert!(!format!("{:?}", ann.log().await).contains("sk-very-secret"));
    daemon.stop().await;
}

#[tokio::test]
async fn the_status_says_how_the_daemon_is() {
    let llm = LlmServer::start().await;
    llm.set_models(&["scripted", "other"]);
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let gate = agentd_testkit::Gate::new();
    llm.push(Reply::sse().text_delta("a").wait(&gate).finish("stop").done());
    ann.submit("hello").await;
    ann.wait_live_text("a").await;
    let status = status(&daemon).await;
    assert_eq!(status.pid, std::process::id());
    assert_eq!((status.live_sessions, status.running_turns, status.attached_clients), (1, 1, 1));
    assert!(status.store_bytes > 0 && status.resident_bytes > 0 && status.started_at_ms > 0);
    assert_eq!(status.warnings, Vec::<String>::new());
    assert!(status.socket.ends_with("agentd.sock") && status.config_file.ends_with("config.toml"));
    let provider = status.provider.unwrap();
    assert_eq!((provider.kind.as_str(), provider.source.as_str()), ("openai-compatible", "config"));
    assert_eq!(provider.models, ["other", "scripted"]);
    gate.release();
    ann.wait_turn_end().await;
    daemon.stop().await;
}

#[tokio::test]
async fn a_backup_can_be_started_from() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("keep this").await;
    let destination = daemon.home().dir().join("copy");
    let request = || v1::BackupStoreRequest { destination: destination.display().to_string() };
    let report = ann.client().admin().backup_store(request()).await.unwrap().into_inner();
    assert_eq!(report.sessions, 1);
    assert_eq!(report.events, ann.transcript().last_seq());
    let again = ann.client().admin().backup_store(request()).await.unwrap_err();
    check_error(&again, Code::AlreadyExists, "");
    let relative = v1::BackupStoreRequest { destination: "copy".to_owned() };
    let refused = ann.client().admin().backup_store(relative).await.unwrap_err();
    check_error(&refused, Code::InvalidArgument, "");

    let log = ann.log().await;
    let restored = agentd_testkit::Home::new();
    std::fs::create_dir_all(restored.paths().data_dir).unwrap();
    std::fs::rename(&destination, restored.paths().store_dir()).unwrap();
    let other = Daemon::builder().home(&restored).llm(&llm).start().await;
    let bob = other.attach("bob", ann.session_id()).await;
    assert_eq!(bob.log().await, log);
    other.stop().await;
    daemon.stop().await;
}

/// Builds with the feature export them: see the tests in `tests/otel`.
#[cfg(not(feature = "otel"))]
#[tokio::test]
async fn traces_that_this_build_cannot_export_are_told_at_the_start_and_by_the_doctor() {
    let variable = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317");
    for builder in [
        Daemon::builder().set("otel.endpoint", "http://127.0.0.1:4317"),
        Daemon::builder().env(variable.0, variable.1),
    ] {
        let daemon = builder.start().await;
        let warnings = status(&daemon).await.warnings;
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(warning.contains("built without the feature otel"), "{warning}");
        assert!(warning.contains("cargo build --release --package agentd --features otel"));
        let client = daemon.client().await;
        let request = v1::RunChecksRequest { offline: true };
        let checks = client.diagnostics().run_checks(request).await.unwrap().into_inner().checks;
        let check = checks.into_iter().find(|check| check.name == "traces").unwrap();
        assert_eq!(check.outcome(), v1::CheckOutcome::Warn);
        assert!(check.detail.contains("feature otel"), "{check:?}");
        assert!(check.remedy.contains("--features otel"), "{check:?}");
        daemon.stop().await;
    }
}

//! How traces get to a collector, and what happens when they do not.

use agentd::config::OtelConfig;
use agentd_proto::v1;
use agentd_testkit::{Daemon, PATIENCE, ProcessDaemon};

use crate::collector::{Collector, export, export_to};

#[tokio::test]
async fn a_collector_that_hangs_does_not_hold_up_a_stop() {
    let collector = Collector::that_hangs().await;
    let (traces, _guard) = export_to(&collector.url());
    let daemon = Daemon::builder().traces(traces).start().await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    drop(ann);
    // In order, too: what the collector does is no fault of the stop.
    let stopped = tokio::time::timeout(PATIENCE, daemon.stop()).await;
    stopped.expect("the stop does not wait for the collector");
    assert_eq!(collector.requests().len(), 1, "it was asked, and did not answer");
}

#[tokio::test]
async fn a_collector_that_is_away_costs_traces_and_nothing_else() {
    // Nobody listens there any more.
    let url = Collector::start().await.url();
    let (traces, _guard) = export_to(&url);
    let daemon = Daemon::builder().traces(traces).start().await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    drop(ann);
    daemon.stop().await;
}

#[tokio::test]
async fn a_collector_that_refuses_is_told_by_the_doctor() {
    let collector = Collector::that_refuses().await;
    let (traces, _guard) = export_to(&collector.url());
    let daemon = Daemon::builder().traces(traces).start().await;
    let client = daemon.client().await;
    let check = async || {
        let request = v1::RunChecksRequest { offline: true };
        let checks = client.diagnostics().run_checks(request).await.unwrap().into_inner().checks;
        checks.into_iter().find(|check| check.name == "traces").unwrap()
    };
    assert_eq!(check().await.outcome(), v1::CheckOutcome::Ok);
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    collector.wait_for_request().await;
    let told = async {
        loop {
            let check = check().await;
            if check.outcome() == v1::CheckOutcome::Warn {
                return check;
            }
        }
    };
    let told = tokio::time::timeout(PATIENCE, told).await.expect("the doctor tells in time");
    assert!(told.detail.starts_with(&collector.url()), "{told:?}");
    assert!(told.detail.contains("0 spans exported, 1 lost"), "{told:?}");
    assert!(told.detail.contains("no room here"), "{told:?}");
    assert!(told.remedy.contains("4317"), "{told:?}");
    drop(ann);
    daemon.stop().await;
}

#[tokio::test]
async fn the_program_exports_with_the_standard_variables_however_quiet_its_log_is() {
    let collector = Collector::start().await;
    let daemon = ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd"))
        .set("log.level", "error")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret")
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    drop(ann);
    // Without waiting for a stop.
    collector.wait_for_request().await;
    let headers = collector.requests().pop().unwrap().0;
    assert_eq!(headers.get("authorization").unwrap(), "Bearer s3cret");
    assert_eq!(collector.traces().len(), 1);
    daemon.terminate().await;
}

#[tokio::test]
async fn a_collector_is_reached_over_tls_with_a_ca_of_one_s_own() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let collector = Collector::with_tls(&certificate, &key).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, &certificate).unwrap();
    let endpoint = format!("https://localhost:{}", collector.port());
    let config = OtelConfig { endpoint, ..OtelConfig::default() };
    let ca = ("OTEL_EXPORTER_OTLP_CERTIFICATE", file.to_str().unwrap());
    let (traces, _guard) = export(&config, &[ca]);
    let daemon = Daemon::builder().traces(traces).start().await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    drop(ann);
    daemon.stop().await;
    assert_eq!(collector.traces().len(), 1);
}

#[tokio::test]
async fn no_trace_is_exported_when_none_is_sampled() {
    let collector = Collector::start().await;
    let config = OtelConfig { endpoint: collector.url(), sample_ratio: 0.0 };
    let (traces, _guard) = export(&config, &[]);
    let daemon = Daemon::builder().traces(traces).start().await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    drop(ann);
    daemon.stop().await;
    assert_eq!(collector.requests().len(), 0);
}

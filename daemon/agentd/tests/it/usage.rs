//! What requests use: summed by day, model, session and purpose, and limited before they leave.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, Driver, LlmServer, RecordedRequest, Reply};

fn using(prompt_tokens: u64, completion_tokens: u64) -> Reply {
    Reply::sse().text_delta("fine").finish("stop").usage(prompt_tokens, completion_tokens).done()
}

fn asks_for_a_title(request: &RecordedRequest) -> bool {
    request.system_text().starts_with("Write a title")
}

async fn usage(driver: &Driver, group_by: v1::UsageGrouping) -> v1::GetUsageResponse {
    let request = v1::GetUsageRequest { group_by: group_by.into(), ..Default::default() };
    driver.client().usage().get_usage(request).await.unwrap().into_inner()
}

/// Key, requests, tokens of prompts and answers, and cost of each row.
fn rows(report: &v1::GetUsageResponse) -> Vec<(&str, u64, u64, u64, u64)> {
    let row = |row: &v1::UsageRow| {
        let (exact, cost) = (row.exact.unwrap(), row.cost.unwrap());
        assert_eq!(row.estimated.unwrap_or_default(), v1::Usage::default());
        assert_eq!((cost.estimated_nano_usd, cost.unpriced_requests), (0, 0));
        (exact.prompt_tokens, exact.completion_tokens, cost.nano_usd)
    };
    let rows = report.rows.iter().map(|of| {
        let (prompt, completion, cost) = row(of);
        (of.key.as_str(), of.requests, prompt, completion, cost)
    });
    rows.collect()
}

const GROUPINGS: [v1::UsageGrouping; 4] = [
    v1::UsageGrouping::Day,
    v1::UsageGrouping::Model,
    v1::UsageGrouping::Session,
    v1::UsageGrouping::Purpose,
];

#[tokio::test]
async fn what_turns_and_titles_used_is_summed_four_ways_and_survives_a_restart() {
    let llm = LlmServer::start().await;
    llm.set_default(
        |request| {
            if asks_for_a_title(request) { using(10, 5) } else { using(1_000, 100) }
        },
    );
    // 2026-11-29.
    let clock = agentd_testkit::FakeClock::at(1_795_910_400_000);
    let mut daemon = Daemon::builder()
        .llm(&llm)
        .clock(std::sync::Arc::new(clock))
        .set("session.titles", "model")
        .set("provider.cheap_model", "cheap")
        .set("models.scripted.prices.prompt", 1.0)
        .set("models.scripted.prices.completion", 2.0)
        .set("models.cheap.prices.prompt", 1.0)
        .set("models.cheap.prices.completion", 1.0)
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    let mut bob = daemon.driver("bob").await;
    for driver in [&mut ann, &mut bob] {
        driver.ask("hello").await;
        let titled = |seen: &Driver| seen.transcript().title_source() == v1::TitleSource::Model;
        driver.wait_until("the title", titled).await;
    }
    ann.ask("and now?").await;

    let mut before = Vec::new();
    for group_by in GROUPINGS {
        before.push(usage(&ann, group_by).await);
    }
    let (turn, title) = (1_200_000, 15_000);
    let all = (5, 3_020, 310, 3 * turn + 2 * title);
    assert_eq!(rows(&before[0]), [("2026-11-29", all.0, all.1, all.2, all.3)]);
    let (turns, titles) = ((3, 3_000, 300, 3 * turn), (2, 20, 10, 2 * title));
    let row = |key, (requests, prompt, completion, cost)| (key, requests, prompt, completion, cost);
    assert_eq!(rows(&before[1]), [row("scripted", turns), row("cheap", titles)]);
    let of_ann = row(ann.session_id(), (3, 2_010, 205, 2 * turn + title));
    let of_bob = row(bob.session_id(), (2, 1_010, 105, turn + title));
    assert_eq!(rows(&before[2]), [of_ann, of_bob]);
    assert_eq!(rows(&before[3]), [row("title", titles), row("turn", turns)]);
    for report in &before {
        let total = report.total.as_ref().unwrap();
        assert_eq!((total.requests, total.cost.unwrap().nano_usd), (all.0, all.3));
    }

    let session_id = ann.session_id().to_owned();
    daemon.restart().await;
    let ann = daemon.attach("ann", &session_id).await;
    for (group_by, before) in GROUPINGS.into_iter().zip(&before) {
        assert_eq!(&usage(&ann, group_by).await, before, "{group_by:?}");
    }
    daemon.stop().await;
}

/// A first turn uses the limit up: the second fails before its request, in tokens and in money.
async fn check_limit(kind: &str, path: &str, key: &str, limit: impl Into<serde_json::Value>) {
    let llm = LlmServer::start().await;
    llm.set_default(|_| using(60_000, 100));
    let daemon = Daemon::builder()
        .llm(&llm)
        .set("provider.kind", kind)
        .env("ANTHROPIC_API_KEY", "sk-test")
        .set("models.scripted.prices.prompt", 1.0)
        .set("models.scripted.prices.completion", 2.0)
        .set("models.scripted.context_tokens", 200_000)
        .set(key, limit)
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    assert!(llm.requests()[0].path.ends_with(path), "{kind}: {}", llm.requests()[0].path);
    ann.submit("once more").await;
    let Body::TurnFailed(failed) = ann.wait_turn_end().await else {
        panic!("{kind} {key}: the turn did not fail")
    };
    let error = failed.error.unwrap();
    assert_eq!(error.code, "BUDGET_EXCEEDED", "{kind} {key}");
    assert!(error.message.contains(key), "{kind}: {} does not name {key}", error.message);
    assert_eq!(llm.requests().len(), 1, "{kind} {key}: it stops before the request");
    daemon.stop().await;
}

#[tokio::test]
async fn a_limit_stops_a_turn_before_its_request_over_every_api() {
    for (kind, path) in [
        ("openai", "/chat/completions"),
        ("anthropic", "/messages"),
        ("openai-responses", "/responses"),
    ] {
        check_limit(kind, path, "budget.session_tokens", 50_000).await;
        check_limit(kind, path, "budget.day_usd", 0.05).await;
    }
}

//! A server on a bad day, on every API.

use std::collections::BTreeMap;
use std::time::Duration;

use agentd_llm::{Request, Timeouts};
use agentd_testkit::{Api, ChaosRates, LlmServer};

use crate::support::{PATIENT, ask, complete, on_every_api, provider_of_with, tool};

/// Enough to see everything that can happen.
const REQUESTS: usize = 250;
/// What the server calls a stall, which is longer than what we call one.
const STALL: Duration = Duration::from_millis(800);
const SHORT: Duration = Duration::from_millis(400);

on_every_api! {
    every_request_ends_whatever_the_server_does,
}

async fn every_request_ends_whatever_the_server_does(api: Api) {
    let llm = LlmServer::start().await;
    let rates =
        ChaosRates { drip: 2, stall: 1, late_headers: 1, huge_line: 3, ..ChaosRates::default() };
    llm.chaos(7, rates, STALL);
    let timeouts = Timeouts { first_byte: SHORT, idle: SHORT, ..PATIENT };
    let provider = provider_of_with(api, &llm, timeouts);
    let request = Request { tools: vec![tool("now")], ..ask("hi") };
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..REQUESTS {
        let answer = complete(&*provider, request.clone()).await;
        if let Some(end) = &answer.end {
            assert!(!answer.text.is_empty() || !end.tool_calls.is_empty(), "{end:?}");
            assert!(end.tool_calls.iter().all(|call| call.is_whole), "{end:?}");
        }
        *ends.entry(answer.error_code()).or_default() += 1;
    }
    for code in [
        "",
        "PROVIDER_STREAM_CUT",
        "PROVIDER_EMPTY_ANSWER",
        "PROVIDER_IDLE_TIMEOUT",
        "PROVIDER_FIRST_BYTE_TIMEOUT",
        "PROVIDER_RATE_LIMITED",
        "PROVIDER_ERROR",
        "PROVIDER_PROTOCOL",
        "PROVIDER_ANSWER_TOO_LARGE",
    ] {
        assert!(ends.contains_key(code), "no '{code}' in {ends:?}");
    }
    assert!(ends[""] > REQUESTS / 2, "{ends:?}");
    assert_eq!(llm.served(), REQUESTS);
    assert_eq!(llm.violations(), Vec::<String>::new());
}

//! Very long answers, and many deltas.

use agentd_testkit::{LlmServer, Pace, Reply};

use crate::support::{ask, complete, provider};

#[tokio::test]
async fn twenty_thousand_deltas_arrive_whole_and_merged() {
    let llm = LlmServer::start().await;
    let provider = provider(&llm);
    for pace in [Pace::EachWrite, Pace::Coalesced] {
        llm.push(
            Reply::sse().deltas(20_000, "token ", pace).finish("stop").usage(1, 20_000).done(),
        );
        let answer = complete(&provider, ask("go")).await;
        assert_eq!(answer.error_code(), "");
        assert_eq!(answer.text.len(), 20_000 * "token ".len());
        if pace == Pace::Coalesced {
            // Blocks of 64 KiB hold hundreds of deltas each.
            assert!(answer.parts < 2_000, "{} parts", answer.parts);
        }
    }
}

#[tokio::test]
async fn an_answer_of_several_megabytes_in_one_delta_is_taken() {
    let llm = LlmServer::start().await;
    let huge = "世界".repeat(1024 * 1024);
    llm.push(Reply::text(&huge));
    let answer = complete(&provider(&llm), ask("go")).await;
    assert_eq!(answer.error_code(), "");
    assert_eq!(answer.text.len(), huge.len());
}

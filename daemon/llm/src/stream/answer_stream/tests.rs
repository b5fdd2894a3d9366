//! Any way of cutting the body gives the same answer.

use futures_util::{StreamExt as _, stream};
use proptest::prelude::*;

use super::*;
use crate::http::error_text::ErrorText;
use crate::open_ai::ChatDecoder;
use crate::{Completion, Finish};

/// A recorded stream with everything in it that cuts could break.
const RECORDED: &str = concat!(
    ": connected\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"想一想\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"使用\"}}]}\n\n",
    "event: message\ndata: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\" 😀\\ud83d\"}}]}\n\n",
    "data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ude00!\"}}]}\r\r",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"q\\\":\\\"世\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"界\\\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n",
    "data: [DONE]\n\n",
);

type Answer = (String, String, Option<Completion>);

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(50);

/// Limits that no test reaches by accident.
fn patient() -> Limits {
    Limits {
        base_url: String::new(),
        first_byte: LONG,
        first_byte_by: Instant::now() + LONG,
        idle: LONG,
        without_content: LONG,
        after_finish: LONG,
        nothing_understood: None,
        max_bytes: 10_000,
    }
}

fn read(pieces: Vec<Vec<u8>>) -> Result<Answer, LlmError> {
    let pieces = pieces.into_iter().map(|piece| Ok(Bytes::from(piece)));
    read_body(stream::iter(pieces).boxed(), patient())
}

fn read_body(body: Body, limits: Limits) -> Result<Answer, LlmError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let decoder = ChatDecoder::new(ErrorText::default(), 10_000);
        let format = BodyFormat::Events(SseDecoder::default());
        let mut answer = AnswerStream::new(body, format, decoder, limits);
        let (mut reasoning, mut text, mut end) = (String::new(), String::new(), None);
        while let Some(part) = answer.next().await {
            match part? {
                StreamPart::Reasoning(part) => reasoning.push_str(&part),
                StreamPart::Text(part) => text.push_str(&part),
                StreamPart::Restarted(_) => panic!("a provider does not try again"),
                StreamPart::Finished(completion) => end = Some(completion),
            }
        }
        Ok((reasoning, text, end))
    })
}

fn cut(bytes: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|at| at % bytes.len()).collect();
    cuts.sort_unstable();
    cuts.push(bytes.len());
    let mut from = 0;
    let mut pieces = Vec::new();
    for at in cuts {
        pieces.push(bytes[from..at].to_vec());
        from = at;
    }
    pieces
}

#[test]
fn ps_01_one_byte_at_a_time_gives_the_whole_answer() {
    let pieces = RECORDED.bytes().map(|byte| vec![byte]).collect();
    let (reasoning, text, end) = read(pieces).expect("an answer");
    assert_eq!((reasoning.as_str(), text.as_str()), ("想一想", "使用 😀😀!"));
    let end = end.expect("an end");
    assert_eq!(end.finish, Finish::Done);
    assert_eq!(end.tool_calls[0].arguments_json, r#"{"q":"世界"}"#);
    assert_eq!(end.usage.expect("usage").prompt_tokens, 3);
}

/// A body that goes on with this piece for ever.
fn endless(start: &'static str, more: &'static str) -> Body {
    let start = stream::once(async move { Ok(Bytes::from_static(start.as_bytes())) });
    start.chain(stream::repeat_with(move || Ok(Bytes::from_static(more.as_bytes())))).boxed()
}

const SAID: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
const FINISHED: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";

#[test]
fn ps_05_an_answer_with_its_end_does_not_wait_for_a_server_that_stays() {
    let silent = stream::once(async { Ok(Bytes::from_static(FINISHED.as_bytes())) });
    for body in [silent.chain(stream::pending()).boxed(), endless(FINISHED, ": still here\n\n")] {
        let limits = Limits { after_finish: SHORT, ..patient() };
        let (_, text, end) = read_body(body, limits).expect("an answer");
        assert_eq!((text.as_str(), end.expect("an end").finish), ("hi", Finish::Done));
    }
}

#[test]
fn ps_05_the_usage_may_follow_the_end_for_a_while() {
    let usage =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
    let pieces = [FINISHED, ": a\n\n", usage].map(|piece| Ok(Bytes::from_static(piece.as_bytes())));
    let body = stream::iter(pieces).chain(stream::pending()).boxed();
    let (_, _, end) = read_body(body, Limits { after_finish: SHORT, ..patient() }).expect("one");
    assert_eq!(end.expect("an end").usage.expect("usage").prompt_tokens, 3);
}

#[test]
fn ps_04_drips_without_content_end_in_an_idle_timeout() {
    let empty = "data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n";
    for (start, more) in [(SAID, ": working\n\n"), (SAID, "d"), ("", "\n"), (SAID, empty)] {
        let limits = Limits { without_content: SHORT, ..patient() };
        let error = read_body(endless(start, more), limits).expect_err("an error");
        assert!(matches!(error, LlmError::IdleTimeout { after: SHORT }), "{more:?}: {error}");
    }
}

#[test]
fn ps_04_content_keeps_a_slow_answer_alive() {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let limits = Limits { without_content: SHORT, ..patient() };
        let decoder = ChatDecoder::new(ErrorText::default(), 10_000);
        let format = BodyFormat::Events(SseDecoder::default());
        let mut answer = AnswerStream::new(stream::pending().boxed(), format, decoder, limits);
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        answer.take_bytes(b": working\n\n").unwrap();
        assert_eq!(answer.deadline(at(0)), at(50));
        answer.take_bytes(b": working\n\n").unwrap();
        assert_eq!(answer.deadline(at(40)), at(50));
        answer.take_bytes(SAID.as_bytes()).unwrap();
        assert_eq!(answer.deadline(at(45)), at(95));
        answer.take_bytes(b": working\n\n").unwrap();
        assert_eq!(answer.deadline(at(60)), at(95));
    });
}

proptest! {
    #[test]
    fn ps_01_any_way_of_cutting_gives_the_same_answer(
        cuts in prop::collection::vec(0_usize..10_000, 0..40),
    ) {
        let whole = read(vec![RECORDED.as_bytes().to_vec()]).expect("an answer");
        prop_assert_eq!(read(cut(RECORDED.as_bytes(), &cuts)).expect("an answer"), whole);
    }

    #[test]
    fn ps_05_a_stream_cut_anywhere_is_never_a_whole_answer(at in 0_usize..10_000) {
        // Up to the byte before the end of the line that holds the reason to finish.
        let end = RECORDED.find("\"}]}\n\ndata: {\"choices\":[],").expect("the reason to finish");
        let answer = read(vec![RECORDED.as_bytes()[..at % end].to_vec()]);
        let error = answer.expect_err("a cut answer").code();
        prop_assert!(matches!(error, "PROVIDER_STREAM_CUT" | "PROVIDER_EMPTY_ANSWER"), "{}", error);
    }
}

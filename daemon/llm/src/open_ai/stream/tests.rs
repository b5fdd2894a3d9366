//! Any way of cutting the body gives the same answer.

use futures_util::{StreamExt as _, stream};
use proptest::prelude::*;

use super::*;
use crate::error_text::ErrorText;
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

fn read(pieces: Vec<Vec<u8>>) -> Result<Answer, LlmError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let body = stream::iter(pieces.into_iter().map(|piece| Ok(Bytes::from(piece)))).boxed();
        let limits = Limits {
            base_url: String::new(),
            first_byte: Duration::from_secs(60),
            first_byte_by: Instant::now() + Duration::from_secs(60),
            idle: Duration::from_secs(60),
            max_bytes: 10_000,
        };
        let decoder = AnswerDecoder::new(ErrorText::default(), 10_000);
        let format = BodyFormat::Events(SseDecoder::default());
        let mut answer = AnswerStream::new(body, format, decoder, limits);
        let (mut reasoning, mut text, mut end) = (String::new(), String::new(), None);
        while let Some(part) = answer.next().await {
            match part? {
                StreamPart::Reasoning(part) => reasoning.push_str(&part),
                StreamPart::Text(part) => text.push_str(&part),
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

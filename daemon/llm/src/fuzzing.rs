//! What the fuzz targets run: any bytes, in any pieces, through a decoder.
//!
//! An input is a body and, as its last five bytes, how it arrives: a byte of flags and a number that the
//! pieces are made from. What must hold is asserted here: nothing panics, no more waits than the
//! limit, and neither the pieces nor when the parts are taken change the answer.

use crate::anthropic::MessagesDecoder;
use crate::http::error_text::ErrorText;
use crate::open_ai::ChatDecoder;
use crate::responses::ResponsesDecoder;
use crate::stream::sse::SseDecoder;
use crate::stream::{AnswerDecoder, BodyEnd};
use crate::{Completion, LlmError, StreamPart};

/// Most bytes of an answer: little, so that inputs reach it.
const LIMIT: usize = 2 * 1024;
/// Bytes that replace halves of characters when an answer ends.
const CLOSING: usize = 2 * char::REPLACEMENT_CHARACTER.len_utf8();
/// Longest piece.
const MAX_PIECE: u32 = 64;

/// An answer of Chat Completions.
pub fn chat(input: &[u8]) {
    run(input, || ChatDecoder::new(ErrorText::default(), LIMIT));
}

/// An answer of Anthropic's Messages API.
pub fn anthropic(input: &[u8]) {
    run(input, || MessagesDecoder::new(ErrorText::default(), "m", LIMIT));
}

/// An answer of OpenAI's Responses API.
pub fn responses(input: &[u8]) {
    run(input, || ResponsesDecoder::new(ErrorText::default(), "m", LIMIT));
}

/// How the body arrives.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    /// In one JSON text instead of a stream.
    is_whole: bool,
    end: BodyEnd,
    /// Parts are taken after each piece.
    is_drained: bool,
    seed: u32,
}

/// What was said, and how it ended.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    reasoning: String,
    text: String,
    end: Option<Result<Completion, String>>,
}

impl Outcome {
    fn take(&mut self, decoder: &mut impl AnswerDecoder) {
        while let Some(part) = decoder.parts_mut().take() {
            match part {
                StreamPart::Reasoning(text) => self.reasoning.push_str(&text),
                StreamPart::Text(text) => self.text.push_str(&text),
                StreamPart::Restarted(_) | StreamPart::Finished(_) => {
                    unreachable!("a decoder queues only what is said")
                }
            }
        }
        assert_eq!(decoder.parts().queued_bytes(), 0, "parts that nobody counted");
    }
}

fn run<D: AnswerDecoder>(input: &[u8], decoder: impl Fn() -> D) {
    let Some((body, [flags, seed @ ..])) = input.split_last_chunk::<5>() else { return };
    let arrival = Arrival {
        is_whole: flags & 1 != 0,
        end: if flags & 2 != 0 { BodyEnd::Broken } else { BodyEnd::Clean },
        is_drained: flags & 4 != 0,
        seed: u32::from_le_bytes(*seed),
    };
    if arrival.is_whole {
        check(&whole(body, decoder(), arrival.end));
        return;
    }
    let at_once =
        streamed(std::iter::once(body), decoder(), Arrival { is_drained: false, ..arrival });
    let in_pieces = streamed(Pieces { rest: body, state: arrival.seed }, decoder(), arrival);
    check(&at_once);
    assert_eq!(at_once, in_pieces, "the pieces change the answer");
}

fn whole(body: &[u8], mut decoder: impl AnswerDecoder, end: BodyEnd) -> Outcome {
    let mut outcome = Outcome::default();
    let read = decoder.on_whole_body(body);
    let end = read.and_then(|()| decoder.end(end));
    bounded(&decoder, CLOSING);
    outcome.take(&mut decoder);
    outcome.end = Some(end.map_err(|error| error.to_string()));
    outcome
}

fn streamed<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    mut decoder: impl AnswerDecoder,
    arrival: Arrival,
) -> Outcome {
    let (mut events, mut outcome) = (SseDecoder::default(), Outcome::default());
    let read = || -> Result<Completion, LlmError> {
        for piece in pieces {
            let pushed = events.push(piece, |event| {
                if decoder.is_done() { Ok(()) } else { decoder.on_event(event) }
            });
            bounded(&decoder, 0);
            pushed?;
            if arrival.is_drained {
                outcome.take(&mut decoder);
            }
        }
        if arrival.end == BodyEnd::Clean {
            events
                .finish(|event| if decoder.is_done() { Ok(()) } else { decoder.on_event(event) })?;
        }
        decoder.end(arrival.end)
    };
    let end = read();
    bounded(&decoder, CLOSING);
    outcome.take(&mut decoder);
    outcome.end = Some(end.map_err(|error| error.to_string()));
    outcome
}

fn bounded(decoder: &impl AnswerDecoder, more: usize) {
    let queued = decoder.parts().queued_bytes();
    assert!(queued <= LIMIT + more, "{queued} bytes wait");
}

/// What holds of any answer.
fn check(outcome: &Outcome) {
    assert!(outcome.reasoning.len() + outcome.text.len() <= LIMIT + CLOSING, "more than the limit");
    let Some(Ok(completion)) = &outcome.end else { return };
    // A byte that is no text becomes three; a call without arguments has "{}".
    let most = LIMIT * 3 + 2 * completion.tool_calls.len();
    let arguments = completion.tool_calls.iter().map(|call| call.arguments_json.len());
    assert!(arguments.sum::<usize>() <= most, "arguments beyond the limit");
    for block in completion.native.iter().flat_map(|native| &native.blocks) {
        let value = serde_json::from_str::<serde_json::Value>(block);
        assert!(value.is_ok_and(|value| value.is_object()), "a native block that is no object");
    }
}

/// Cuts a body into pieces of 1 to [`MAX_PIECE`] bytes by a xorshift of the seed.
struct Pieces<'a> {
    rest: &'a [u8],
    state: u32,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        // Marsaglia, "Xorshift RNGs", 2003; 0 would stay 0.
        self.state |= u32::from(self.state == 0);
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        let length = usize::try_from(self.state % MAX_PIECE + 1).unwrap_or(1);
        let (piece, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// Runs all seeds of a target, each cut anywhere and in several ways of arriving.
    fn check_seeds(target: &str, run: fn(&[u8])) {
        let folder =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
        let mut seeds = 0;
        for file in fs::read_dir(folder).expect("seeds") {
            let seed = fs::read(file.expect("a seed").path()).expect("a seed");
            seeds += 1;
            for flags in 0..8 {
                for end in (0..=seed.len()).step_by(7) {
                    run(&[&seed[..end], &[flags, 1, 2, 3, 4]].concat());
                }
                run(&[&seed[..], &[flags, 4, 3, 2, 1]].concat());
            }
        }
        assert!(seeds >= 4, "{seeds} seeds of {target}");
    }

    #[test]
    fn ps_01_no_cut_of_a_known_chat_stream_breaks_the_decoder() {
        check_seeds("chat", chat);
    }

    #[test]
    fn ps_01_no_cut_of_a_known_anthropic_stream_breaks_the_decoder() {
        check_seeds("anthropic", anthropic);
    }

    #[test]
    fn ps_01_no_cut_of_a_known_responses_stream_breaks_the_decoder() {
        check_seeds("responses", responses);
    }
}

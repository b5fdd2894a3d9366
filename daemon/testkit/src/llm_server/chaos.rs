//! Answers as a bad day gives them, the same for the same seed.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;

use super::{RecordedRequest, Reply};

/// How often each thing happens, as weights. Zero means never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChaosRates {
    /// A good answer in words.
    pub text: u32,
    /// A good tool call, where tools are on offer and none was called since the last user message.
    pub tool_call: u32,
    /// A good answer that drips.
    pub drip: u32,
    /// The connection ends within the answer.
    pub cut: u32,
    /// The connection is reset within the answer.
    pub reset: u32,
    /// The answer falls silent for the given stall, and then the connection ends.
    pub stall: u32,
    /// Headers that come only after the given stall, if the client waits that long.
    pub late_headers: u32,
    /// 429, with Retry-After in seconds or as a date.
    pub rate_limit: u32,
    /// 500, 503 or 529.
    pub server_error: u32,
    /// An event that is no JSON.
    pub garbage: u32,
    /// A good answer in an odd shape.
    pub odd: u32,
    /// No answer at all.
    pub empty: u32,
    /// A line beyond all limits.
    pub huge_line: u32,
}

impl ChaosRates {
    /// How many things may happen.
    pub const KINDS: usize = 13;
}

impl Default for ChaosRates {
    fn default() -> Self {
        Self {
            text: 40,
            tool_call: 15,
            drip: 8,
            cut: 6,
            reset: 4,
            stall: 2,
            late_headers: 2,
            rate_limit: 5,
            server_error: 5,
            garbage: 2,
            odd: 8,
            empty: 2,
            huge_line: 1,
        }
    }
}

/// A server in chaos mode.
#[derive(Debug, Clone)]
pub(super) struct Chaos {
    pub(super) seed: u64,
    pub(super) rates: ChaosRates,
    /// The longest silence.
    pub(super) stall: Duration,
}

/// Bytes of a huge line: more than a decoder may keep.
const HUGE: usize = 9 * 1024 * 1024;
/// Between the pieces of an answer that drips.
const DRIP: Duration = Duration::from_millis(20);

impl Chaos {
    /// The answer to the request of this number, and its name among the rates.
    pub(super) fn answer(&self, serial: usize, request: &RecordedRequest) -> (&'static str, Reply) {
        // The golden ratio spreads neighbouring numbers (Knuth, TAOCP 3, 6.4).
        let serial = u64::try_from(serial).unwrap_or(u64::MAX);
        let mut rng =
            fastrand::Rng::with_seed(self.seed ^ serial.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let rates = &self.rates;
        let table: [(u32, &str, Answer); ChaosRates::KINDS] = [
            (rates.text, "text", Answer::Text),
            (rates.tool_call, "tool_call", Answer::ToolCall),
            (rates.drip, "drip", Answer::Drip),
            (rates.cut, "cut", Answer::Cut),
            (rates.reset, "reset", Answer::Reset),
            (rates.stall, "stall", Answer::Stall),
            (rates.late_headers, "late_headers", Answer::LateHeaders),
            (rates.rate_limit, "rate_limit", Answer::RateLimit),
            (rates.server_error, "server_error", Answer::ServerError),
            (rates.garbage, "garbage", Answer::Garbage),
            (rates.odd, "odd", Answer::Odd),
            (rates.empty, "empty", Answer::Empty),
            (rates.huge_line, "huge_line", Answer::HugeLine),
        ];
        let total: u32 = table.iter().map(|(weight, ..)| weight).sum();
        let mut at = if total == 0 { 0 } else { rng.u32(..total) };
        let mut chosen = ("text", Answer::Text);
        for (weight, name, answer) in table {
            if at < weight {
                chosen = (name, answer);
                break;
            }
            at -= weight;
        }
        let (name, answer) = chosen;
        (name, self.reply(answer, &mut rng, request))
    }

    fn reply(&self, answer: Answer, rng: &mut fastrand::Rng, request: &RecordedRequest) -> Reply {
        let words = words(rng);
        match answer {
            Answer::Text => {
                let mut reply = Reply::sse();
                if rng.bool() {
                    reply = reply.reasoning("Let me think about that.");
                }
                good_end(said(reply, &words))
            }
            Answer::ToolCall => match call(rng, request) {
                Some((name, arguments)) => Reply::tool_call(&name, &arguments),
                None => good_end(said(Reply::sse(), &words)),
            },
            Answer::Drip => {
                let mut reply = Reply::sse();
                for word in &words {
                    reply = reply.text_delta(word).pause(DRIP);
                }
                good_end(reply)
            }
            Answer::Cut => match rng.u8(..3) {
                0 => said(Reply::sse(), &words).cut(),
                1 => said(Reply::sse(), &words),
                _ => half_call(said(Reply::sse(), &words)).cut(),
            },
            Answer::Reset => match rng.u8(..3) {
                0 => Reply::hang_up(),
                1 => said(Reply::sse(), &words).reset(),
                _ => half_call(Reply::sse()).reset(),
            },
            Answer::Stall => said(Reply::sse(), &words).pause(self.stall).cut(),
            Answer::LateHeaders => {
                good_end(said(Reply::sse(), &words)).pause_before_headers(self.stall)
            }
            Answer::RateLimit => {
                let reply = Reply::error(429, "rate_limit_exceeded", "slow down");
                if rng.bool() {
                    reply.header("retry-after", "1")
                } else {
                    reply
                        .header("date", "Wed, 21 Oct 2015 07:28:00 GMT")
                        .header("retry-after", "Wed, 21 Oct 2015 07:28:01 GMT")
                }
            }
            Answer::ServerError => match rng.u8(..4) {
                0 => Reply::error(500, "server_error", "it broke"),
                1 => Reply::error(503, "service_unavailable", "not now"),
                2 => Reply::error(529, "overloaded_error", "too much"),
                _ => said(Reply::sse(), &words)
                    .error_event(&json!({"message": "overloaded", "code": "server_error"})),
            },
            Answer::Garbage => good_end(said(Reply::sse(), &words).data("{\"choices\": [garbage")),
            Answer::Odd => odd(rng, request, &words),
            Answer::Empty => match rng.u8(..2) {
                0 => Reply::sse(),
                _ => Reply::sse().finish("stop").done(),
            },
            Answer::HugeLine => {
                let line = format!("data: {}", "x".repeat(HUGE));
                said(Reply::sse(), &words).raw(line)
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    Text,
    ToolCall,
    Drip,
    Cut,
    Reset,
    Stall,
    LateHeaders,
    RateLimit,
    ServerError,
    Garbage,
    Odd,
    Empty,
    HugeLine,
}

/// Good answers whose shape some servers are known for.
fn odd(rng: &mut fastrand::Rng, request: &RecordedRequest, words: &[String]) -> Reply {
    let call = call(rng, request);
    match (rng.u8(..6), call) {
        // No index, the whole call at once.
        (0, Some((name, arguments))) => Reply::sse()
            .tool_delta(&json!({"id": "c", "function": {"name": name, "arguments": arguments}}))
            .finish("tool_calls")
            .done(),
        // Null content, no id, no usage.
        (1, Some((name, arguments))) => Reply::sse()
            .delta(&json!({"role": "assistant", "content": null}))
            .tool_delta(&json!({"index": 0, "function": {"name": name, "arguments": arguments}}))
            .finish("stop")
            .done(),
        (2, _) => said(Reply::sse().raw(": keep-alive\n\n"), words).finish("stop"),
        (3, _) => said(Reply::sse(), words).finish("stop").done().until_close(),
        (4, _) => Reply::whole_json(&words.concat()),
        _ => good_end(said(Reply::sse(), words)).byte_by_byte(),
    }
}

/// A call of a tool that is on offer, unless one was called just now: turns must end.
fn call(rng: &mut fastrand::Rng, request: &RecordedRequest) -> Option<(String, String)> {
    let last = request.messages().last().map(ToString::to_string).unwrap_or_default();
    let is_after_tool = ["\"role\":\"tool\"", "\"tool_result\"", "\"function_call_output\""]
        .iter()
        .any(|mark| last.contains(mark));
    if is_after_tool {
        return None;
    }
    let tools = request.tool_names();
    let name = if tools.contains(&"calculator") { "calculator" } else { tools.first()? };
    let arguments = if name == "calculator" {
        json!({"expression": format!("{}+{}", rng.u8(..), rng.u8(..))}).to_string()
    } else {
        "{}".to_owned()
    };
    Some((name.to_owned(), arguments))
}

fn half_call(reply: Reply) -> Reply {
    reply.tool_delta(
        &json!({"index": 0, "id": "half", "function": {"name": "calculator", "arguments": "{\"expr"}}),
    )
}

fn words(rng: &mut fastrand::Rng) -> Vec<String> {
    const WORDS: &[&str] = &["so ", "it ", "is, ", "使用 ", "maybe ", "😀 ", "then ", "done "];
    let count = rng.usize(1..40);
    let mut words: Vec<String> =
        (0..count).filter_map(|_| rng.choice(WORDS)).map(|word| (*word).to_owned()).collect();
    if let Some(last) = words.last_mut() {
        // Writing to a String cannot fail.
        let _ = write!(last, "{}.", rng.u16(..));
    }
    words
}

fn said(mut reply: Reply, words: &[String]) -> Reply {
    for word in words {
        reply = reply.text_delta(word);
    }
    reply
}

fn good_end(reply: Reply) -> Reply {
    reply.finish("stop").usage(100, 20).done()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answers(seed: u64, body: &Value) -> Vec<String> {
        // A huge line takes long to write down.
        let rates = ChaosRates { huge_line: 0, ..ChaosRates::default() };
        let chaos = Chaos { seed, rates, stall: Duration::from_millis(1) };
        let request = RecordedRequest {
            method: "POST".to_owned(),
            path: "/v1/chat/completions".to_owned(),
            headers: Vec::new(),
            raw: Vec::new(),
            body: body.clone(),
        };
        let answer = |serial| {
            let mut text = format!("{:?}", chaos.answer(serial, &request).1);
            text.truncate(4096);
            text
        };
        (1..=200).map(answer).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_answers() {
        let ask = json!({"messages": [{"role": "user", "content": "hi"}]});
        let first = answers(1, &ask);
        assert_eq!(first, answers(1, &ask));
        assert_ne!(first, answers(2, &ask));
        for mark in ["status: 429", "status: 500", "status: 503", "status: 529", "end: Cut"] {
            assert!(first.iter().any(|answer| answer.contains(mark)), "{mark}");
        }
    }

    #[test]
    fn tools_are_called_once_a_round_and_only_when_on_offer() {
        let is_call = |answer: &String| answer.contains("tool_calls") && !answer.contains("half");
        let tools = json!([{"function": {"name": "calculator"}}]);
        let asked = json!({"role": "user", "content": "hi"});
        let answered = json!({"role": "tool", "content": "3"});
        assert!(!answers(1, &json!({"messages": [asked]})).iter().any(is_call));
        let ask = json!({"messages": [asked], "tools": tools});
        assert!(answers(1, &ask).iter().any(is_call));
        let after = json!({"messages": [asked, answered], "tools": tools});
        assert!(!answers(1, &after).iter().any(is_call));
    }
}

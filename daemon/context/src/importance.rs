//! How much a message matters (spec c.15).

use agentd_llm::Message;

/// What a message counts for before anything is known of it.
const BASE: f64 = 1.0;
/// Weight of each message is that of the one after it, times this.
const DECAY: f64 = 0.95;
/// Words that tell that something matters, and how much.
const WORDS: [(&[&str], f64); 8] = [
    (&["error", "错误"], 0.3),
    (&["critical", "关键"], 0.3),
    (&["decision", "decide", "决定"], 0.25),
    (&["important", "重要"], 0.2),
    (&["remember", "记住"], 0.2),
    (&["conclusion", "结论"], 0.2),
    (&["key"], 0.15),
    (&["result", "结果"], 0.15),
];

/// How much a message matters, 0 to 1, when `after` messages follow it.
pub(crate) fn importance(message: &Message, after: usize) -> f64 {
    let (role, text, calls) = match message {
        Message::System(text) => (1.0, text.as_str(), false),
        Message::User { text, .. } => (0.8, text.as_str(), false),
        Message::Assistant { text, tool_calls, .. } => (0.6, text.as_str(), !tool_calls.is_empty()),
        Message::Tool { output, .. } => (0.5, output.as_str(), false),
    };
    let after = i32::try_from(after).unwrap_or(i32::MAX);
    let calls = if calls { 0.2 } else { 0.0 };
    let score =
        0.3 * BASE + 0.3 * DECAY.powi(after) + 0.2 * role + 0.15 * by_words(text).min(0.3) + calls;
    score.min(1.0)
}

fn by_words(text: &str) -> f64 {
    let text = text.to_lowercase();
    WORDS
        .iter()
        .filter(|(words, _)| words.iter().any(|word| text.contains(word)))
        .map(|it| it.1)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_that_of_the_specification() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(importance(&Message::user("hello"), 0), 0.3 + 0.3 + 0.16);
        near(importance(&Message::user("hello"), 10), 0.3 + 0.3 * 0.95_f64.powi(10) + 0.16);
        near(importance(&Message::user("An ERROR: remember the key"), 0), 0.76 + 0.15 * 0.3);
        near(importance(&Message::user("the result"), 0), 0.76 + 0.15 * 0.15);
        let call = agentd_domain::ToolCall {
            call_id: "c".parse().expect("an id"),
            name: "t".to_owned(),
            arguments_json: "{}".to_owned(),
        };
        let calls = Message::Assistant {
            native: None,
            reasoning: String::new(),
            text: String::new(),
            tool_calls: vec![call],
        };
        near(importance(&calls, 0), 0.3 + 0.3 + 0.12 + 0.2);
        near(
            importance(&Message::System("critical decision".to_owned()), 0),
            0.3 + 0.3 + 0.2 + 0.045,
        );
    }
}

//! The model's window, from what providers say when a conversation does not fit into it.

use serde_json::Value;

/// Codes that mean an overflow.
pub(super) const CODES: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "model_context_window_exceeded",
    "max_context_length_exceeded",
    "request_too_large",
];

/// Phrases that mean an overflow: of OpenAI and vLLM; llama.cpp; Ollama; vLLM; Anthropic (three); hosts
/// of it; text-generation-inference; Google; xAI; Moonshot; GitHub; OpenRouter and others.
pub(super) const PHRASES: &[&str] = &[
    "maximum context length",
    "context size",
    "input length exceeds",
    "longer than the maximum model length",
    "prompt is too long",
    "exceed context limit",
    "input length and `max_tokens` exceed",
    "input is too long for requested model",
    "too long to fit into the model",
    "`inputs` tokens + `max_new_tokens` must be",
    "input token count",
    "maximum prompt length",
    "exceeded model token limit",
    "prompt token count",
    "context window",
    "context length",
];

/// What stands before the window in a message.
const BEFORE: &[&str] = &[
    "maximum context length is",
    "maximum context length of",
    "context length is only",
    "context length of only",
    "context length of",
    "maximum model length of",
    "maximum prompt length is",
    "available context size",
    "context size of",
    "context window of",
    "context window is",
    "maximum number of tokens allowed",
    "model token limit",
    "exceeds the limit of",
    "tokens >",
    "n_ctx",
    "must be <=",
];
/// What stands after it, where nothing telling stands before.
const AFTER: &[&str] = &[" maximum context length", " token context"];

/// Bytes between the words and the number: blanks, brackets and the like.
const MAX_GAP: usize = 4;
/// Windows that models have, in tokens. Other numbers are no windows.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 128..=100_000_000;

/// The window in tokens, if the error names it in a field or in its words.
pub(super) fn limit_tokens(error: &Value, message: &str) -> Option<u64> {
    let fields = ["n_ctx", "max_context_length", "context_length", "max_model_len"];
    let field = fields.iter().find_map(|field| error.get(field)?.as_u64());
    field.filter(|tokens| PLAUSIBLE.contains(tokens)).or_else(|| in_words(message))
}

fn in_words(message: &str) -> Option<u64> {
    let message = message.to_lowercase();
    let after_words = BEFORE.iter().find_map(|words| {
        let at = message.find(words)?;
        number_at_start(message.get(at + words.len()..)?)
    });
    let limit = after_words.or_else(|| sum_limit(&message)).or_else(|| {
        AFTER.iter().find_map(|words| number_at_end(message.get(..message.find(words)?)?))
    });
    limit.filter(|tokens| PLAUSIBLE.contains(tokens))
}

/// "190000 + 20000 > 200000", as Anthropic says when only the answer's limit does not fit.
fn sum_limit(message: &str) -> Option<u64> {
    let at = message.find("exceed context limit")?;
    let rest = message.get(at..)?;
    number_at_start(rest.get(rest.find('>')? + 1..)?)
}

fn is_digit(char: char) -> bool {
    char.is_ascii_digit() || matches!(char, ',' | '_')
}

fn number_at_start(text: &str) -> Option<u64> {
    let at = text.find(|char: char| char.is_ascii_digit()).filter(|at| *at <= MAX_GAP)?;
    let digits = text.get(at..)?;
    let end = digits.find(|char| !is_digit(char)).unwrap_or(digits.len());
    parse(digits.get(..end)?)
}

fn number_at_end(text: &str) -> Option<u64> {
    let start = text.trim_end_matches(is_digit).len();
    parse(text.get(start..)?)
}

fn parse(digits: &str) -> Option<u64> {
    digits.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_read_from_the_words_of_every_provider() {
        let check = |message: &str, expect: Option<u64>| {
            assert_eq!(limit_tokens(&Value::Null, message), expect, "{message}");
            let known = PHRASES.iter().any(|phrase| message.to_lowercase().contains(phrase));
            assert!(known, "not known as an overflow: {message}");
        };
        check(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
            Some(8192),
        );
        check(
            "Requested token count exceeds the model's maximum context length of 131,072 tokens. You requested 140000.",
            Some(131_072),
        );
        check(
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (149000 of text input, 1000 in the output).",
            Some(131_072),
        );
        check("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000));
        check(
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
            Some(200_000),
        );
        check("request (4390 tokens) exceeds the available context size (4096 tokens)", Some(4096));
        check(
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            Some(4096),
        );
        check(
            "You passed 8193 input tokens and requested 0 output tokens. However, the model's context length is only 8192 tokens",
            Some(8192),
        );
        check(
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            Some(1_048_576),
        );
        check(
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            Some(32_768),
        );
        check("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", Some(4096));
        check(
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            Some(131_072),
        );
        check("Your request exceeded model token limit: 262144 (requested: 270000)", Some(262_144));
        check("prompt token count of 70000 exceeds the limit of 64000", Some(64_000));
        check(
            "the initial prompt is greater than the context length (n_keep: 8000>= n_ctx: 4096)",
            Some(4096),
        );
        check("Context size has been exceeded.", None);
        check("the input length exceeds the context length", None);
        check("This model's maximum context length is 7 tokens.", None);
        check("the context length of 世 99999999999999999999999", None);
    }

    #[test]
    fn a_field_of_the_error_goes_before_its_words() {
        let error = serde_json::json!({"n_prompt_tokens": 4390, "n_ctx": 4096});
        assert_eq!(limit_tokens(&error, "request (4390 tokens) is too large"), Some(4096));
        let error = serde_json::json!({"n_ctx": 0});
        assert_eq!(limit_tokens(&error, "maximum context length is 8192"), Some(8192));
    }
}

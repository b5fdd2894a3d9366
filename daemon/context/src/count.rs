//! Counting tokens: by the model's own tokenizer where it is known, by a rule of thumb elsewhere.
//!
//! Either may be off: by what a server adds to each message, or by a tokenizer that nobody here knows.
//! So what servers count themselves calibrates both.

use agentd_domain::floor_char_boundary;
use agentd_llm::{Message, estimate_message_tokens, estimate_tokens};
use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// What a message costs beside its texts (spec c.7).
const PER_MESSAGE: u64 = 4;
/// What a picture costs (spec c.7).
const PER_IMAGE: u64 = 85;
/// Bytes that are tokenized at once. A tokenizer's pattern may need a stack as deep as a run of blanks.
const PIECE: usize = 8 * 1024;

/// Beginnings of the names of models whose tokenizer is used. Others may bear a name that merely looks
/// like one of a model of which the library knows.
const KNOWN: [&str; 8] =
    ["gpt-3.5", "gpt-4", "gpt-5", "gpt-oss", "chatgpt-4o", "o1", "o3", "o4-mini"];

/// How tokens are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counter {
    /// A quarter of the ASCII characters and one for each other character (spec c.7).
    #[default]
    Estimate,
    /// By the tokenizer of newer models of OpenAI.
    O200k,
    /// By the one of older models of OpenAI.
    Cl100k,
}

impl Counter {
    /// How the tokens of a model are counted, by its name; what stands before a slash is not part of it.
    pub fn for_model(name: &str) -> Self {
        let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        if !KNOWN.iter().any(|known| name.starts_with(known)) {
            return Self::Estimate;
        }
        match get_tokenizer(&name) {
            // Harmony differs in special tokens only, which texts never become.
            Some(Tokenizer::O200kBase | Tokenizer::O200kHarmony) => Self::O200k,
            Some(Tokenizer::Cl100kBase) => Self::Cl100k,
            _ => Self::Estimate,
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
        }
    }

    /// Reads the tokenizer's table, if it was not read yet. Takes a tenth of a second and some ten
    /// megabytes, so call it where blocking is allowed.
    pub fn load(self) {
        self.table();
    }

    fn table(self) -> Option<&'static CoreBPE> {
        match self {
            Self::Estimate => None,
            Self::O200k => Some(o200k_base_singleton()),
            Self::Cl100k => Some(cl100k_base_singleton()),
        }
    }

    /// Tokens of a text.
    pub fn text(self, text: &str) -> u64 {
        let Some(table) = self.table() else { return estimate_tokens(text) };
        let mut rest = text;
        let mut tokens: u64 = 0;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(match floor_char_boundary(rest, PIECE) {
                0 => rest.len(),
                at => at,
            });
            let counted = u64::try_from(table.count_ordinary(piece)).unwrap_or(u64::MAX);
            tokens = tokens.saturating_add(counted);
            rest = after;
        }
        tokens
    }

    /// Tokens of a message with its frame. Native blocks say the same as the message in another form, and
    /// hold what only the provider can read: for them it is the larger of both.
    pub fn message(self, message: &Message) -> u64 {
        if self == Self::Estimate {
            return estimate_message_tokens(message);
        }
        let texts = match message {
            Message::System(text) => self.text(text),
            Message::User { text, images } => {
                let images = u64::try_from(images.len()).unwrap_or(u64::MAX);
                self.text(text).saturating_add(images.saturating_mul(PER_IMAGE))
            }
            Message::Assistant { reasoning, text, tool_calls, native } => {
                let calls: u64 = tool_calls
                    .iter()
                    .map(|call| self.text(&call.name) + self.text(&call.arguments_json))
                    .sum();
                let words = self.text(reasoning) + self.text(text) + calls;
                match native {
                    None => words,
                    Some(_) => words.max(estimate_message_tokens(message)),
                }
            }
            Message::Tool { output, .. } => self.text(output),
        };
        texts.saturating_add(PER_MESSAGE)
    }
}

/// What counts of a model are multiplied with to be what its server counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration(f64);

impl Default for Calibration {
    fn default() -> Self {
        Self(1.0)
    }
}

impl Calibration {
    /// Weight of a new observation.
    const WEIGHT: f64 = 0.3;
    /// Counts this small say nothing.
    const LEAST: u64 = 256;
    /// No tokenizer is farther off; what is beyond is a server that counts something else.
    const RANGE: std::ops::RangeInclusive<f64> = 0.7..=2.5;

    /// Takes note of what a server counted for a request that was `counted` tokens by our own count. The
    /// first observation counts wholly.
    pub fn observe(&mut self, counted: u64, by_server: u64, is_first: bool) {
        if counted < Self::LEAST || by_server == 0 {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a ratio of token counts")]
        let ratio = by_server as f64 / counted as f64;
        let ratio = ratio.clamp(*Self::RANGE.start(), *Self::RANGE.end());
        let weight = if is_first { 1.0 } else { Self::WEIGHT };
        self.0 += weight * (ratio - self.0);
    }

    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }

    /// What a count is by the server's measure.
    pub fn of_count(self, counted: u64) -> u64 {
        scale(counted, self.0)
    }

    /// The count that is this many tokens by the server's measure.
    pub fn to_count(self, tokens: u64) -> u64 {
        scale(tokens, 1.0 / self.0)
    }
}

/// A share of a number of tokens, rounded down.
pub(crate) fn scale(tokens: u64, by: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "token counts are far below 2^52, and factors positive"
    )]
    let scaled = (tokens as f64 * by) as u64;
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokenizer_goes_by_the_name_of_the_model() {
        let check =
            |name: &str, expect: Counter| assert_eq!(Counter::for_model(name), expect, "{name}");
        check("gpt-4o-mini", Counter::O200k);
        check("openai/gpt-5.1", Counter::O200k);
        check("GPT-4", Counter::Cl100k);
        check("gpt-oss-20b", Counter::O200k);
        check("o4-mini", Counter::O200k);
        check("qwen2.5:0.5b", Counter::Estimate);
        check("ada", Counter::Estimate);
        check("", Counter::Estimate);
    }

    #[test]
    fn a_known_tokenizer_counts_exactly() {
        // As published for the example of the tokenizer's own documentation.
        assert_eq!(Counter::Cl100k.text("tiktoken is great!"), 6);
        assert_eq!(Counter::O200k.text(""), 0);
        assert_eq!(Counter::O200k.message(&Message::user("hello")), 1 + PER_MESSAGE);
        // Neither special tokens nor long runs are anything else than text.
        assert!(Counter::O200k.text("<|endoftext|>") > 1);
        let blanks = " ".repeat(100_000);
        assert!(Counter::O200k.text(&blanks) > 10);
        let han = "汉".repeat(PIECE);
        assert!(Counter::O200k.text(&han) > 1_000);
    }

    #[test]
    fn what_servers_count_calibrates() {
        let mut calibration = Calibration::default();
        calibration.observe(10, 1_000, true);
        assert_eq!(calibration.of_count(1_000), 1_000, "too little to tell");
        calibration.observe(1_000, 1_500, true);
        assert_eq!((calibration.of_count(1_000), calibration.to_count(1_500)), (1_500, 1_000));
        for _ in 0..40 {
            calibration.observe(1_000, 1_200, false);
        }
        assert_eq!(calibration.of_count(10_000).div_ceil(100), 120);
        calibration.observe(1_000, 1_000_000, true);
        assert_eq!(calibration.of_count(1_000), 2_500, "bounded");
    }
}

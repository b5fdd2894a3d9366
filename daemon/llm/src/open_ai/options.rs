//! How to reach a Chat Completions endpoint, and what its host is known for.

use reqwest::Url;

use crate::{Secret, Timeouts};

/// Whether the model's reasoning goes back to it as `reasoning_content`.
///
/// DeepSeek and Moonshot refuse requests without it in turns that called tools, then and in all later
/// requests; they ignore it elsewhere. Other hosts refuse the field. The rest ignore what they
/// do not know, and models served there answer better with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningEcho {
    /// Never.
    Never,
    /// In turns that called tools, where there is any.
    WhereKnown,
    /// In turns that called tools; the field is there, maybe empty, on every assistant message.
    ToolCallTurns,
}

impl ReasoningEcho {
    /// What suits the host of a base URL.
    pub fn for_host(base_url: &str) -> Self {
        const WANT: &[&str] = &["deepseek.com", "moonshot.ai", "moonshot.cn", "kimi.com"];
        const REFUSE: &[&str] = &[
            "openai.com",
            "openai.azure.com",
            "groq.com",
            "mistral.ai",
            "cerebras.ai",
            "googleapis.com",
        ];
        if is_of_domain(base_url, WANT) {
            Self::ToolCallTurns
        } else if is_of_domain(base_url, REFUSE) {
            Self::Never
        } else {
            Self::WhereKnown
        }
    }
}

/// Whether the host of a URL is one of these domains or below one.
pub(super) fn is_of_domain(base_url: &str, domains: &[&str]) -> bool {
    let url = Url::parse(base_url).ok();
    let Some(host) = url.as_ref().and_then(Url::host_str) else { return false };
    domains.iter().any(|domain| {
        host.strip_suffix(domain).is_some_and(|start| start.is_empty() || start.ends_with('.'))
    })
}

/// How to reach an endpoint.
#[derive(Debug, Clone)]
pub struct OpenAiOptions {
    /// Such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as a bearer token. Local servers need none.
    pub api_key: Option<Secret>,
    /// Limits of waiting.
    pub timeouts: Timeouts,
    /// Most bytes of text, reasoning and tool arguments in one answer.
    pub max_answer_bytes: usize,
    /// Whether reasoning goes back.
    pub echo_reasoning: ReasoningEcho,
}

impl OpenAiOptions {
    /// Most bytes of an answer unless configured: 16 MiB.
    pub const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

    /// The usual options for an endpoint.
    pub fn new(base_url: &str, api_key: Option<Secret>) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key,
            timeouts: Timeouts::default(),
            max_answer_bytes: Self::MAX_ANSWER_BYTES,
            echo_reasoning: ReasoningEcho::for_host(base_url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ps_08_the_host_decides_whether_reasoning_goes_back() {
        let check = |url: &str, expect: ReasoningEcho| {
            assert_eq!(ReasoningEcho::for_host(url), expect, "{url}");
        };
        check("https://api.deepseek.com/v1", ReasoningEcho::ToolCallTurns);
        check("https://api.moonshot.cn/v1", ReasoningEcho::ToolCallTurns);
        check("https://api.openai.com/v1", ReasoningEcho::Never);
        check("https://me.openai.azure.com/openai", ReasoningEcho::Never);
        check("https://api.groq.com/openai/v1", ReasoningEcho::Never);
        check("https://notopenai.com/v1", ReasoningEcho::WhereKnown);
        check("http://127.0.0.1:8080/v1", ReasoningEcho::WhereKnown);
        check("nonsense", ReasoningEcho::WhereKnown);
    }
}

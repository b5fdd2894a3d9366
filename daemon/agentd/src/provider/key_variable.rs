//! Which variable of the environment may hold the key of a base URL.

use agentd_llm::{is_loopback, is_same_host};

use super::preset::{self, Preset};

/// The variable of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable<'a> {
    /// It may hold the key.
    Read(&'a str),
    /// The usual one holds the key of another host, and is not sent to this one.
    Withheld(&'static Preset),
}

/// A base URL, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BaseUrl<'a> {
    pub(super) text: &'a str,
    /// It stands in the configuration. Else it is the preset's own, or comes from the environment, as
    /// the key does.
    pub(super) is_configured: bool,
    /// It is that of `[provider]`.
    pub(super) is_default: bool,
}

/// Chooses the variable. `named` is the one that the configuration names; empty: none.
pub(super) fn choose<'a>(
    named: &'a str,
    preset: &'static Preset,
    base_url: BaseUrl<'_>,
) -> Variable<'a> {
    let BaseUrl { text, is_configured, is_default } = base_url;
    if !named.is_empty() {
        return Variable::Read(named);
    }
    if !is_configured || is_same_host(text, preset.base_url) && !is_loopback(text) {
        return Variable::Read(preset.key_env);
    }
    match preset::of_host(text) {
        Some(owner) => Variable::Read(owner.key_env),
        // It does not leave the machine.
        None if is_default && is_loopback(text) => Variable::Read(preset.key_env),
        // A server of its kind at its usual place.
        None if text == preset.base_url => Variable::Read(preset.key_env),
        None => Variable::Withheld(preset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProviderKind;

    fn check(kind: ProviderKind, text: &str, expect: Option<&str>) {
        let base_url = BaseUrl { text, is_configured: true, is_default: true };
        let variable = match choose("", preset::of_kind(kind), base_url) {
            Variable::Read(variable) => Some(variable),
            Variable::Withheld(_) => None,
        };
        assert_eq!(variable, expect, "{kind:?} {text}");
    }

    #[test]
    fn sc_03_a_host_has_its_own_variable_and_others_have_none() {
        let auto = |text: &str, expect: Option<&str>| check(ProviderKind::Auto, text, expect);
        auto("https://api.openai.com/v1", Some("OPENAI_API_KEY"));
        auto("https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"));
        auto("https://api.deepseek.com", Some("DEEPSEEK_API_KEY"));
        auto("https://api.anthropic.com/v1", Some("ANTHROPIC_API_KEY"));
        auto("http://127.0.0.1:8080/v1", Some("OPENAI_API_KEY"));
        auto("http://localhost:8080/v1", Some("OPENAI_API_KEY"));
        auto("https://proxy.example/v1", None);
        auto("http://api.openai.com/v1", None);
        auto("https://openrouter.ai.example/api/v1", None);
        check(ProviderKind::Anthropic, "https://proxy.example/v1", None);
        check(ProviderKind::Vllm, "http://gpu.example:8000/v1", None);
        check(ProviderKind::Vllm, "http://127.0.0.1:8000/v1", Some("VLLM_API_KEY"));
    }

    #[test]
    fn a_variable_that_is_named_and_a_base_url_of_the_environment_count() {
        let text = "https://proxy.example/v1";
        let base_url = BaseUrl { text, is_configured: true, is_default: true };
        assert_eq!(choose("MINE", &preset::OPENAI, base_url), Variable::Read("MINE"));
        let base_url = BaseUrl { is_configured: false, ..base_url };
        assert_eq!(choose("", &preset::OPENAI, base_url), Variable::Read("OPENAI_API_KEY"));
    }
}

//! Endpoints that need no more than a key.

use agentd_llm::{ModelApi, is_same_host};

use crate::config::ProviderKind;
use crate::environment::Environment;

/// What is usual for a provider.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Preset {
    pub(super) base_url: &'static str,
    pub(super) model: &'static str,
    /// What is spoken there.
    pub(super) api: ModelApi,
    pub(super) key_env: &'static str,
    /// Its own host answers nobody without a key.
    pub(super) needs_key: bool,
    /// Variable that replaces the base URL; empty: none.
    pub(super) base_url_env: &'static str,
    /// Variable that replaces the model; empty: none.
    pub(super) model_env: &'static str,
}

pub(super) const OPENAI: Preset = Preset {
    base_url: "https://api.openai.com/v1",
    model: "gpt-4o-mini",
    api: ModelApi::ChatCompletions,
    key_env: "OPENAI_API_KEY",
    needs_key: true,
    base_url_env: "OPENAI_BASE_URL",
    model_env: "OPENAI_MODEL",
};

/// The same host through its newer API alone.
const OPENAI_RESPONSES: Preset = Preset { api: ModelApi::Responses, ..OPENAI };

const DEEPSEEK: Preset = Preset {
    base_url: "https://api.deepseek.com/v1",
    model: "deepseek-flash",
    api: ModelApi::ChatCompletions,
    key_env: "DEEPSEEK_API_KEY",
    needs_key: true,
    base_url_env: "",
    model_env: "",
};

const ANTHROPIC: Preset = Preset {
    base_url: "https://api.anthropic.com/v1",
    model: "claude-sonnet-5-5",
    api: ModelApi::Messages,
    key_env: "ANTHROPIC_API_KEY",
    needs_key: true,
    base_url_env: "",
    model_env: "",
};

const OPENROUTER: Preset = Preset {
    base_url: "https://openrouter.ai/api/v1",
    model: "openrouter/auto",
    api: ModelApi::ChatCompletions,
    key_env: "OPENROUTER_API_KEY",
    needs_key: true,
    base_url_env: "",
    model_env: "",
};

const OLLAMA: Preset = local("http://127.0.0.1:11434/v1", "");
const VLLM: Preset = local("http://127.0.0.1:8000/v1", "VLLM_API_KEY");
const LLAMA_CPP: Preset = local("http://127.0.0.1:8080/v1", "LLAMA_API_KEY");

/// A server on this machine. Its model is the first that it lists.
const fn local(base_url: &'static str, key_env: &'static str) -> Preset {
    Preset {
        base_url,
        model: "",
        api: ModelApi::ChatCompletions,
        key_env,
        needs_key: false,
        base_url_env: "",
        model_env: "",
    }
}

/// The preset of a configured kind.
pub(super) fn of_kind(kind: ProviderKind) -> &'static Preset {
    match kind {
        ProviderKind::Auto | ProviderKind::OpenAi | ProviderKind::Offline => &OPENAI,
        ProviderKind::OpenAiResponses => &OPENAI_RESPONSES,
        ProviderKind::DeepSeek => &DEEPSEEK,
        ProviderKind::Anthropic => &ANTHROPIC,
        ProviderKind::OpenRouter => &OPENROUTER,
        ProviderKind::Ollama => &OLLAMA,
        ProviderKind::Vllm => &VLLM,
        ProviderKind::LlamaCpp => &LLAMA_CPP,
    }
}

/// The provider whose host that is. One that answers nobody without a key, as the others have no host of
/// their own.
pub(super) fn of_host(base_url: &str) -> Option<&'static Preset> {
    [&OPENAI, &DEEPSEEK, &ANTHROPIC, &OPENROUTER]
        .into_iter()
        .find(|preset| is_same_host(base_url, preset.base_url))
}

/// The first provider whose key the environment holds. For OpenAI a base URL alone is enough: local
/// servers need no key.
pub(super) fn in_environment(env: &Environment) -> Option<&'static Preset> {
    let is_set = |name: &str| env.get(name).is_some_and(|value| !value.trim().is_empty());
    [&OPENAI, &DEEPSEEK, &ANTHROPIC, &OPENROUTER]
        .into_iter()
        .find(|preset| is_set(preset.key_env) || is_set(preset.base_url_env))
}

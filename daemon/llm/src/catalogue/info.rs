//! What a model can do.

use std::collections::{BTreeMap, BTreeSet};

use agentd_domain::{Effort, EffortChoice};
use serde::{Deserialize, Serialize};

use crate::Prices;

/// What is known of a model. The default suits a model of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Tokens that a request and its answer may have together.
    pub context_tokens: u64,
    /// Where the window is from.
    pub context_source: InfoSource,
    /// Most tokens of an answer; none: not known.
    pub max_output_tokens: Option<u32>,
    /// What its tokens cost; none: not known.
    pub prices: Option<Prices>,
    /// It sees images.
    pub vision: bool,
    /// It can call tools.
    pub tools: bool,
    /// How long it may reason can be said, and how.
    pub reasoning: Reasoning,
    /// What requests must do without.
    pub refuses: BTreeSet<Refusal>,
    /// The API through which it can do most, where its endpoint has several.
    pub api: ModelApi,
    /// Where the most specific of this is from.
    pub source: InfoSource,
}

impl ModelInfo {
    /// Window of a model of which nothing is known: what is common is larger, and servers cut silently.
    pub const SAFE_CONTEXT_TOKENS: u64 = 32_768;

    /// Replaces what the facts name.
    #[must_use]
    pub fn with(mut self, facts: &ModelFacts, source: InfoSource) -> Self {
        let ModelFacts {
            context_tokens,
            max_output_tokens,
            prices,
            vision,
            tools,
            effort_form,
            efforts,
            refuses,
            api,
        } = facts;
        if *facts == ModelFacts::default() {
            return self;
        }
        if let Some(tokens) = context_tokens {
            self.context_tokens = *tokens;
            self.context_source = source;
        }
        self.max_output_tokens = max_output_tokens.or(self.max_output_tokens);
        self.prices = prices.or(self.prices);
        self.vision = vision.unwrap_or(self.vision);
        self.tools = tools.unwrap_or(self.tools);
        if let Some(form) = effort_form {
            self.reasoning.form = *form;
        }
        if let Some(levels) = efforts {
            self.reasoning.levels.clone_from(levels);
        }
        if let Some(refuses) = refuses {
            self.refuses.clone_from(refuses);
        }
        self.api = api.unwrap_or(self.api);
        self.source = source;
        self
    }

    /// What the model is given when this is asked for.
    pub fn effort_choice(&self, requested: Effort) -> EffortChoice {
        EffortChoice { requested, effective: self.reasoning.nearest(requested) }
    }

    /// True when requests must do without this.
    pub fn is_refused(&self, refusal: Refusal) -> bool {
        self.refuses.contains(&refusal)
    }
}

impl Default for ModelInfo {
    fn default() -> Self {
        Self {
            context_tokens: Self::SAFE_CONTEXT_TOKENS,
            context_source: InfoSource::Default,
            max_output_tokens: None,
            prices: None,
            vision: false,
            tools: true,
            reasoning: Reasoning::default(),
            refuses: BTreeSet::new(),
            api: ModelApi::default(),
            source: InfoSource::Default,
        }
    }
}

/// The levels of effort that a model offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reasoning {
    /// How requests say it.
    pub form: EffortForm,
    /// What requests say for each level that is offered.
    pub levels: BTreeMap<Effort, EffortValue>,
}

impl Reasoning {
    /// The levels that are offered, from none to most.
    pub fn efforts(&self) -> Vec<Effort> {
        match self.form {
            EffortForm::None => Vec::new(),
            _ => self.levels.keys().copied().collect(),
        }
    }

    /// The offered level that is nearest to the requested one; the lower of two that are equally near.
    /// None when no level is offered. Reasoning is switched off only where that was asked for.
    pub fn nearest(&self, requested: Effort) -> Option<Effort> {
        let offered = self.efforts();
        if offered.contains(&requested) {
            return Some(requested);
        }
        let rank = |effort: Effort| Effort::ALL.iter().position(|known| *known == effort);
        let distance =
            |effort: &Effort| rank(*effort).zip(rank(requested)).map(|(a, b)| a.abs_diff(b));
        // The levels go up, and `min_by_key` takes the first of equals.
        offered.into_iter().filter(|effort| *effort != Effort::Off).min_by_key(distance)
    }

    /// What requests say for a level; none when it is not offered.
    pub fn value(&self, effort: Effort) -> Option<&EffortValue> {
        self.levels.get(&effort).filter(|_| self.form != EffortForm::None)
    }
}

/// How requests say how long the model may reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffortForm {
    /// They cannot.
    #[default]
    None,
    /// OpenAI: a word in `reasoning_effort` (Responses: `reasoning.effort`).
    Word,
    /// Anthropic, older models: `thinking.budget_tokens`; a budget of 0 switches thinking off.
    Budget,
    /// Anthropic, newer models: adaptive thinking and a word in `output_config.effort`; the word
    /// "disabled" switches thinking off.
    Adaptive,
    /// DeepSeek: a `thinking` switch beside the word in `reasoning_effort`; the word "disabled"
    /// switches it off.
    Switch,
    /// OpenRouter: a word in `reasoning.effort`, translated there for each model.
    Nested,
}

/// What a request says for a level of effort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EffortValue {
    /// A number of tokens, for [`EffortForm::Budget`].
    Budget(u32),
    /// A word, for the other forms.
    Word(String),
}

impl EffortValue {
    /// The word, if it is one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Budget(_) => None,
        }
    }

    /// The number of tokens, if it is one.
    pub fn budget(&self) -> Option<u32> {
        match self {
            Self::Budget(tokens) => Some(*tokens),
            Self::Word(_) => None,
        }
    }
}

/// Something that a model refuses in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Sampling parameters: `temperature`, `top_p`.
    Temperature,
    /// `max_tokens`: the output limit is called `max_completion_tokens`.
    MaxTokens,
    /// Its own earlier reasoning in Chat Completions.
    ReasoningEcho,
}

/// An API of a model endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelApi {
    /// OpenAI's Chat Completions, which most servers speak.
    #[default]
    ChatCompletions,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

/// Where what is known of a model is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfoSource {
    /// Nothing is known.
    Default,
    /// The catalogue.
    Catalogue,
    /// An error that named the window.
    Learned,
    /// The configuration.
    Config,
}

impl InfoSource {
    /// The name that users see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Catalogue => "catalogue",
            Self::Learned => "learned",
            Self::Config => "config",
        }
    }
}

/// Some of what can be known of a model: a row of the catalogue, or `[models."NAME"]` of the
/// configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelFacts {
    /// See [`ModelInfo::context_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// See [`ModelInfo::max_output_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// See [`ModelInfo::vision`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// See [`ModelInfo::tools`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// See [`Reasoning::form`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort_form: Option<EffortForm>,
    /// See [`ModelInfo::refuses`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuses: Option<BTreeSet<Refusal>>,
    /// See [`ModelInfo::api`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<ModelApi>,
    /// See [`Reasoning::levels`]. Tables come last: TOML wants them there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efforts: Option<BTreeMap<Effort, EffortValue>>,
    /// See [`ModelInfo::prices`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
}

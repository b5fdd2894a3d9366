//! How a request says how long the model may think, and how many tokens its answer may have.
//!
//! Models differ: older ones are given a budget of tokens, newer ones think as they see fit and are
//! given a word. See `docs/en/build-with-claude/{extended-thinking,adaptive-thinking,effort}` of
//! platform.claude.com.

use agentd_domain::Effort;
use serde::Serialize;

use crate::{EffortForm, EffortValue, ModelInfo};

/// Most tokens of an answer when neither the request nor the catalogue says.
const DEFAULT_MAX_TOKENS: u32 = 8192;
/// Most tokens of an answer that are asked for only because the model could: what they may fill counts
/// against its window.
const UNASKED_MAX_TOKENS: u32 = 32_000;
/// The least budget that the API takes.
const MIN_BUDGET: u32 = 1024;
/// The word by which the catalogue says that thinking is switched off.
const DISABLED: &str = "disabled";

/// The field `thinking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking {
    /// Think for at most this many tokens.
    Enabled { budget_tokens: u32 },
    /// Think as the model sees fit, and show a summary of it: some models show nothing unless asked.
    Adaptive { display: &'static str },
    /// Do not think.
    Disabled,
}

/// The field `output_config`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct OutputConfig {
    pub(super) effort: String,
}

/// What a request says about its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) max_tokens: u32,
    pub(super) thinking: Option<Thinking>,
    pub(super) output_config: Option<OutputConfig>,
}

impl Plan {
    /// What the request asks for, as far as the model offers it.
    pub(super) fn of(
        effort: Option<Effort>,
        max_output_tokens: Option<u32>,
        info: &ModelInfo,
    ) -> Self {
        let known = info.max_output_tokens;
        let usual = known.map_or(DEFAULT_MAX_TOKENS, |most| most.min(UNASKED_MAX_TOKENS));
        let asked = max_output_tokens.unwrap_or(usual).max(1);
        let max_tokens = known.map_or(asked, |most| asked.min(most.max(1)));
        let plan = Self { max_tokens, thinking: None, output_config: None };
        let Some(effort) = effort else { return plan };
        let value = info.reasoning.value(effort);
        match info.reasoning.form {
            EffortForm::Budget => {
                let budget = value.and_then(EffortValue::budget);
                plan.with_budget(budget.unwrap_or_else(|| default_budget(effort)), known)
            }
            EffortForm::Adaptive => plan.with_word(effort, value.and_then(EffortValue::word)),
            EffortForm::None | EffortForm::Word | EffortForm::Switch | EffortForm::Nested => plan,
        }
    }

    /// The model may think in this request, or thinks unless told otherwise. So may one that nothing is
    /// known of: some that speak this API refuse to go on without their thinking.
    pub(super) fn keeps_thinking(&self, info: &ModelInfo) -> bool {
        match self.thinking {
            Some(Thinking::Disabled) => false,
            Some(Thinking::Enabled { .. } | Thinking::Adaptive { .. }) => true,
            None => matches!(info.reasoning.form, EffortForm::Adaptive | EffortForm::None),
        }
    }

    /// The API wants the open tool turn to begin with a thinking block.
    pub(super) fn demands_thinking(&self) -> bool {
        matches!(self.thinking, Some(Thinking::Enabled { .. }))
    }

    /// The budget comes on top of the answer, as far as the model goes.
    fn with_budget(mut self, budget: u32, known: Option<u32>) -> Self {
        if budget == 0 {
            return self;
        }
        let most = known.unwrap_or(u32::MAX);
        let budget = budget.max(MIN_BUDGET);
        let max_tokens = self.max_tokens.saturating_add(budget).min(most);
        // Something must be left for the answer: at least half, or all that was asked for.
        let left = self.max_tokens.min(max_tokens / 2).max(1);
        let budget = budget.min(max_tokens.saturating_sub(left));
        if budget >= MIN_BUDGET {
            self.max_tokens = max_tokens;
            self.thinking = Some(Thinking::Enabled { budget_tokens: budget });
        }
        self
    }

    fn with_word(mut self, effort: Effort, word: Option<&str>) -> Self {
        if word == Some(DISABLED) {
            self.thinking = Some(Thinking::Disabled);
            return self;
        }
        let effort = word.unwrap_or(match effort {
            // What cannot be switched off is kept short.
            Effort::Off | Effort::Minimal | Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Max => "max",
        });
        self.thinking = Some(Thinking::Adaptive { display: "summarized" });
        self.output_config = Some(OutputConfig { effort: effort.to_owned() });
        self
    }
}

/// Tokens of thinking where the catalogue names none.
fn default_budget(effort: Effort) -> u32 {
    match effort {
        Effort::Off => 0,
        Effort::Minimal => MIN_BUDGET,
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 16_384,
        Effort::Max => 32_768,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reasoning;

    fn model(form: EffortForm, max_output_tokens: Option<u32>) -> ModelInfo {
        let reasoning = Reasoning { form, ..Reasoning::default() };
        ModelInfo { max_output_tokens, reasoning, ..ModelInfo::default() }
    }

    fn plan(info: &ModelInfo, effort: Option<Effort>, max_output_tokens: Option<u32>) -> Plan {
        Plan::of(effort, max_output_tokens, info)
    }

    #[test]
    fn the_answer_has_a_limit_in_any_case() {
        let check = |known: Option<u32>, asked: Option<u32>, expect: u32| {
            assert_eq!(plan(&model(EffortForm::None, known), None, asked).max_tokens, expect);
        };
        check(None, None, 8192);
        check(None, Some(100), 100);
        check(None, Some(0), 1);
        check(Some(4096), None, 4096);
        check(Some(4096), Some(10_000), 4096);
        check(Some(128_000), None, 32_000);
        check(Some(128_000), Some(100_000), 100_000);
    }

    #[test]
    fn a_budget_is_below_the_limit_which_grows_by_it() {
        let check = |effort: Effort, known, asked, expect: (u32, u32)| {
            let plan = plan(&model(EffortForm::Budget, known), Some(effort), asked);
            let budget = match plan.thinking {
                Some(Thinking::Enabled { budget_tokens }) => budget_tokens,
                None => 0,
                other => panic!("{other:?}"),
            };
            assert_eq!((budget, plan.max_tokens), expect, "{effort:?} {known:?} {asked:?}");
            assert!(budget < plan.max_tokens && plan.output_config.is_none());
        };
        check(Effort::Off, None, None, (0, 8192));
        check(Effort::Minimal, None, None, (1024, 9216));
        check(Effort::Low, None, None, (2048, 10_240));
        check(Effort::Medium, None, Some(100), (8192, 8292));
        check(Effort::High, None, None, (16_384, 24_576));
        check(Effort::Max, None, None, (32_768, 40_960));
        check(Effort::Max, Some(32_000), None, (16_000, 32_000));
        check(Effort::Max, Some(32_000), Some(1000), (31_000, 32_000));
        check(Effort::High, Some(2000), None, (0, 2000));
    }

    #[test]
    fn what_the_catalogue_says_of_a_level_counts() {
        let mut info = model(EffortForm::Budget, None);
        info.reasoning.levels.insert(Effort::High, EffortValue::Budget(5000));
        let thinking = plan(&info, Some(Effort::High), None).thinking;
        assert_eq!(thinking, Some(Thinking::Enabled { budget_tokens: 5000 }));
        let mut info = model(EffortForm::Adaptive, None);
        info.reasoning.levels.insert(Effort::Max, EffortValue::Word("xhigh".to_owned()));
        info.reasoning.levels.insert(Effort::Off, EffortValue::Word("disabled".to_owned()));
        let config = plan(&info, Some(Effort::Max), None).output_config.expect("an effort");
        assert_eq!(config.effort, "xhigh");
        let off = plan(&info, Some(Effort::Off), None);
        assert_eq!((off.thinking, off.output_config), (Some(Thinking::Disabled), None));
    }

    #[test]
    fn an_adaptive_model_is_given_a_word() {
        let check = |effort: Effort, expect: &str| {
            let plan = plan(&model(EffortForm::Adaptive, None), Some(effort), Some(500));
            assert_eq!(plan.thinking, Some(Thinking::Adaptive { display: "summarized" }));
            assert_eq!(
                (plan.output_config.expect("a word").effort.as_str(), plan.max_tokens),
                (expect, 500)
            );
        };
        check(Effort::Off, "low");
        check(Effort::Minimal, "low");
        check(Effort::Medium, "medium");
        check(Effort::High, "high");
        check(Effort::Max, "max");
        let nothing = plan(&model(EffortForm::Adaptive, None), None, None);
        assert_eq!((nothing.thinking, nothing.output_config), (None, None));
        let unknown = plan(&model(EffortForm::None, None), Some(Effort::High), None);
        assert_eq!((unknown.thinking, unknown.output_config), (None, None));
    }
}

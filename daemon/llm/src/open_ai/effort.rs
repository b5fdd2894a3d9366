//! How Chat Completions requests say how long the model may reason.

use agentd_domain::Effort;
use serde::Serialize;

use crate::{EffortForm, ModelInfo};

/// The fields that say it; none where the model is left to itself.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct EffortFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Nested<'a>>,
}

/// DeepSeek's switch.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Thinking {
    r#type: &'static str,
}

/// OpenRouter's own form.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Nested<'a> {
    effort: &'a str,
}

impl<'a> EffortFields<'a> {
    /// What is sent for an effort. A level that the model does not offer is left out: servers refuse
    /// words that they do not know.
    pub(super) fn of(info: &'a ModelInfo, effort: Option<Effort>) -> Self {
        let word = effort.and_then(|effort| info.reasoning.value(effort)?.word());
        let Some(word) = word else { return Self::default() };
        match info.reasoning.form {
            EffortForm::Word => Self { reasoning_effort: Some(word), ..Self::default() },
            EffortForm::Switch if word == "disabled" => {
                Self { thinking: Some(Thinking { r#type: "disabled" }), ..Self::default() }
            }
            EffortForm::Switch => Self {
                thinking: Some(Thinking { r#type: "enabled" }),
                reasoning_effort: Some(word),
                ..Self::default()
            },
            EffortForm::Nested => {
                Self { reasoning: Some(Nested { effort: word }), ..Self::default() }
            }
            // These are forms of the Messages API.
            EffortForm::None | EffortForm::Budget | EffortForm::Adaptive => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Catalogue, InfoSource};

    use super::*;

    fn sent(info: &ModelInfo, effort: Effort) -> String {
        let effective = info.effort_choice(effort).effective;
        serde_json::to_string(&EffortFields::of(info, effective)).expect("JSON")
    }

    fn info(model: &str) -> ModelInfo {
        let facts = Catalogue::builtin().facts(model).expect("a known model");
        ModelInfo::default().with(&facts, InfoSource::Catalogue)
    }

    #[test]
    fn each_form_says_it_in_its_fields() {
        let check = |model: &str, effort: Effort, expect: &str| {
            assert_eq!(sent(&info(model), effort), expect, "{model} {effort:?}");
        };
        check("gpt-oss:20b", Effort::High, r#"{"reasoning_effort":"high"}"#);
        check("gpt-5.2", Effort::Max, r#"{"reasoning_effort":"xhigh"}"#);
        check("gpt-5.2", Effort::Off, r#"{"reasoning_effort":"none"}"#);
        check(
            "deepseek-v4-pro",
            Effort::Low,
            r#"{"thinking":{"type":"enabled"},"reasoning_effort":"high"}"#,
        );
        check("deepseek-flash", Effort::Off, r#"{"thinking":{"type":"disabled"}}"#);
        check("gpt-4o", Effort::High, "{}");
        // The Messages API says it otherwise.
        check("claude-haiku-4-5", Effort::High, "{}");
    }

    #[test]
    fn openrouter_has_a_form_of_its_own() {
        let mut info = info("gpt-5.2");
        info.reasoning.form = EffortForm::Nested;
        assert_eq!(sent(&info, Effort::Low), r#"{"reasoning":{"effort":"low"}}"#);
    }

    #[test]
    fn without_a_choice_the_model_is_left_to_itself() {
        assert_eq!(EffortFields::of(&info("gpt-5.2"), None), EffortFields::default());
    }
}

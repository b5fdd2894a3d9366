use std::collections::HashSet;

use agentd_domain::Effort;

use super::*;

fn info(model: &str) -> ModelInfo {
    match Catalogue::builtin().facts(model) {
        Some(facts) => ModelInfo::default().with(&facts, InfoSource::Catalogue),
        None => ModelInfo::default(),
    }
}

#[test]
fn the_released_catalogue_can_be_read_and_makes_sense() {
    let catalogue = Catalogue::parse(include_str!("models.toml")).unwrap();
    assert_eq!(catalogue.as_of().len(), "2026-11-29".len());
    let mut seen = HashSet::new();
    for Row { start, is_family, facts } in &catalogue.rows {
        assert!(seen.insert((start, is_family)), "{start} stands there twice");
        assert!(*is_family || name::normalised(start) == *start, "{start} can never be found");
        let info = ModelInfo::default().with(facts, InfoSource::Catalogue);
        assert!(info.context_tokens >= 4_096, "{start}");
        assert!(
            info.max_output_tokens.is_none_or(|most| u64::from(most) < info.context_tokens),
            "{start}: an answer does not fit its window"
        );
        assert!(!(*is_family && facts.prices.is_some()), "{start}: families have no prices");
        assert_eq!(
            info.reasoning.form == EffortForm::None,
            info.reasoning.levels.is_empty(),
            "{start}: levels of effort and how they are sent belong together"
        );
        for value in info.reasoning.levels.values() {
            let is_budget = info.reasoning.form == EffortForm::Budget;
            assert_eq!(value.budget().is_some(), is_budget, "{start}: {value:?}");
            // A budget must leave room for the answer itself.
            assert!(
                value.budget() < info.max_output_tokens.or(Some(u32::MAX)),
                "{start}: {value:?}"
            );
        }
        let Some(prices) = &facts.prices else { continue };
        assert!(prices.completion >= prices.prompt, "{start}");
        assert!(prices.cache_read.is_none_or(|price| price <= prices.prompt), "{start}");
        assert!(prices.cache_write.is_none_or(|price| price >= prices.prompt), "{start}");
        if let Some(long) = &prices.long {
            assert!(
                long.prompt >= prices.prompt && long.completion >= prices.completion,
                "{start}"
            );
        }
    }
    assert!(catalogue.names().count() > 30);
}

#[test]
fn the_longest_beginning_wins() {
    assert_eq!(
        info("gpt-4o-2024-08-06").prices.unwrap().prompt.usd_per_million().to_string(),
        "2.5"
    );
    assert_eq!(info("gpt-4o-mini").prices.unwrap().prompt.usd_per_million().to_string(), "0.15");
    assert_eq!(info("openai/gpt-5.2").reasoning.value(Effort::Max).unwrap().word(), Some("xhigh"));
    assert_eq!(info("anthropic/claude-sonnet-4.5"), info("claude-sonnet-4-5-20250929"));
}

#[test]
fn a_variant_has_no_prices_and_an_unknown_model_safe_defaults() {
    let variant = info("gpt-4o-audio-preview");
    assert_eq!((variant.context_tokens, variant.prices), (128_000, None));
    let newer = info("gpt-5.9-turbo");
    assert_eq!((newer.prices, newer.source), (None, InfoSource::Catalogue));
    let unknown = info("my-own-model");
    assert_eq!(unknown, ModelInfo::default());
    assert_eq!((unknown.context_tokens, unknown.tools, unknown.vision), (32_768, true, false));
    assert_eq!(unknown.effort_choice(Effort::High).effective, None);
}

#[test]
fn the_window_of_a_local_model_is_the_servers_affair() {
    for model in ["qwen3:8b", "llama3.1", "gpt-oss:20b", "Qwen2.5-7B-Instruct-Q4_K_M.gguf"] {
        let info = info(model);
        assert_eq!((info.context_tokens, info.source), (32_768, InfoSource::Catalogue), "{model}");
    }
    assert!(info("qwen2.5vl:7b").vision);
    assert!(!info("gemma2:9b").tools);
}

#[test]
fn an_effort_becomes_the_nearest_that_is_offered_and_the_lower_of_two() {
    use Effort::{High, Low, Max, Medium, Minimal, Off};
    let check = |model: &str, expect: [Option<Effort>; 6]| {
        let info = info(model);
        let given = Effort::ALL.map(|effort| info.effort_choice(effort).effective);
        assert_eq!(given, expect, "{model}");
    };
    let some = |efforts: [Effort; 6]| efforts.map(Some);
    check("deepseek-flash", some([Off, Low, Low, Low, High, Max]));
    // d.18: the pro model is given high when low is asked for, and is never switched off by it.
    check("deepseek-v4-pro", some([Off, High, High, High, High, Max]));
    check("gpt-5", some([Minimal, Minimal, Low, Medium, High, High]));
    check("gpt-6.2-sol", some([Low, Low, Low, Medium, High, Max]));
    check("claude-haiku-4-5", some([Off, Low, Low, Medium, High, Max]));
    check("gpt-4o", [None; 6]);
}

#[test]
fn facts_replace_only_what_they_name() {
    let facts: ModelFacts = toml::from_str("context_tokens = 8192\nvision = false").unwrap();
    let before = info("gpt-4o");
    let after = before.clone().with(&facts, InfoSource::Config);
    let expect = ModelInfo {
        context_tokens: 8192,
        context_source: InfoSource::Config,
        vision: false,
        source: InfoSource::Config,
        ..before.clone()
    };
    assert_eq!(after, expect);
    assert_eq!(before.clone().with(&ModelFacts::default(), InfoSource::Config), before);
}

#[test]
fn mistakes_in_facts_are_named() {
    let check = |text: &str, expect: &str| {
        let error = toml::from_str::<ModelFacts>(text).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check("contxt_tokens = 1", "unknown field `contxt_tokens`");
    check("efforts = { much = \"x\" }", "unknown variant `much`");
    check("prices = { prompt = -1.0, completion = 1.0 }", "-1 is no price between 0 and 100000");
    check("api = \"soap\"", "unknown variant `soap`");
}

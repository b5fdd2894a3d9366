//! What the model is told of the tools. A change here changes every request's prefix.

mod catalogue;
mod compute;
mod data;
mod dialogue;
mod fs;
mod memory;
mod net;
mod planning;
mod system;

use agentd_domain::ToolEffect;
use agentd_tools::Registry;
use serde_json::{Value, json};

use crate::harness::Place;

/// Name, effect and parameters. The tools of a category are in its module.
type Told = (&'static str, ToolEffect, Value);

#[test]
fn the_schemas_are_stable() {
    let specs = Registry::builtin().specs();
    let mut expected = [
        catalogue::told(),
        compute::told(),
        data::told(),
        dialogue::told(),
        fs::told(),
        memory::told(),
        net::told(),
        planning::told(),
        system::told(),
    ]
    .concat();
    expected.sort_by_key(|(name, ..)| *name);
    let names: Vec<_> = expected.iter().map(|(name, ..)| *name).collect();
    assert_eq!(specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), names);
    for (spec, expected) in specs.iter().zip(expected) {
        let told = (spec.name.as_str(), spec.capabilities.effect, spec.parameters.clone());
        assert_eq!(told, expected);
    }
    for spec in &specs {
        assert!(!spec.description.is_empty());
        assert_eq!(
            spec.description,
            spec.description.split_whitespace().collect::<Vec<_>>().join(" ")
        );
    }
}

#[tokio::test]
async fn each_tool_answers_through_the_registry() {
    let place = Place::new();
    let check = async |tool: &str, arguments, expect: &str| {
        let result = place.call(tool, arguments).await;
        assert!(result.output.contains(expect), "{tool}: {result:?}");
    };
    check("calculator", json!({"expression": "6 * 7"}), "42").await;
    check("text_length", json!({"text": "世界"}), "graphemes: 2").await;
    check("time", json!({"timezone": "Asia/Tokyo"}), "Asia/Tokyo: 2026-01-02 12:04:05").await;
    check("time", json!({}), "UTC: 2026-01-02 03:04:05").await;
    check("time", json!({"timezone": "Tokyo"}), "did you mean 'Asia/Tokyo'").await;
}

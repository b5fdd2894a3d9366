//! Models and roles.

use agentd_llm::{ModelInfo, Prices};
use agentd_proto::v1;

use super::item;
use crate::provider::{ListedModel, RoleModel};

pub(crate) fn model(model: &ListedModel) -> v1::Model {
    let ListedModel { name, is_available, info } = model;
    let ModelInfo {
        context_tokens,
        max_output_tokens,
        prices: costs,
        vision,
        tools,
        reasoning,
        refuses: _,
        api: _,
        context_source: _,
        source,
    } = info;
    let efforts = reasoning.efforts().into_iter();
    v1::Model {
        name: name.clone(),
        available: *is_available,
        context_tokens: *context_tokens,
        max_output_tokens: max_output_tokens.map_or(0, u64::from),
        vision: *vision,
        tools: *tools,
        efforts: efforts.map(|effort| item::effort(Some(effort)).into()).collect(),
        prices: costs.as_ref().map(prices),
        source: source.as_str().to_owned(),
    }
}

/// Cache prices that are not known are those of the prompt, as they are in the costs.
fn prices(prices: &Prices) -> v1::Prices {
    let Prices { prompt, completion, cache_read, cache_write, long: _ } = prices;
    v1::Prices {
        prompt: prompt.usd_per_million(),
        completion: completion.usd_per_million(),
        cache_read: cache_read.unwrap_or(*prompt).usd_per_million(),
        cache_write: cache_write.unwrap_or(*prompt).usd_per_million(),
    }
}

pub(crate) fn role(role: RoleModel) -> v1::RoleAssignment {
    let RoleModel { role, base_url, model, fallbacks } = role;
    v1::RoleAssignment { role: role.to_owned(), base_url, model, fallbacks }
}

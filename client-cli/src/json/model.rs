//! Views of models and roles.

use agentd_proto::v1;
use serde::Serialize;

/// All models and roles.
#[derive(Debug, Serialize)]
pub(crate) struct ModelsView<'a> {
    models: Vec<ModelView<'a>>,
    roles: Vec<RoleView<'a>>,
}

#[derive(Debug, Serialize)]
struct ModelView<'a> {
    name: &'a str,
    available: bool,
    context_tokens: u64,
    max_output_tokens: u64,
    vision: bool,
    tools: bool,
    efforts: Vec<String>,
    prices: Option<PricesView>,
    source: &'a str,
}

#[derive(Debug, Serialize)]
struct PricesView {
    prompt: f64,
    completion: f64,
    cache_read: f64,
    cache_write: f64,
}

#[derive(Debug, Serialize)]
struct RoleView<'a> {
    role: &'a str,
    base_url: &'a str,
    model: &'a str,
    fallbacks: &'a [String],
}

impl<'a> From<&'a v1::ListModelsResponse> for ModelsView<'a> {
    fn from(response: &'a v1::ListModelsResponse) -> Self {
        let v1::ListModelsResponse { models, roles } = response;
        Self {
            models: models.iter().map(ModelView::from).collect(),
            roles: roles.iter().map(RoleView::from).collect(),
        }
    }
}

impl<'a> From<&'a v1::Model> for ModelView<'a> {
    fn from(model: &'a v1::Model) -> Self {
        let v1::Model {
            name,
            available,
            context_tokens,
            max_output_tokens,
            vision,
            tools,
            efforts,
            prices,
            source,
        } = model;
        Self {
            name,
            available: *available,
            context_tokens: *context_tokens,
            max_output_tokens: *max_output_tokens,
            vision: *vision,
            tools: *tools,
            efforts: efforts.iter().map(|effort| super::effort(*effort)).collect(),
            prices: prices.map(|prices| {
                let v1::Prices { prompt, completion, cache_read, cache_write } = prices;
                PricesView { prompt, completion, cache_read, cache_write }
            }),
            source,
        }
    }
}

impl<'a> From<&'a v1::RoleAssignment> for RoleView<'a> {
    fn from(assignment: &'a v1::RoleAssignment) -> Self {
        let v1::RoleAssignment { role, base_url, model, fallbacks } = assignment;
        Self { role, base_url, model, fallbacks }
    }
}

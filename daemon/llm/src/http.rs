//! What all APIs over HTTP share: the endpoint, the client, and what an error means.

pub(crate) mod client;
pub(crate) mod endpoint;
pub(crate) mod error_text;
pub(crate) mod host;
mod models;
mod overflow;
pub(crate) mod refusal;
mod whole;

pub(crate) use endpoint::first_bytes;
pub(crate) use models::{MAX_BODY as MAX_MODELS_BODY, names as model_names};

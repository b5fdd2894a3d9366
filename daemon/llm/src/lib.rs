//! Talking to models.
//!
//! Its one job: turn a [`Request`] into a stream of [`StreamPart`]s, whatever oddities the provider
//! sends, and say clearly how it ended. It must not know of sessions, logs or tools that run. It owns
//! no state beyond connection pools.
//!
//! Reading order: `provider` (the port), `well_formed` (what every encoder is given), `http` (the
//! endpoint, and what its errors mean), `stream` (how an answer is read, and the trait for decoders),
//! then an API: `open_ai` (Chat Completions), `anthropic` (Messages) or `responses` (OpenAI Responses),
//! each with `request` out and `answer` in, and `offline`. `catalogue` says what models can do, `price`
//! what they cost, and `layers` is what happens to a request on its way to a provider. `embedder` is the port
//! of models that make vectors of texts, and `static_model` one that does it on this machine.

mod anthropic;
mod catalogue;
mod embedder;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod http;
pub mod layers;
mod meter;
mod native;
mod offline;
mod open_ai;
mod price;
mod probe_local;
mod provider;
mod responses;
mod schema;
#[cfg(feature = "local-embeddings")]
mod static_model;
mod stream;
mod tokens;
pub mod well_formed;

pub use anthropic::{Anthropic, AnthropicOptions};
pub use catalogue::{
    Catalogue, EffortForm, EffortValue, InfoSource, ModelApi, ModelFacts, ModelInfo, Reasoning,
    Refusal,
};
pub use embedder::{Embedded, Embedder, MAX_DIMENSIONS, MAX_TEXT_BYTES, TextKind};
pub use error::{ErrorClass, LlmError};
pub use http::client::{Reach, Timeouts, http_client};
pub use http::host::{is_loopback, is_same_host};
pub use meter::{Attempt, Meter, Spent};
pub use offline::{Offline, OfflineOptions};
pub use open_ai::{
    EmbeddingOptions, OpenAiCompatible, OpenAiEmbeddings, OpenAiOptions, ReasoningEcho,
};
pub use price::{LongPrices, Price, PriceError, Prices, cost_of};
pub use probe_local::{LocalServer, WELL_KNOWN_ADDRESSES, probe_local};
pub use provider::{
    AssembledCall, Completion, Finish, Image, Message, Provider, Request, ResponseStream, Restart,
    StreamPart,
};
pub use responses::{OpenAiResponses, ResponsesOptions};
pub use secrecy::SecretString as Secret;
#[cfg(feature = "local-embeddings")]
pub use static_model::{StaticEmbeddings, StaticModelError, StaticOptions};
pub use tokens::{estimate_message_tokens, estimate_tokens};
pub use well_formed::{Capabilities, WellFormed};

//! The configuration: one TOML file, overridden by environment variables, then by flags.
//!
//! Every key has a default, so that no file is needed. A key that does not exist is an error that
//! names the nearest one that does.

mod budget;
mod context;
mod embeddings;
mod limits;
mod load;
mod memory;
mod otel;
mod permission;
mod roles;
mod sandbox;
mod schema;
mod search;
mod submit;
mod template;
mod tools;

pub use budget::BudgetConfig;
pub use context::ContextSettings;
pub use embeddings::{EmbeddingProvider, EmbeddingSettings};
pub use limits::LimitsConfig;
pub use load::{ConfigError, ConfigSource, Loaded, load};
pub use memory::{DecaySettings, MemorySettings, SelectSettings};
pub use otel::OtelConfig;
pub(crate) use otel::check_endpoint;
pub use permission::PermissionConfig;
pub use roles::{DEFAULT_ENDPOINT, Endpoints, OwnModels, RoleConfig, RolesConfig};
pub use sandbox::{SandboxBackend, SandboxConfig};
pub use schema::{
    Config, DaemonConfig, LogConfig, LogFormat, MetricsConfig, ProviderConfig, ProviderKind,
    RemoteConfig, ResumeSetting, SessionConfig, SocketAccess, StoreConfig, TitleSetting,
};
pub use search::HistorySearchConfig;
pub use submit::SubmitConfig;
pub use template::TEMPLATE;
pub use tools::{EngineSetting, FetchConfig, SearchConfig, ToolsConfig};

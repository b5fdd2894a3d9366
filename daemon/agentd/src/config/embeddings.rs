//! `[memory.embeddings]`: what a model makes of memories, so that they are found by what they mean.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::memory::between;
use super::schema::{BadValue, range};
use super::{Config, ProviderKind};

/// Most bytes of a prefix.
const MAX_PREFIX: usize = 1_000;

/// What a build without the feature says of a model in a directory.
const WITHOUT_FEATURE: &str = "is \"local\", and this agentd was built without the feature local-embeddings; \
     build it with `cargo build --release --package agentd --features local-embeddings`, or set \"none\" \
     or \"endpoint\" and unset memory.embeddings.directory";

/// `[memory.embeddings]`: what a model makes of memories. The name of one behind an endpoint, and its
/// endpoint, are those of `[roles.embedding]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmbeddingSettings {
    /// Where vectors come from.
    pub provider: EmbeddingProvider,
    /// Of a model on this machine, with `tokenizer.json` and `model.safetensors`; empty: there is none.
    pub directory: String,
    /// Length of vectors: what an endpoint is asked for, and what those of a directory must have; 0: the
    /// model's own.
    pub dimensions: u32,
    /// Put before what is looked for.
    pub query_prefix: String,
    /// Put before what may be found.
    pub document_prefix: String,
    /// Longest that a turn or a search waits for the vector of what was said.
    pub query_timeout_ms: u64,
    /// Texts of a scope and category whose vectors have this cosine become one memory, 0 to 1.
    pub merge_similarity: f64,
}

/// `memory.embeddings.provider`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbeddingProvider {
    /// There are none: memories are found by their words.
    #[default]
    None,
    /// The endpoint of the role, over OpenAI's API.
    Endpoint,
    /// A model in a directory, in builds with the feature `local-embeddings`.
    Local,
}

impl EmbeddingProvider {
    /// As it is written in the configuration.
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Endpoint => "endpoint",
            Self::Local => "local",
        }
    }
}

impl Default for EmbeddingSettings {
    fn default() -> Self {
        Self {
            provider: EmbeddingProvider::None,
            directory: String::new(),
            dimensions: 0,
            query_prefix: String::new(),
            document_prefix: String::new(),
            query_timeout_ms: 500,
            merge_similarity: 0.92,
        }
    }
}

impl EmbeddingSettings {
    /// Checks ranges that types do not express.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        let Self {
            provider,
            directory,
            dimensions,
            query_prefix,
            document_prefix,
            query_timeout_ms,
            merge_similarity,
        } = self;
        range("memory.embeddings.dimensions", u64::from(*dimensions), 0, 4_096)?;
        range("memory.embeddings.query_timeout_ms", *query_timeout_ms, 10, 60_000)?;
        between("memory.embeddings.merge_similarity", *merge_similarity, 0.5, 1.0)?;
        for (key, prefix) in [
            ("memory.embeddings.query_prefix", query_prefix),
            ("memory.embeddings.document_prefix", document_prefix),
        ] {
            if prefix.len() > MAX_PREFIX {
                let problem =
                    format!("has {} bytes, of which {MAX_PREFIX} are taken", prefix.len());
                return Err(BadValue::new(key.to_owned(), problem));
            }
        }
        check_directory(*provider, directory)
    }

    /// Longest that a turn or a search waits for the vector of what was said.
    pub(crate) fn query_timeout(&self) -> Duration {
        Duration::from_millis(self.query_timeout_ms)
    }
}

/// Checks that a directory is named for a model that is to come from one, and for no other.
fn check_directory(provider: EmbeddingProvider, directory: &str) -> Result<(), BadValue> {
    let bad = |key: &str, problem: String| {
        Err(BadValue::new(format!("memory.embeddings.{key}"), problem))
    };
    if provider != EmbeddingProvider::Local {
        if directory.is_empty() {
            return Ok(());
        }
        let provider = provider.name();
        let problem = format!(
            "names a model on this machine, and memory.embeddings.provider is \"{provider}\"; set the \
             provider to \"local\", or unset the directory"
        );
        return bad("directory", problem);
    }
    if cfg!(not(feature = "local-embeddings")) {
        return bad("provider", WITHOUT_FEATURE.to_owned());
    }
    if directory.is_empty() {
        let problem = "is empty, and memory.embeddings.provider is \"local\"; name the directory of a \
                       static model, with tokenizer.json and model.safetensors";
        return bad("directory", problem.to_owned());
    }
    if !Path::new(directory).is_absolute() {
        let problem = format!("'{directory}' does not begin with /; name the whole path");
        return bad("directory", problem);
    }
    Ok(())
}

impl Config {
    /// What the model that makes vectors is called here, for people.
    pub(crate) fn embedding_model(&self) -> String {
        match self.memory.embeddings.provider {
            EmbeddingProvider::Local => self.memory.embeddings.directory.clone(),
            EmbeddingProvider::None | EmbeddingProvider::Endpoint => {
                self.roles.embedding.model.clone()
            }
        }
    }

    /// Checks that who makes vectors is named.
    pub(super) fn check_embeddings(&self) -> Result<(), BadValue> {
        if self.memory.embeddings.provider != EmbeddingProvider::Endpoint {
            return Ok(());
        }
        let role = &self.roles.embedding;
        let Some(endpoint) = self.endpoint(&role.endpoint) else { return Ok(()) };
        let bad = |key: String, problem: &str| Err(BadValue::new(key, problem.to_owned()));
        if role.model.is_empty() && endpoint.model.is_empty() {
            let problem =
                "is empty; memory.embeddings needs the name of a model that makes vectors";
            return bad("roles.embedding.model".to_owned(), problem);
        }
        if matches!(endpoint.kind, ProviderKind::Anthropic | ProviderKind::Offline) {
            let problem = "has no API for vectors; name one of [endpoints] that has";
            return bad("roles.embedding.endpoint".to_owned(), problem);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_by_its_key() {
        let refused = |key: &str, change: fn(&mut EmbeddingSettings)| {
            let mut settings = EmbeddingSettings::default();
            assert_eq!(settings.check(), Ok(()));
            change(&mut settings);
            assert_eq!(settings.check().expect_err(key).key, format!("memory.embeddings.{key}"));
        };
        refused("dimensions", |it| it.dimensions = 10_000);
        refused("query_timeout_ms", |it| it.query_timeout_ms = 1);
        refused("merge_similarity", |it| it.merge_similarity = 0.1);
        refused("document_prefix", |it| it.document_prefix = "x".repeat(2_000));
    }

    #[test]
    fn a_directory_is_for_a_local_model_and_for_no_endpoint() {
        use EmbeddingProvider::{Endpoint, Local, None};

        let refused = |provider, directory: &str, key: &str, parts: &[&str]| {
            let directory = directory.to_owned();
            let settings =
                EmbeddingSettings { provider, directory, ..EmbeddingSettings::default() };
            let bad = settings.check().expect_err(key);
            assert_eq!(bad.key, format!("memory.embeddings.{key}"));
            for part in parts {
                assert!(bad.problem.contains(part), "{part}: {}", bad.problem);
            }
        };
        let both = ["memory.embeddings.provider is \"endpoint\"", "set the provider to \"local\""];
        refused(Endpoint, "/models/potion", "directory", &both);
        refused(None, "/models/potion", "directory", &["is \"none\"", "unset the directory"]);
        if cfg!(feature = "local-embeddings") {
            refused(Local, "", "directory", &["is empty", "tokenizer.json"]);
            refused(Local, "models/potion", "directory", &["'models/potion'", "the whole path"]);
        } else {
            let how = "cargo build --release --package agentd --features local-embeddings";
            let parts = [how, "without the feature local-embeddings"];
            refused(Local, "/models/potion", "provider", &parts);
        }
    }

    #[test]
    fn providers_are_named_as_they_are_written() {
        use EmbeddingProvider::{Endpoint, Local, None};
        for provider in [None, Endpoint, Local] {
            let text = format!("memory.embeddings.provider = \"{}\"", provider.name());
            let config: Config = toml::from_str(&text).expect("a configuration");
            assert_eq!(config.memory.embeddings.provider, provider);
        }
    }

    #[test]
    fn an_endpoint_needs_a_model_that_makes_vectors() {
        let check = |text: &str, expect: Option<&str>| {
            let config: Config = toml::from_str(text).expect("a configuration");
            let key = config.check_embeddings().err().map(|bad| bad.key);
            assert_eq!(key.as_deref(), expect, "{text}");
        };
        let endpoint = "memory.embeddings.provider = \"endpoint\"\n";
        check("", None);
        check(endpoint, Some("roles.embedding.model"));
        check(&format!("{endpoint}roles.embedding.model = \"e5\""), None);
        let anthropic = "roles.embedding.model = \"e5\"\nprovider.kind = \"anthropic\"";
        check(&format!("{endpoint}{anthropic}"), Some("roles.embedding.endpoint"));
        let own = "endpoints.e = { base_url = \"http://127.0.0.1:1/v1\", model = \"e5\" }\n\
                   roles.embedding.endpoint = \"e\"";
        check(&format!("{endpoint}{own}"), None);
    }
}

//! The model that makes vectors: the one of the role, at its endpoint, or one in a directory.

use std::sync::Arc;

use agentd_engine::Role;
use agentd_llm::layers::LimitedEmbedder;
use agentd_llm::{Embedder, EmbeddingOptions, LlmError, ModelApi, OpenAiEmbeddings};
use agentd_memory::Embeddings;

use super::endpoint::{Reached, Search, timeouts};
use super::{Models, first_of, preset, stack};
use crate::config::{Config, EmbeddingProvider, EmbeddingSettings, ProviderKind};

impl Models {
    /// What makes vectors of memories by the present configuration. Nothing is connected yet; a model in
    /// a directory is read.
    pub(crate) async fn embeddings(&self) -> Embeddings {
        let config = self.config.borrow().clone();
        let settings = &config.memory.embeddings;
        let found = match settings.provider {
            EmbeddingProvider::None => return Embeddings::Off,
            EmbeddingProvider::Endpoint => {
                self.embedder(&config, settings).map_err(|error| error.to_string())
            }
            EmbeddingProvider::Local => self.local_embedder(settings).await,
        };
        match found {
            Ok(embedder) => Embeddings::Model { embedder, query_timeout: settings.query_timeout() },
            Err(why) => {
                tracing::warn!(why, "the model that makes vectors cannot be used");
                Embeddings::Unusable { model: config.embedding_model(), why }
            }
        }
    }

    /// What can be said of vectors before a model that takes its time is there; none when none does.
    pub(crate) fn embeddings_meanwhile(&self) -> Option<Embeddings> {
        let config = self.config.borrow();
        let is_read_first = config.memory.embeddings.provider == EmbeddingProvider::Local;
        let why = "it is being read from its directory".to_owned();
        is_read_first.then(|| Embeddings::Unusable { model: config.embedding_model(), why })
    }

    /// Where vectors are to come from.
    pub(crate) fn embedding_provider(&self) -> EmbeddingProvider {
        self.config.borrow().memory.embeddings.provider
    }

    fn embedder(
        &self,
        config: &Config,
        settings: &EmbeddingSettings,
    ) -> Result<Arc<dyn Embedder>, LlmError> {
        let role = config.roles.of(Role::Embedding);
        let (endpoint, model) = config.split_model(&role.model);
        let name = endpoint.unwrap_or(&role.endpoint);
        let Some(at) = config.endpoint(name) else {
            let message = format!("there is no endpoint '{name}' in the configuration");
            return Err(LlmError::NotFound { message });
        };
        let preset = match at.kind {
            ProviderKind::Auto if at.base_url.is_empty() => preset::in_environment(&self.env),
            ProviderKind::Auto => Some(&preset::OPENAI),
            ProviderKind::Offline => None,
            kind => Some(preset::of_kind(kind)),
        };
        let preset = preset.filter(|preset| preset.api != ModelApi::Messages).ok_or_else(|| {
            let detail = format!(
                "the endpoint '{name}' has no API for vectors; name another in \
                 roles.embedding.endpoint"
            );
            LlmError::Protocol { detail }
        })?;
        let search =
            Search { name, config: at, env: &self.env, wants_model: false, offline: &self.offline };
        let Reached { base_url, api_key, withheld, .. } = search.reach(preset)?;
        if let Some(reason) = withheld {
            // Most servers of one's own want no key.
            tracing::info!(reason, "vectors are asked for without a key");
        }
        let inner = OpenAiEmbeddings::new(EmbeddingOptions {
            base_url: base_url.to_owned(),
            api_key,
            timeouts: timeouts(at),
            model: first_of([model, &at.model]).to_owned(),
            dimensions: Some(settings.dimensions).filter(|length| *length > 0),
            query_prefix: settings.query_prefix.clone(),
            document_prefix: settings.document_prefix.clone(),
        })?;
        let limits = stack::own_endpoint(base_url, at);
        let watcher = self.watcher.clone();
        Ok(Arc::new(LimitedEmbedder::new(Arc::new(inner), limits, stack::retry(at), watcher)))
    }
}

#[cfg(test)]
mod tests {
    use agentd_llm::TextKind;
    use tokio::sync::watch;

    use super::*;
    use crate::environment::Environment;

    async fn embeddings(config: &str, env: &[(&str, &str)]) -> Embeddings {
        let config: Config = toml::from_str(config).expect("a configuration");
        let env: Environment =
            env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let (_sender, config) = watch::channel(config);
        Models::new(config, env, String::new(), None).embeddings().await
    }

    #[tokio::test]
    async fn the_role_s_model_at_its_endpoint_makes_the_vectors() {
        assert!(matches!(embeddings("", &[]).await, Embeddings::Off));
        let config = r#"
            memory.embeddings = { provider = "endpoint", document_prefix = "passage: " }
            roles.embedding = { endpoint = "near", model = "e5" }
            endpoints.near = { base_url = "http://127.0.0.1:9/v1/" }
        "#;
        let Embeddings::Model { embedder, query_timeout } = embeddings(config, &[]).await else {
            panic!("there is a model")
        };
        assert_eq!((embedder.model(), embedder.place()), ("e5", "http://127.0.0.1:9/v1"));
        assert_eq!(embedder.space(), "e5 \"passage: \"");
        assert_eq!(query_timeout.as_millis(), 500);
    }

    #[tokio::test]
    async fn what_cannot_be_used_says_why() {
        let check = async |config: &str, part: &str| {
            let config = format!("memory.embeddings.provider = \"endpoint\"\n{config}");
            match embeddings(&config, &[]).await {
                Embeddings::Unusable { model, why } => {
                    assert_eq!(model, "e5");
                    assert!(why.contains(part), "{why}");
                }
                other => panic!("{other:?}"),
            }
        };
        check("roles.embedding.model = \"e5\"", "no API for vectors").await;
        check(
            "roles.embedding.model = \"e5\"\nprovider.kind = \"openai\"",
            "set OPENAI_API_KEY or provider.api_key_file",
        )
        .await;
    }

    #[tokio::test]
    async fn sc_03_a_key_of_the_environment_is_not_sent_to_another_host_for_vectors() {
        let llm = agentd_testkit::LlmServer::start().await;
        let config = format!(
            "memory.embeddings.provider = \"endpoint\"\n\
             roles.embedding = {{ endpoint = \"near\", model = \"e5\" }}\n\
             endpoints.near = {{ base_url = \"{}\" }}",
            llm.base_url()
        );
        let Embeddings::Model { embedder, .. } =
            embeddings(&config, &[("OPENAI_API_KEY", "sk-of-another-host")]).await
        else {
            panic!("there is a model")
        };
        embedder.embed(&["tea".to_owned()], TextKind::Query).await.expect("vectors");
        assert_eq!(llm.wait_for_embeddings(1).await.header("authorization"), None);
    }
}

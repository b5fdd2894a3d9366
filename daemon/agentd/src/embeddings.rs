//! Keeps memories in step with the model that makes vectors of them: the one that is configured now.

use std::sync::Arc;

use agentd_memory::Memories;
use tokio::sync::watch;

use crate::config::Config;
use crate::provider::Models;

/// Makes vectors of memories until it is dropped.
#[derive(Debug)]
pub(crate) struct Embedding {
    pub(crate) memories: Memories,
    pub(crate) models: Arc<Models>,
    pub(crate) config: watch::Receiver<Config>,
}

impl Embedding {
    /// Makes what is missing, and takes another model when another is configured. What is under way when
    /// this is dropped is whole or has not happened.
    pub(crate) async fn run(self) {
        let Self { memories, models, config } = self;
        if let Some(meanwhile) = models.embeddings_meanwhile()
            && let Err(error) = memories.embed_with(meanwhile).await
        {
            tracing::warn!(%error, "memories could not be read before their vectors");
        }
        memories.keep_embedded_with(config, || models.embeddings()).await;
    }
}

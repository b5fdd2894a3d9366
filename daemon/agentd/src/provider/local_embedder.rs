//! A model that makes vectors on this machine, read from a directory.

use std::sync::Arc;

use agentd_llm::Embedder;

use super::Models;
use crate::config::EmbeddingSettings;

/// The model that was read last, while somebody uses it: it is not read into memory a second time when
/// its files are what they were.
#[cfg(feature = "local-embeddings")]
pub(super) type LastRead = std::sync::Mutex<std::sync::Weak<agentd_llm::StaticEmbeddings>>;

#[cfg(feature = "local-embeddings")]
impl Models {
    /// Reads the model of the directory, or says why it cannot be used and what to do.
    pub(super) async fn local_embedder(
        &self,
        settings: &EmbeddingSettings,
    ) -> Result<Arc<dyn Embedder>, String> {
        use std::sync::PoisonError;

        use agentd_llm::{StaticEmbeddings, StaticOptions};

        let dimensions = usize::try_from(settings.dimensions).ok();
        let options = StaticOptions {
            directory: settings.directory.as_str().into(),
            dimensions: dimensions.filter(|length| *length > 0),
            query_prefix: settings.query_prefix.clone(),
            document_prefix: settings.document_prefix.clone(),
        };
        let last = self.last_read.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let reading = tokio::task::spawn_blocking(move || match last {
            Some(last) => last.load_again(options),
            None => StaticEmbeddings::load(options),
        });
        match reading.await {
            Ok(Ok(read)) => {
                let read = Arc::new(read);
                let mut last = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Arc::downgrade(&read);
                Ok(read)
            }
            Ok(Err(error)) => Err(format!("{error}; {}", error.hint())),
            Err(_panicked) => {
                let directory = &settings.directory;
                Err(format!("the files in {directory} make no sense; copy the model there again"))
            }
        }
    }
}

#[cfg(not(feature = "local-embeddings"))]
impl Models {
    /// The configuration refuses it before.
    #[expect(clippy::unused_async, reason = "the same call as with the feature")]
    pub(super) async fn local_embedder(
        &self,
        _settings: &EmbeddingSettings,
    ) -> Result<Arc<dyn Embedder>, String> {
        Err("this agentd was built without the feature local-embeddings".to_owned())
    }
}

//! A static model in a directory: a vector for each token, whose mean is the text's (ADR 0020).
//!
//! Its files are read once, checked, and kept in memory. Nothing is ever fetched, and what is in the
//! directory later counts when the model is loaded again.

mod error;
mod files;
mod tables;

use std::path::PathBuf;
use std::sync::Arc;

use agentd_domain::Usage;
use async_trait::async_trait;
use model2vec_rs::model::StaticModel;

use crate::embedder::{check_texts, normalised};
use crate::{Embedded, Embedder, LlmError, TextKind};

pub use error::StaticModelError;
use files::Files;

/// Which model, and how it is used.
#[derive(Debug, Clone)]
pub struct StaticOptions {
    /// With `tokenizer.json` and `model.safetensors`, as model2vec writes them.
    pub directory: PathBuf,
    /// Length that its vectors must have; none: whatever they have.
    pub dimensions: Option<usize>,
    /// Put before what is looked for, such as "query: ".
    pub query_prefix: String,
    /// Put before what may be found, such as "passage: ".
    pub document_prefix: String,
}

/// A model in memory.
#[derive(Debug)]
pub struct StaticEmbeddings {
    /// Shared by those who use it; the tables are not copied.
    tables: Arc<StaticModel>,
    length: usize,
    /// A hash of the files.
    contents: String,
    weights: PathBuf,
    model: String,
    place: String,
    space: String,
    query_prefix: String,
    document_prefix: String,
}

impl StaticEmbeddings {
    /// Reads a model. It takes a second for some hundred megabytes, so that it belongs on a thread that
    /// may block.
    ///
    /// # Errors
    /// See [`StaticModelError`].
    pub fn load(options: StaticOptions) -> Result<Self, StaticModelError> {
        let files = Files::read(&options.directory)?;
        let (tables, length) = files.understand()?;
        Self::of(files, (Arc::new(tables), length), options)
    }

    /// Reads what is there now. When it is what it was, the tables in memory are used again.
    ///
    /// # Errors
    /// See [`StaticModelError`].
    pub fn load_again(&self, options: StaticOptions) -> Result<Self, StaticModelError> {
        let files = Files::read(&options.directory)?;
        if files.contents == self.contents {
            return Self::of(files, (Arc::clone(&self.tables), self.length), options);
        }
        let (tables, length) = files.understand()?;
        Self::of(files, (Arc::new(tables), length), options)
    }

    fn of(
        files: Files,
        (tables, length): (Arc<StaticModel>, usize),
        options: StaticOptions,
    ) -> Result<Self, StaticModelError> {
        let StaticOptions { directory, dimensions, query_prefix, document_prefix } = options;
        let Files { contents, weights, .. } = files;
        if let Some(wanted) = dimensions.filter(|wanted| *wanted != length) {
            return Err(StaticModelError::Dimensions { file: weights, length, wanted });
        }
        // Another model may come to have the same name; what it says of texts is another space.
        let model = format!("{}@{contents}", files::name_of(&directory));
        let prefix = Some(&document_prefix).filter(|it| !it.is_empty());
        let prefix = prefix.map(|it| format!(" {it:?}")).unwrap_or_default();
        let space = format!("{model}{prefix}");
        let place = directory.display().to_string();
        Ok(Self {
            tables,
            length,
            contents,
            weights,
            model,
            place,
            space,
            query_prefix,
            document_prefix,
        })
    }
}

#[async_trait]
impl Embedder for StaticEmbeddings {
    fn model(&self) -> &str {
        &self.model
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn space(&self) -> &str {
        &self.space
    }

    async fn embed(&self, texts: &[String], kind: TextKind) -> Result<Embedded, LlmError> {
        check_texts(texts)?;
        let prefix = match kind {
            TextKind::Query => &self.query_prefix,
            TextKind::Document => &self.document_prefix,
        };
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let tables = Arc::clone(&self.tables);
        let work = move || -> Option<Vec<Vec<f32>>> {
            texts.iter().map(|text| direction(tables.encode_single(text))).collect()
        };
        let refused = |problem: &str| {
            let message = format!("{} {problem}", self.weights.display());
            LlmError::Invalid { status: 0, message }
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(Some(vectors)) => Ok(Embedded { vectors, usage: Usage::default() }),
            Ok(None) => Err(refused("makes numbers of it that are not finite")),
            // Some tokenizers give up on a character that they do not know.
            Err(_panicked) => Err(refused("and its tokenizer cannot read it")),
        }
    }
}

/// A vector of length 1, or of zeros where the model knows nothing of the text; none when it is not
/// finite.
fn direction(vector: Vec<f32>) -> Option<Vec<f32>> {
    if vector.iter().all(|number| *number == 0.0) { Some(vector) } else { normalised(vector) }
}

#[cfg(test)]
mod tests;

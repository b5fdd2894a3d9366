//! Vectors of memories, made in the background (ADR 0018).
//!
//! What has none of the present model is asked for in batches, the newest first, each durable before the
//! next: what a stop cuts off is one batch. A model that fails is asked again later, and meanwhile
//! memories are found by their words.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use agentd_domain::MemoryId;
use agentd_llm::{LlmError, TextKind};
use agentd_search::{Scales, probe_documents, probe_queries};
use agentd_store::{MemoryVector, Write};
use tokio::sync::watch;

use super::model::{Model, is_about_the_text};
use super::{EmbeddingState, Embeddings, Memories, PAGE};
use crate::MemoryError;
use crate::book::{Book, Meaning, Missing};
use crate::vectors::Direction;

/// Memories that become durable together.
const BATCH: usize = 32;
/// Texts in a row that a model refuses before it is thought to be at fault, and not they.
const REFUSED_IN_A_ROW: usize = 3;
/// Wait after a failure; it doubles up to the other.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// Why vectors could not be made.
#[derive(Debug, thiserror::Error)]
enum EmbedError {
    #[error(transparent)]
    Model(#[from] LlmError),
    #[error("it does not tell the test sentences of any script apart; it is no model for texts")]
    Useless,
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// What a step has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// There may be more to do.
    More,
    /// Everything that wants a vector has one, or none can be made.
    Done,
}

impl Memories {
    /// Uses another model from now on, or none. Vectors of the same space that are stored are used again.
    ///
    /// # Errors
    /// When the store cannot be read; the model is used all the same, for what it makes anew.
    pub async fn embed_with(&self, embeddings: Embeddings) -> Result<(), MemoryError> {
        let old = self.model();
        let (use_, model) = match embeddings {
            Embeddings::Off => (Use::Off, None),
            Embeddings::Unusable { model, why } => (Use::Unusable { model, why }, None),
            Embeddings::Model { embedder, query_timeout } => {
                let model = Arc::new(Model::new(embedder, query_timeout));
                if let Some(old) = &old {
                    model.follow(old);
                }
                (Use::Model(Arc::clone(&model)), Some(model))
            }
        };
        let space = |model: &Option<Arc<Model>>| {
            model.as_ref().map(|model| model.embedder.space().to_owned())
        };
        let is_same = space(&old) == space(&model);
        let alone = self.alone().await;
        *self.0.embeddings.write().unwrap_or_else(PoisonError::into_inner) = use_;
        self.0.reconfigured.send_replace(());
        if is_same {
            return Ok(());
        }
        self.write(Book::forget_vectors);
        match model {
            Some(_) if self.is_loaded() => self.restore_vectors().await,
            Some(_) => self.load_alone(&alone).await,
            None => Ok(()),
        }
    }

    /// How memories are found.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn embeddings(&self) -> Result<EmbeddingState, MemoryError> {
        self.load().await?;
        let model = match &*self.0.embeddings.read().unwrap_or_else(PoisonError::into_inner) {
            Use::Off => return Ok(EmbeddingState::Off),
            Use::Unusable { model, why } => {
                return Ok(EmbeddingState::Unusable { model: model.clone(), why: why.clone() });
            }
            Use::Model(model) => Arc::clone(model),
        };
        Ok(model.told(self.read(Book::count_vectors)))
    }

    /// Asks the model something, to see whether it answers. Nothing happens without one.
    pub async fn try_embeddings(&self) {
        if let Some(model) = self.model() {
            model.ask("hello", TextKind::Query).await;
        }
    }

    /// Makes vectors of what has none, now and whenever there is something, until it is dropped. Whatever
    /// is under way then is lost, and nothing else.
    pub async fn keep_embedded(&self) {
        let mut reconfigured = self.0.reconfigured.subscribe();
        let mut pause = FIRST_PAUSE;
        loop {
            reconfigured.borrow_and_update();
            match self.embed_some().await {
                Ok(Step::More) => pause = FIRST_PAUSE,
                Ok(Step::Done) => {
                    pause = FIRST_PAUSE;
                    tokio::select! {
                        () = self.0.changed.notified() => {}
                        _ = reconfigured.changed() => {}
                    }
                }
                Err(error) => {
                    self.note_failure(&error);
                    tokio::select! {
                        () = tokio::time::sleep(pause) => pause = LONGEST_PAUSE.min(pause * 2),
                        _ = reconfigured.changed() => pause = FIRST_PAUSE,
                    }
                }
            }
        }
    }

    /// The same with the model that `choose` names, which is asked again whenever `config` changes. What
    /// takes long to name is waited for, and the model before it goes on meanwhile.
    pub async fn keep_embedded_with<C, F: Future<Output = Embeddings>>(
        &self,
        mut config: watch::Receiver<C>,
        choose: impl Fn() -> F,
    ) {
        let following = async {
            loop {
                config.borrow_and_update();
                if let Err(error) = self.embed_with(choose().await).await {
                    tracing::warn!(%error, "vectors of memories could not be read; they are made anew");
                }
                if config.changed().await.is_err() {
                    // Whoever configures is going away, and drops this soon.
                    std::future::pending::<()>().await;
                }
            }
        };
        // Side by side: another model waits for the write that is under way, which must go on meanwhile.
        tokio::select! {
            () = self.keep_embedded() => {}
            () = following => {}
        }
    }

    fn note_failure(&self, error: &EmbedError) {
        let Some(model) = self.model() else { return };
        // Said once, not with each try.
        if model.failed(error.to_string()) {
            let name = model.embedder.model();
            tracing::warn!(model = name, %error, "memories go without vectors for now");
        }
    }

    async fn embed_some(&self) -> Result<Step, EmbedError> {
        let Some(model) = self.model() else { return Ok(Step::Done) };
        self.load().await?;
        if !self.read(Book::wants_vectors) {
            return Ok(Step::Done);
        }
        if model.scales().is_none() {
            probe(&model).await?;
        }
        let is_left_out = |id: MemoryId, hash: u64| model.refuses(id, hash);
        let missing = self.read(|book| book.without_vector(BATCH, is_left_out));
        if missing.is_empty() {
            return Ok(Step::Done);
        }
        let has_made = self.read(|book| book.vector_length().is_some());
        let made = make(&model, missing, has_made).await?;
        model.succeeded();
        self.keep(&model, made).await?;
        Ok(Step::More)
    }

    /// Makes vectors durable, and then visible.
    async fn keep(&self, model: &Model, made: Vec<MemoryVector>) -> Result<(), MemoryError> {
        let Some(length) = made.first().map(|vector| vector.numbers.len()) else { return Ok(()) };
        let alone = self.begin_change().await?;
        let is_current =
            self.model().is_some_and(|it| it.embedder.space() == model.embedder.space());
        if !is_current {
            return Ok(());
        }
        let known = self.read(Book::vector_length);
        if known.is_some_and(|known| known != length) {
            let name = model.embedder.model();
            tracing::warn!(model = name, known, length, "another model has this name now");
            self.write(Book::forget_vectors);
        }
        let writes = made.iter().map(|vector| Write::PutMemoryVector(Box::new(vector.clone())));
        let writes = writes.collect();
        let mut has_room = true;
        self.commit(writes, |book| {
            for vector in &made {
                has_room &= book.put_vector(vector);
            }
        })
        .await?;
        if !has_room {
            for vector in made {
                model.refuse(vector.id, vector.text);
            }
        }
        drop(alone);
        Ok(())
    }

    /// Puts the stored vectors of the present model into the book, which nobody else changes meanwhile.
    pub(super) async fn restore_vectors(&self) -> Result<(), MemoryError> {
        let Some(model) = self.model() else { return Ok(()) };
        let mut after = None;
        loop {
            let page = self.0.store.memory_vectors(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id);
            self.write(|book| {
                for vector in page.iter().filter(|it| it.space == model.embedder.space()) {
                    book.put_vector(vector);
                }
            });
        }
    }

    /// What a question means, where there is a model that reads it and answers in time.
    pub(super) async fn meaning(&self, text: &str) -> Option<Meaning> {
        let model = self.model()?;
        let scale = model.scales()?.of(text)?;
        let is_of_use =
            agentd_search::has_words(text) && self.read(|book| book.vector_length().is_some());
        if !is_of_use {
            return None;
        }
        let direction = model.ask(text, TextKind::Query).await?;
        Some(Meaning { direction, scale })
    }

    /// What a text that is to be remembered means, to compare it with others of its kind.
    pub(super) async fn direction(&self, text: &str) -> Option<Direction> {
        let model = self.model()?;
        // What it does not read is not compared.
        model.scales()?.of(text)?;
        let is_of_use = !text.trim().is_empty() && self.read(|book| book.vector_length().is_some());
        if is_of_use { model.ask(text, TextKind::Document).await } else { None }
    }

    pub(super) fn model(&self) -> Option<Arc<Model>> {
        match &*self.0.embeddings.read().unwrap_or_else(PoisonError::into_inner) {
            Use::Model(model) => Some(Arc::clone(model)),
            Use::Off | Use::Unusable { .. } => None,
        }
    }
}

/// What is in use.
#[derive(Debug, Default)]
pub(super) enum Use {
    #[default]
    Off,
    Unusable {
        model: String,
        why: String,
    },
    Model(Arc<Model>),
}

/// Finds out what the model's cosines mean.
async fn probe(model: &Model) -> Result<(), EmbedError> {
    let embedder = &model.embedder;
    let documents = embedder.embed(&probe_documents(), TextKind::Document).await?.vectors;
    let queries = embedder.embed(&probe_queries(), TextKind::Query).await?.vectors;
    let scales = Scales::measured(&documents, &queries).filter(|scales| !scales.is_useless());
    model.set_scales(scales.ok_or(EmbedError::Useless)?);
    Ok(())
}

/// Makes vectors of texts. One that the model refuses is noted and left out, unless the model has never
/// made any: then it may be at fault, and not the text.
async fn make(
    model: &Model,
    missing: Vec<Missing>,
    has_made: bool,
) -> Result<Vec<MemoryVector>, EmbedError> {
    let texts: Vec<String> = missing.iter().map(|it| it.text.clone()).collect();
    let error = match model.embedder.embed(&texts, TextKind::Document).await {
        Ok(embedded) => return Ok(vectors(model, &missing, &embedded.vectors)),
        Err(error) if is_about_the_text(&error) => error,
        Err(error) => return Err(error.into()),
    };
    tracing::debug!(%error, "a batch of memories is refused, and tried one by one");
    let (mut made, mut refused, mut why) = (Vec::new(), Vec::new(), None);
    for one in &missing {
        let text = std::slice::from_ref(&one.text);
        match model.embedder.embed(text, TextKind::Document).await {
            Ok(embedded) => {
                made.extend(vectors(model, std::slice::from_ref(one), &embedded.vectors));
            }
            Err(error) if is_about_the_text(&error) => {
                refused.push(one);
                if made.is_empty() && refused.len() == REFUSED_IN_A_ROW {
                    return Err(error.into());
                }
                why = Some(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(error) = why.filter(|_| made.is_empty() && !has_made) {
        return Err(error.into());
    }
    for one in refused {
        model.refuse(one.id, one.hash);
    }
    Ok(made)
}

/// Vectors as they are kept. What has no direction is not asked for again.
fn vectors(model: &Model, of: &[Missing], vectors: &[Vec<f32>]) -> Vec<MemoryVector> {
    let mut made = Vec::with_capacity(of.len());
    for (one, vector) in of.iter().zip(vectors) {
        let Some(direction) = Direction::of(vector) else {
            model.refuse(one.id, one.hash);
            continue;
        };
        made.push(MemoryVector {
            id: one.id,
            space: model.embedder.space().to_owned(),
            text: one.hash,
            numbers: direction.steps().to_vec(),
        });
    }
    made
}

#[cfg(test)]
mod tests;

//! The model that makes vectors of memories: whether there is one, and how it is doing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_domain::MemoryId;
use agentd_llm::{Embedder, LlmError, TextKind};
use agentd_search::Scales;
use tokio::time::Instant;

use crate::vectors::Direction;

/// Most bytes of a question that a model is asked about. It reads no more than some hundred tokens.
const MAX_QUESTION_BYTES: usize = 4096;
/// After so many questions in a row without an answer the model is left alone for a while, so that turns
/// do not wait for what does not come.
const QUESTION_FAILURES: u32 = 3;
const LEFT_ALONE: Duration = Duration::from_secs(30);

/// What makes vectors of memories.
#[derive(Debug, Clone)]
pub enum Embeddings {
    /// Nothing: memories are found by their words.
    Off,
    /// What is configured cannot be used.
    Unusable {
        /// Its model.
        model: String,
        /// Why.
        why: String,
    },
    /// A model.
    Model {
        /// It.
        embedder: Arc<dyn Embedder>,
        /// Longest that a turn or a search waits for what it makes of a question.
        query_timeout: Duration,
    },
}

/// How memories are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingState {
    /// By their words alone.
    Off,
    /// By their words alone, because what is configured cannot be used.
    Unusable {
        /// Its model.
        model: String,
        /// Why.
        why: String,
    },
    /// By their words and their vectors.
    Model {
        /// The model's name.
        model: String,
        /// Where it is.
        place: String,
        /// Memories that have a vector.
        embedded: usize,
        /// Memories that want one.
        wanted: usize,
        /// Memories whose text the model does not take.
        refused: usize,
        /// Questions that were answered by words alone since the start, because the model did not answer.
        missed: u64,
        /// Why the last request came to nothing; none: it did not, or there was none.
        failure: Option<String>,
    },
}

/// A model in use.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) embedder: Arc<dyn Embedder>,
    query_timeout: Duration,
    state: Mutex<State>,
    missed: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// What its cosines mean; none until it was asked.
    scales: Option<Scales>,
    failure: Option<String>,
    /// Questions in a row without an answer.
    failures: u32,
    left_alone_until: Option<Instant>,
    /// Texts that it does not take.
    refused: HashMap<MemoryId, u64>,
}

impl Model {
    pub(super) fn new(embedder: Arc<dyn Embedder>, query_timeout: Duration) -> Self {
        Self { embedder, query_timeout, state: Mutex::default(), missed: AtomicU64::new(0) }
    }

    /// Goes on with what is known of the same model, if it is the same.
    pub(super) fn follow(&self, old: &Self) {
        if old.embedder.space() == self.embedder.space() {
            let scales = old.scales();
            self.state().scales = scales;
        }
    }

    pub(super) fn scales(&self) -> Option<Scales> {
        self.state().scales
    }

    pub(super) fn set_scales(&self, scales: Scales) {
        self.state().scales = Some(scales);
    }

    /// What it makes of a question; none in time, or without an answer.
    pub(super) async fn ask(&self, text: &str, kind: TextKind) -> Option<Direction> {
        if self.is_left_alone() {
            self.missed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let text = text.get(..agentd_domain::floor_char_boundary(text, MAX_QUESTION_BYTES));
        let text = [text.unwrap_or_default().to_owned()];
        let asking = self.embedder.embed(&text, kind);
        let problem = match tokio::time::timeout(self.query_timeout, asking).await {
            Ok(Ok(embedded)) => {
                self.succeeded();
                return Direction::of(embedded.vectors.first()?);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => format!("no answer within {} ms", self.query_timeout.as_millis()),
        };
        tracing::debug!(model = self.embedder.model(), problem, "a question goes without a vector");
        self.missed.fetch_add(1, Ordering::Relaxed);
        self.question_failed(problem);
        None
    }

    fn is_left_alone(&self) -> bool {
        self.state().left_alone_until.is_some_and(|until| until > Instant::now())
    }

    fn question_failed(&self, problem: String) {
        let mut state = self.state();
        state.failure = Some(problem);
        state.failures = state.failures.saturating_add(1);
        if state.failures >= QUESTION_FAILURES {
            state.left_alone_until = Some(Instant::now() + LEFT_ALONE);
        }
    }

    /// It answered.
    pub(super) fn succeeded(&self) {
        let mut state = self.state();
        state.failure = None;
        state.failures = 0;
        state.left_alone_until = None;
    }

    /// It did not. True when that is news.
    pub(super) fn failed(&self, problem: String) -> bool {
        let mut state = self.state();
        let is_news = state.failure.as_ref() != Some(&problem);
        state.failure = Some(problem);
        is_news
    }

    pub(super) fn refuse(&self, id: MemoryId, hash: u64) {
        self.state().refused.insert(id, hash);
    }

    pub(super) fn refuses(&self, id: MemoryId, hash: u64) -> bool {
        self.state().refused.get(&id) == Some(&hash)
    }

    /// How it is doing.
    pub(super) fn told(&self, (embedded, wanted): (usize, usize)) -> EmbeddingState {
        let state = self.state();
        EmbeddingState::Model {
            model: self.embedder.model().to_owned(),
            place: self.embedder.place().to_owned(),
            embedded,
            wanted,
            refused: state.refused.len().min(wanted - embedded.min(wanted)),
            missed: self.missed.load(Ordering::Relaxed),
            failure: state.failure.clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True when a model says that it does not take this text, whoever asks.
pub(super) fn is_about_the_text(error: &LlmError) -> bool {
    matches!(
        error,
        LlmError::Invalid { .. } | LlmError::ContextOverflow { .. } | LlmError::Refused { .. }
    )
}

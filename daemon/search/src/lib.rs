//! Finding short texts by their words.
//!
//! Its one job: to say which words a text is made of, in any script, and to rank texts by the words of
//! a question, or by these and what a model says together. It must not know what the texts are: memories, chunks of documents, past turns. Owners
//! keep an [`Index`] beside their records and bring its keys back to them.

mod fusion;
mod index;
mod neighbours;
mod probe;
mod snippet;
mod words;

pub use fusion::Fusion;
pub use index::{Document, Hit, Index, Question};
pub use neighbours::{ChatTurn, names, with_neighbours};
pub use probe::{Scale, Scales, probe_documents, probe_queries};
pub use snippet::snippet;
pub use words::{has_negation, has_words, keywords, stems};

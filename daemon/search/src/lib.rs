//! Finding short texts by their words.
//!
//! Its one job: to say which words a text is made of, in any script, and to rank texts by the words of
//! a question. It must not know what the texts are: memories, chunks of documents, past turns. Owners
//! keep an [`Index`] beside their records and bring its keys back to them.

mod index;
mod words;

pub use index::{Document, Hit, Index, Question};
pub use words::{has_negation, has_words, keywords, stems};

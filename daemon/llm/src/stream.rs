//! Reading streamed answers: what the APIs share. Each API brings an [`AnswerDecoder`].

mod answer_stream;
pub(crate) mod call;
pub(crate) mod counts;
mod decoder;
pub(crate) mod mend;
mod parts;
pub(crate) mod sse;
pub(crate) mod surrogates;
pub(crate) mod wire_text;

pub(crate) use answer_stream::{AnswerStream, BodyFormat, Limits};
pub(crate) use decoder::{AnswerDecoder, BodyEnd, not_understood};
pub(crate) use parts::Parts;

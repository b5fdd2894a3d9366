//! Long-term memory: what holds from one session to the next.
//!
//! Its one job: to keep memories, to say which of them are told, and to let them age. It must not know
//! sessions, prompts or the wire. [`Memories`] owns the records; its state, the book, is a plain
//! value with synchronous methods, and each change is durable before it is seen.

mod book;
mod config;
pub mod consolidate;
mod decay;
mod doubt;
mod error;
mod extract;
mod memories;
mod merge;
mod new_memory;
mod secret;
mod select;
#[cfg(test)]
mod test_memory;
mod told;
mod vectors;
mod vouch;

pub use book::{Added, Filter};
pub use config::{DecayConfig, MemoryConfig, SelectConfig};
pub use decay::{Fate, forecast, next_step, retention};
pub use doubt::ClockDoubt;
pub use error::MemoryError;
pub use extract::{Extracted, INSTRUCTIONS, MAX_ANSWER, parse, usual_priority};
pub use memories::{
    Counts, EmbeddingState, Embeddings, Found, Memories, Settled, Swept, WouldSweep,
};
pub use new_memory::{MemoryPatch, NewMemory, Vouched};
pub use select::{Because, Chosen};
pub use told::{id_end, told, told_line, told_withdrawn};
pub use vouch::vouched;

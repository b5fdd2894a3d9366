//! What people type in any client, and what it means.

pub mod completion;
pub mod duration;
pub mod files;
mod fit;
pub mod pick;
pub mod slash;

pub use fit::fit;

//! What people type in any client, and what it means.

pub mod duration;
pub mod slash;

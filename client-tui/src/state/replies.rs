//! Replies of the daemon as lines to read.

mod context;
mod session;
mod system;

pub(super) use context::{context, expanded, pins, summary};
pub(super) use session::{plan, queue, stats, todo, traced};
pub(super) use system::{memories, status, tool, tools, used};

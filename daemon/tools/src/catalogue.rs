//! The tools of the second rank: those that no request describes.
//!
//! Descriptions are a part of every request, so only the tools that most work needs are in it. The
//! others are found with `find_tools` and called through `call_tool`. The registry resolves such a
//! call to the real tool before anything is planned or permitted; what is told of the two stays the
//! same through a session, and with it the prefix that providers cache.
//!
//! Reading order: `score` (what fits a query), `find_tools`, `call_tool`.

mod call_tool;
mod find_tools;
mod score;

pub(crate) use call_tool::{CALL_TOOL, CallTool, Inner};
pub(crate) use find_tools::{FIND_TOOLS, FindTools};

//! Tools that the model can call.
//!
//! Its one job: describe tools to the model, check arguments, run one call and give one bounded
//! result. It must not know of sessions or providers. It owns no state; what a call may touch comes
//! with its [`ToolContext`].

mod registry;
mod tool;

pub use registry::{PreparedCall, RegisterError, Registry};
pub use tool::{Tool, ToolContext};

//! An answer as its provider sent it.

use serde::{Deserialize, Serialize};

/// The blocks of an answer in the provider's own form, for APIs that want some of them back
/// unchanged: signed thinking, encrypted reasoning. They are sent back verbatim or dropped whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeBlocks {
    /// The API whose form it is, as `Provider::kind` names it.
    pub api: String,
    /// The model that wrote them.
    pub model: String,
    /// JSON texts, one a block, in order.
    pub blocks: Vec<String>,
}

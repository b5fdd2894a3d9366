//! What an API said in an earlier answer, for sending it back as it came.
//!
//! What is signed or encrypted in it must not change. So the blocks of an answer go back verbatim and
//! in order, or none of them does. Which blocks an API takes, its own file says; that they fit the
//! message is what `well_formed` has seen to.

use agentd_domain::NativeBlocks;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A block as its provider sent it, and what the API's encoder knows of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Native<'a, K> {
    raw: &'a RawValue,
    pub(crate) kind: K,
}

impl<K> Serialize for Native<'_, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

/// The blocks of an answer that this model wrote over this API, each judged by `judge`; none when it was
/// another, or when the API would not take one of them.
pub(crate) fn blocks<'a, K>(
    native: &'a NativeBlocks,
    api: &str,
    model: &str,
    judge: impl Fn(&'a str) -> Option<K>,
) -> Option<Vec<Native<'a, K>>> {
    if native.api != api || native.model != model {
        return None;
    }
    let blocks = native
        .blocks
        .iter()
        .map(|block| Some(Native { raw: serde_json::from_str(block).ok()?, kind: judge(block)? }));
    blocks.collect()
}

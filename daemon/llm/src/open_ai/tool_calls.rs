//! Putting tool calls together from their fragments.
//!
//! Servers disagree on what a fragment holds. OpenAI sends index, id and name at the start of a call and
//! then only the index; others leave out the index, send it always as 0, send no id or an empty one,
//! repeat the name, or give it later; some give one id to all calls. The rules here, in order:
//!
//! 1. A fragment continues the call with its id, and of several the one with its index; without id, the
//!    newest call with its index; without either, the newest call (in a list of several such fragments:
//!    the call of that position).
//! 2. It starts a new call instead when its id or its index contradicts that call's, or when it brings a
//!    name while that call's arguments are whole already.
//! 3. What cannot be told apart is joined. The arguments are then no JSON, which the model is told,
//!    instead of being lost.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::stream::call::close_call;
use crate::stream::surrogates::SurrogateJoiner;
use crate::{AssembledCall, Finish};

/// What a call counts beside its texts, so that a great many empty ones pass the answer's limit.
const CALL_BYTES: usize = 128;

/// A fragment. Empty texts mean that the field was missing.
#[derive(Debug, Default, Clone)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cow<'a, [u8]>,
}

/// The calls of an answer so far.
#[derive(Debug, Default)]
pub(super) struct CallAssembler {
    calls: Vec<OpenCall>,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    joiner: SurrogateJoiner,
}

impl CallAssembler {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes the fragments of one delta. Returns how many bytes they count.
    pub(super) fn push(&mut self, fragments: &[Fragment<'_>]) -> usize {
        let mut added = 0;
        for (position, fragment) in fragments.iter().enumerate() {
            let position = (fragments.len() > 1).then_some(position);
            let at = match self.find(fragment, position) {
                Some(at) if !self.starts_new_call(at, fragment) => at,
                _ => {
                    self.calls.push(OpenCall { index: fragment.index, ..OpenCall::default() });
                    added += CALL_BYTES;
                    self.calls.len() - 1
                }
            };
            if let Some(call) = self.calls.get_mut(at) {
                let before = call.arguments.len();
                call.extend(fragment);
                added += call.arguments.len() - before + fragment.name.len() + fragment.id.len();
            }
        }
        added
    }

    /// The call that a fragment belongs to if it does not start a new one.
    fn find(&self, fragment: &Fragment<'_>, position: Option<usize>) -> Option<usize> {
        let newest = |matches: &dyn Fn(&OpenCall) -> bool| self.calls.iter().rposition(matches);
        if !fragment.id.is_empty() {
            let same_id = |call: &OpenCall| call.id == fragment.id;
            let at = newest(&|call| same_id(call) && !call.has_other_index(fragment))
                // The id may come after the index, and repeat that of an earlier call.
                .or_else(|| newest(&|call| call.id.is_empty() && call.has_index_of(fragment)))
                .or_else(|| newest(&same_id));
            if at.is_some() {
                return at;
            }
        }
        if fragment.index.is_some() {
            let same_index = newest(&|call| call.index == fragment.index);
            // The start may have come without index.
            let is_bare = fragment.id.is_empty() && fragment.name.is_empty();
            return same_index.or_else(|| newest(&|call| is_bare && call.index.is_none()));
        }
        let is_bare = fragment.id.is_empty() && fragment.name.is_empty();
        let by_position = position.filter(|at| is_bare && *at < self.calls.len());
        by_position.or_else(|| self.calls.len().checked_sub(1))
    }

    fn starts_new_call(&self, at: usize, fragment: &Fragment<'_>) -> bool {
        let Some(call) = self.calls.get(at) else { return true };
        let has_ids = !fragment.id.is_empty() && !call.id.is_empty();
        if has_ids && fragment.id != call.id {
            return true;
        }
        if has_ids && call.has_other_index(fragment) {
            // One id for all calls. A nameless rest of a text, though, cannot stand alone.
            let is_rest =
                fragment.name.is_empty() && !call.arguments.is_empty() && !call.is_whole();
            return !is_rest;
        }
        if fragment.name.is_empty() || call.name.is_empty() {
            return false;
        }
        if fragment.name == call.name {
            // Some servers repeat the name with every fragment.
            return call.is_whole() && !fragment.arguments.trim_ascii().is_empty();
        }
        let continues_name = call.arguments.is_empty() && (fragment.index.is_some() || has_ids);
        !continues_name && (call.is_whole() || call.arguments.is_empty())
    }

    /// Closes all calls.
    pub(super) fn finish(&mut self, finish: Finish) -> Vec<AssembledCall> {
        let close = |mut call: OpenCall| {
            call.joiner.finish(&mut call.arguments);
            close_call(&call.name, &call.arguments, finish)
        };
        std::mem::take(&mut self.calls).into_iter().map(close).collect()
    }
}

impl OpenCall {
    fn extend(&mut self, fragment: &Fragment<'_>) {
        if self.id.is_empty() {
            self.id.push_str(&fragment.id);
        }
        if self.index.is_none() {
            self.index = fragment.index;
        }
        if fragment.name.starts_with(&self.name) {
            self.name = fragment.name.to_string();
        } else if self.arguments.is_empty() {
            self.name.push_str(&fragment.name);
        }
        self.joiner.push(&fragment.arguments, &mut self.arguments);
    }

    fn has_index_of(&self, fragment: &Fragment<'_>) -> bool {
        fragment.index.is_some() && self.index == fragment.index
    }

    /// Both have an index, and not the same.
    fn has_other_index(&self, fragment: &Fragment<'_>) -> bool {
        fragment.index.is_some() && self.index.is_some() && self.index != fragment.index
    }

    /// The arguments are one whole object.
    fn is_whole(&self) -> bool {
        // Cheap test first: this runs with every fragment that repeats the name.
        self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
    }
}

#[cfg(test)]
mod tests;

//! Views of what brings order into memories.

use agentd_proto::v1;
use serde::Serialize;

use super::memory::MemoryView;

/// What a run did, or would do.
#[derive(Debug, Serialize)]
pub(crate) struct ConsolidateView<'a> {
    done: Option<ConsolidationView<'a>>,
    would_merge: Vec<PairView<'a>>,
    would_compare: Vec<PairView<'a>>,
    would_weigh: u32,
    would_reflect: u32,
    no_model: bool,
}

impl<'a> From<&'a v1::ConsolidateMemoriesResponse> for ConsolidateView<'a> {
    fn from(answer: &'a v1::ConsolidateMemoriesResponse) -> Self {
        let v1::ConsolidateMemoriesResponse {
            done,
            would_merge,
            would_compare,
            would_weigh,
            would_reflect,
            no_model,
        } = answer;
        Self {
            done: done.as_ref().map(ConsolidationView::from),
            would_merge: would_merge.iter().map(PairView::from).collect(),
            would_compare: would_compare.iter().map(PairView::from).collect(),
            would_weigh: *would_weigh,
            would_reflect: *would_reflect,
            no_model: *no_model,
        }
    }
}

#[derive(Debug, Serialize)]
struct PairView<'a> {
    older: Option<MemoryView<'a>>,
    newer: Option<MemoryView<'a>>,
}

impl<'a> From<&'a v1::MemoryPair> for PairView<'a> {
    fn from(pair: &'a v1::MemoryPair) -> Self {
        let v1::MemoryPair { older, newer } = pair;
        let view = |memory: &'a Option<v1::Memory>| memory.as_ref().map(MemoryView::from);
        Self { older: view(older), newer: view(newer) }
    }
}

/// What a run did.
#[derive(Debug, Serialize)]
pub(crate) struct ConsolidationView<'a> {
    at_ms: i64,
    merged: u32,
    compared: u32,
    superseded: u32,
    proposed: u32,
    adjusted: u32,
    reflected: u32,
    skipped: &'a str,
}

impl<'a> From<&'a v1::MemoryConsolidation> for ConsolidationView<'a> {
    fn from(done: &'a v1::MemoryConsolidation) -> Self {
        let v1::MemoryConsolidation {
            at_ms,
            merged,
            compared,
            superseded,
            proposed,
            adjusted,
            reflected,
            skipped,
        } = done;
        Self {
            at_ms: *at_ms,
            merged: *merged,
            compared: *compared,
            superseded: *superseded,
            proposed: *proposed,
            adjusted: *adjusted,
            reflected: *reflected,
            skipped,
        }
    }
}

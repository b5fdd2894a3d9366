//! Views of what requests are made of.

use agentd_proto::v1;
use serde::Serialize;

use super::event::{AuthorView, view};

/// What was left out of requests.
#[derive(Debug, Serialize)]
pub(super) struct TrimmedView {
    first_kept_seq: u64,
    dropped_tokens: u64,
    steps: Vec<StepView>,
}

#[derive(Debug, Serialize)]
struct StepView {
    kind: String,
    keep: u32,
}

impl From<&v1::ContextTrimmed> for TrimmedView {
    fn from(trimmed: &v1::ContextTrimmed) -> Self {
        let v1::ContextTrimmed { first_kept_seq, dropped_tokens, steps } = trimmed;
        let step = |step: &v1::TrimStep| {
            let v1::TrimStep { kind, keep } = *step;
            StepView { kind: super::trim_kind(kind), keep }
        };
        Self {
            first_kept_seq: *first_kept_seq,
            dropped_tokens: *dropped_tokens,
            steps: steps.iter().map(step).collect(),
        }
    }
}

/// What was folded, and the summary.
#[derive(Debug, Serialize)]
pub(crate) struct CompactedView<'a> {
    first_kept_seq: u64,
    recall_from_seq: u64,
    folded_turns: u32,
    tokens_before: u64,
    tokens_after: u64,
    reason: String,
    method: String,
    model: &'a str,
    prompt: &'a str,
    pins: &'a [String],
    lines: Vec<LineView<'a>>,
    untold_turns: u32,
}

impl<'a> From<&'a v1::ContextCompacted> for CompactedView<'a> {
    fn from(compacted: &'a v1::ContextCompacted) -> Self {
        let v1::ContextCompacted {
            first_kept_seq,
            recall_from_seq,
            folded_turns,
            tokens_before,
            tokens_after,
            reason,
            method,
            model,
            prompt,
            pins,
            lines,
            untold_turns,
        } = compacted;
        Self {
            first_kept_seq: *first_kept_seq,
            recall_from_seq: *recall_from_seq,
            folded_turns: *folded_turns,
            tokens_before: *tokens_before,
            tokens_after: *tokens_after,
            reason: super::compaction_reason(*reason),
            method: super::summary_method(*method),
            model,
            prompt,
            pins,
            lines: lines.iter().map(LineView::from).collect(),
            untold_turns: *untold_turns,
        }
    }
}

/// A line of a summary.
#[derive(Debug, Serialize)]
pub(crate) struct LineView<'a> {
    section: String,
    text: &'a str,
    from: Vec<RangeView>,
}

impl<'a> From<&'a v1::SummaryLine> for LineView<'a> {
    fn from(line: &'a v1::SummaryLine) -> Self {
        let v1::SummaryLine { section, text, from } = line;
        Self {
            section: super::summary_section(*section),
            text,
            from: from.iter().map(RangeView::from).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct RangeView {
    first_seq: u64,
    last_seq: u64,
}

impl From<&v1::SeqRange> for RangeView {
    fn from(range: &v1::SeqRange) -> Self {
        let v1::SeqRange { first_seq, last_seq } = *range;
        Self { first_seq, last_seq }
    }
}

/// Turns that were recalled.
#[derive(Debug, Serialize)]
pub(super) struct RecalledView<'a> {
    turns: Vec<RangeView>,
    text: &'a str,
}

impl<'a> From<&'a v1::TurnsRecalled> for RecalledView<'a> {
    fn from(recalled: &'a v1::TurnsRecalled) -> Self {
        let v1::TurnsRecalled { turns, text } = recalled;
        Self { turns: turns.iter().map(RangeView::from).collect(), text }
    }
}

/// What is pinned.
#[derive(Debug, Serialize)]
pub(super) struct PinsView<'a> {
    pins: &'a [String],
    by: Option<AuthorView<'a>>,
}

impl<'a> From<&'a v1::PinsChanged> for PinsView<'a> {
    fn from(changed: &'a v1::PinsChanged) -> Self {
        let v1::PinsChanged { pins, by } = changed;
        Self { pins, by: view(by.as_ref()) }
    }
}

/// The document of the workspace that requests hold.
#[derive(Debug, Serialize)]
pub(super) struct DocumentView<'a> {
    path: &'a str,
    sha256: &'a str,
    bytes: u64,
    is_cut: bool,
}

impl<'a> From<&'a v1::ProjectDocumentChanged> for DocumentView<'a> {
    fn from(changed: &'a v1::ProjectDocumentChanged) -> Self {
        let v1::ProjectDocumentChanged { path, sha256, bytes, is_cut } = changed;
        Self { path, sha256, bytes: *bytes, is_cut: *is_cut }
    }
}

/// What the next request would hold.
#[derive(Debug, Serialize)]
pub(crate) struct ContextView<'a> {
    model: &'a str,
    window_tokens: u64,
    answer_tokens: u64,
    layers: Vec<LayerView>,
    trim_above_tokens: u64,
    compact_above_tokens: u64,
    compact_above_turns: u32,
    turns: u32,
    counted_by: &'a str,
    calibration: f64,
    project_document: &'a str,
    pins: &'a [String],
    summary: Option<CompactedView<'a>>,
    summary_seq: u64,
    stopped: &'a str,
}

#[derive(Debug, Serialize)]
struct LayerView {
    kind: String,
    tokens: u64,
    messages: u64,
}

impl<'a> From<&'a v1::GetContextResponse> for ContextView<'a> {
    fn from(context: &'a v1::GetContextResponse) -> Self {
        let v1::GetContextResponse {
            model,
            window_tokens,
            answer_tokens,
            layers,
            trim_above_tokens,
            compact_above_tokens,
            compact_above_turns,
            turns,
            counted_by,
            calibration,
            project_document,
            pins,
            summary,
            summary_seq,
            stopped,
        } = context;
        let layer = |layer: &v1::ContextLayer| {
            let v1::ContextLayer { kind, tokens, messages } = *layer;
            LayerView { kind: super::context_layer_kind(kind), tokens, messages }
        };
        Self {
            model,
            window_tokens: *window_tokens,
            answer_tokens: *answer_tokens,
            layers: layers.iter().map(layer).collect(),
            trim_above_tokens: *trim_above_tokens,
            compact_above_tokens: *compact_above_tokens,
            compact_above_turns: *compact_above_turns,
            turns: *turns,
            counted_by,
            calibration: *calibration,
            project_document,
            pins,
            summary: view(summary.as_ref()),
            summary_seq: *summary_seq,
            stopped,
        }
    }
}

/// What came of folding on demand.
#[derive(Debug, Serialize)]
pub(crate) struct CompactView<'a> {
    compacted: Option<CompactedView<'a>>,
    why_not: &'a str,
}

impl<'a> From<&'a v1::CompactContextResponse> for CompactView<'a> {
    fn from(done: &'a v1::CompactContextResponse) -> Self {
        let v1::CompactContextResponse { compacted, why_not } = done;
        Self { compacted: view(compacted.as_ref()), why_not }
    }
}

/// What a line of a summary was made from.
#[derive(Debug, Serialize)]
pub(crate) struct ExpandedView<'a> {
    line: Option<LineView<'a>>,
    messages: Vec<ExpandedMessageView<'a>>,
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct ExpandedMessageView<'a> {
    seq: u64,
    at_ms: i64,
    who: &'a str,
    text: &'a str,
}

impl<'a> From<&'a v1::ExpandSummaryResponse> for ExpandedView<'a> {
    fn from(expanded: &'a v1::ExpandSummaryResponse) -> Self {
        let v1::ExpandSummaryResponse { line, messages, truncated } = expanded;
        let message = |message: &'a v1::ExpandedMessage| {
            let v1::ExpandedMessage { seq, at_ms, who, text } = message;
            ExpandedMessageView { seq: *seq, at_ms: *at_ms, who, text }
        };
        Self {
            line: view(line.as_ref()),
            messages: messages.iter().map(message).collect(),
            truncated: *truncated,
        }
    }
}

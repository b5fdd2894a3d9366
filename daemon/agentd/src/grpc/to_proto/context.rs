//! What requests are made of, and events about it.

use agentd_domain::{
    CompactionReason, ContextCompacted, ContextTrimmed, PinsChanged, ProjectDocumentChanged,
    SeqRange, SummaryLine, SummaryMethod, SummarySection, TrimKind, TrimStep, TurnsRecalled,
};
use agentd_engine::{Layer, LayerShare};
use agentd_proto::v1;

use super::item;

pub(super) fn trimmed(trimmed: &ContextTrimmed) -> v1::ContextTrimmed {
    let ContextTrimmed { first_kept_seq, dropped_tokens, steps } = trimmed;
    v1::ContextTrimmed {
        first_kept_seq: first_kept_seq.0,
        dropped_tokens: *dropped_tokens,
        steps: steps.iter().copied().map(trim_step).collect(),
    }
}

fn trim_step(step: TrimStep) -> v1::TrimStep {
    let TrimStep { kind, keep } = step;
    let kind = match kind {
        TrimKind::Recalled => v1::TrimKind::Recalled,
        TrimKind::Outputs => v1::TrimKind::Outputs,
        TrimKind::Reasoning => v1::TrimKind::Reasoning,
        TrimKind::LongTexts => v1::TrimKind::LongTexts,
        TrimKind::EarlierRounds => v1::TrimKind::EarlierRounds,
        TrimKind::LongOutputs => v1::TrimKind::LongOutputs,
    };
    v1::TrimStep { kind: kind.into(), keep }
}

pub(crate) fn compacted(compacted: &ContextCompacted) -> v1::ContextCompacted {
    let ContextCompacted {
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
    v1::ContextCompacted {
        first_kept_seq: first_kept_seq.0,
        recall_from_seq: recall_from_seq.0,
        folded_turns: *folded_turns,
        tokens_before: *tokens_before,
        tokens_after: *tokens_after,
        reason: self::reason(*reason).into(),
        method: self::method(*method).into(),
        model: model.clone(),
        prompt: prompt.clone(),
        pins: pins.clone(),
        lines: lines.iter().map(summary_line).collect(),
        untold_turns: *untold_turns,
    }
}

fn reason(reason: CompactionReason) -> v1::CompactionReason {
    match reason {
        CompactionReason::Window => v1::CompactionReason::Window,
        CompactionReason::Turns => v1::CompactionReason::Turns,
        CompactionReason::Asked => v1::CompactionReason::Asked,
        CompactionReason::Rested => v1::CompactionReason::Rested,
        CompactionReason::Rewritten => v1::CompactionReason::Rewritten,
    }
}

fn method(method: SummaryMethod) -> v1::SummaryMethod {
    match method {
        SummaryMethod::Model => v1::SummaryMethod::Model,
        SummaryMethod::Extract => v1::SummaryMethod::Extract,
    }
}

pub(crate) fn summary_line(line: &SummaryLine) -> v1::SummaryLine {
    let SummaryLine { section, text, from } = line;
    v1::SummaryLine {
        section: self::section(*section).into(),
        text: text.clone(),
        from: from.iter().map(range).collect(),
    }
}

fn section(section: SummarySection) -> v1::SummarySection {
    match section {
        SummarySection::Constraints => v1::SummarySection::Constraints,
        SummarySection::Decisions => v1::SummarySection::Decisions,
        SummarySection::OpenTasks => v1::SummarySection::OpenTasks,
        SummarySection::Done => v1::SummarySection::Done,
        SummarySection::Errors => v1::SummarySection::Errors,
        SummarySection::Preferences => v1::SummarySection::Preferences,
        SummarySection::Background => v1::SummarySection::Background,
        SummarySection::References => v1::SummarySection::References,
        SummarySection::Turns => v1::SummarySection::Turns,
    }
}

fn range(range: &SeqRange) -> v1::SeqRange {
    let SeqRange { first, last } = *range;
    v1::SeqRange { first_seq: first.0, last_seq: last.0 }
}

pub(super) fn recalled(recalled: &TurnsRecalled) -> v1::TurnsRecalled {
    let TurnsRecalled { turns, text } = recalled;
    v1::TurnsRecalled { turns: turns.iter().map(range).collect(), text: text.clone() }
}

pub(super) fn pins(changed: &PinsChanged) -> v1::PinsChanged {
    let PinsChanged { pins, by } = changed;
    v1::PinsChanged { pins: pins.clone(), by: by.as_ref().map(item::author) }
}

pub(super) fn document(changed: &ProjectDocumentChanged) -> v1::ProjectDocumentChanged {
    let ProjectDocumentChanged { path, sha256, bytes, is_cut } = changed;
    v1::ProjectDocumentChanged {
        path: path.clone(),
        sha256: sha256.clone(),
        bytes: *bytes,
        is_cut: *is_cut,
    }
}

pub(crate) fn layer(share: LayerShare) -> v1::ContextLayer {
    let LayerShare { layer, tokens, messages } = share;
    let kind = match layer {
        Layer::System => v1::ContextLayerKind::System,
        Layer::Tools => v1::ContextLayerKind::Tools,
        Layer::Project => v1::ContextLayerKind::Project,
        Layer::Summary => v1::ContextLayerKind::Summary,
        Layer::Recalled => v1::ContextLayerKind::Recalled,
        Layer::Memories => v1::ContextLayerKind::Memories,
        Layer::Resumed => v1::ContextLayerKind::Resumed,
        Layer::User => v1::ContextLayerKind::User,
        Layer::Assistant => v1::ContextLayerKind::Assistant,
        Layer::ToolOutputs => v1::ContextLayerKind::ToolOutputs,
    };
    v1::ContextLayer { kind: kind.into(), tokens, messages }
}

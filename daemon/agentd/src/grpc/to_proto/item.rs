//! The parts that events are made of.

use agentd_domain::{
    Author, Completeness, Cost, Delivery, Effort, ErrorReport, ForkOrigin, InterruptReason,
    NoticeLevel, Priority, QuestionAsked, QuestionKind, SuspendReason, TitleSource, ToolCall,
    TurnEnd, Usage, UsagePurpose,
};
use agentd_proto::v1;

pub(crate) fn author(author: &Author) -> v1::Author {
    let Author { client_id, name } = author;
    v1::Author { client_id: client_id.clone(), name: name.clone() }
}

pub(crate) fn usage(usage: &Usage) -> v1::Usage {
    let Usage {
        prompt_tokens,
        completion_tokens,
        reasoning_tokens,
        cached_prompt_tokens,
        cache_write_tokens,
        estimated,
    } = *usage;
    v1::Usage {
        prompt_tokens,
        completion_tokens,
        reasoning_tokens,
        cached_prompt_tokens,
        cache_write_tokens,
        estimated,
    }
}

pub(crate) fn cost(cost: &Cost) -> v1::Cost {
    let Cost { nano_usd, estimated_nano_usd, unpriced_requests } = *cost;
    v1::Cost { nano_usd, estimated_nano_usd, unpriced_requests }
}

/// None means the model's default.
pub(crate) fn effort(effort: Option<Effort>) -> v1::Effort {
    match effort {
        None => v1::Effort::Unspecified,
        Some(Effort::Off) => v1::Effort::Off,
        Some(Effort::Minimal) => v1::Effort::Minimal,
        Some(Effort::Low) => v1::Effort::Low,
        Some(Effort::Medium) => v1::Effort::Medium,
        Some(Effort::High) => v1::Effort::High,
        Some(Effort::Max) => v1::Effort::Max,
    }
}

pub(super) fn priority(priority: Priority) -> v1::Priority {
    match priority {
        Priority::Low => v1::Priority::Low,
        Priority::Normal => v1::Priority::Normal,
        Priority::High => v1::Priority::High,
        Priority::Urgent => v1::Priority::Urgent,
        Priority::Critical => v1::Priority::Critical,
    }
}

pub(crate) fn question_asked(asked: &QuestionAsked) -> v1::QuestionAsked {
    let QuestionAsked { question_id, kind, prompt, choices, free_text, default_choice, expires_at } =
        asked;
    let kind = match kind {
        QuestionKind::ContinueRounds => v1::QuestionKind::ContinueRounds,
        QuestionKind::ResumeTurn => v1::QuestionKind::ResumeTurn,
        QuestionKind::AskUser => v1::QuestionKind::AskUser,
    };
    v1::QuestionAsked {
        question_id: question_id.to_string(),
        kind: kind.into(),
        prompt: prompt.clone(),
        choices: choices.clone(),
        free_text: *free_text,
        default_choice: default_choice.clone(),
        expires_at_ms: expires_at.map_or(0, |at| at.0),
    }
}

pub(super) fn error_report(report: &ErrorReport) -> v1::ErrorReport {
    let ErrorReport { code, message, hint, retryable } = report;
    v1::ErrorReport {
        code: code.clone(),
        message: message.clone(),
        hint: hint.clone(),
        retryable: *retryable,
    }
}

pub(super) fn tool_call(call: &ToolCall) -> v1::ToolCall {
    let ToolCall { call_id, name, arguments_json } = call;
    v1::ToolCall {
        call_id: call_id.to_string(),
        name: name.clone(),
        arguments_json: arguments_json.clone(),
    }
}

pub(super) fn fork_origin(origin: &ForkOrigin) -> v1::ForkOrigin {
    let ForkOrigin { session_id, seq } = origin;
    v1::ForkOrigin { session_id: session_id.to_string(), seq: seq.0 }
}

pub(super) fn title_source(source: TitleSource) -> v1::TitleSource {
    match source {
        TitleSource::FirstMessage => v1::TitleSource::FirstMessage,
        TitleSource::Model => v1::TitleSource::Model,
        TitleSource::Manual => v1::TitleSource::Manual,
    }
}

pub(super) fn delivery(delivery: Delivery) -> v1::Delivery {
    match delivery {
        Delivery::Queue => v1::Delivery::Queue,
        Delivery::Steer => v1::Delivery::Steer,
        Delivery::Interrupt => v1::Delivery::Interrupt,
    }
}

pub(super) fn suspend_reason(reason: SuspendReason) -> v1::SuspendReason {
    match reason {
        SuspendReason::DaemonStopped => v1::SuspendReason::DaemonStopped,
        SuspendReason::RoundsLimit => v1::SuspendReason::RoundsLimit,
    }
}

pub(super) fn turn_end(end: TurnEnd) -> v1::TurnEnd {
    match end {
        TurnEnd::Answered => v1::TurnEnd::Answered,
        TurnEnd::OutputLimit => v1::TurnEnd::OutputLimit,
        TurnEnd::RoundsLimit => v1::TurnEnd::RoundsLimit,
        TurnEnd::Refused => v1::TurnEnd::Refused,
    }
}

pub(super) fn interrupt_reason(reason: InterruptReason) -> v1::InterruptReason {
    match reason {
        InterruptReason::User => v1::InterruptReason::User,
        InterruptReason::NewMessage => v1::InterruptReason::NewMessage,
        InterruptReason::NotResumed => v1::InterruptReason::NotResumed,
    }
}

pub(super) fn completeness(completeness: Completeness) -> v1::MessageCompleteness {
    match completeness {
        Completeness::Complete => v1::MessageCompleteness::Complete,
        Completeness::Cut => v1::MessageCompleteness::Cut,
        Completeness::Incomplete => v1::MessageCompleteness::Incomplete,
    }
}

pub(super) fn usage_purpose(purpose: UsagePurpose) -> v1::UsagePurpose {
    match purpose {
        UsagePurpose::Turn => v1::UsagePurpose::Turn,
        UsagePurpose::Title => v1::UsagePurpose::Title,
        UsagePurpose::Memory => v1::UsagePurpose::Memory,
        UsagePurpose::Compaction => v1::UsagePurpose::Compaction,
    }
}

pub(super) fn notice_level(level: NoticeLevel) -> v1::NoticeLevel {
    match level {
        NoticeLevel::Info => v1::NoticeLevel::Info,
        NoticeLevel::Warn => v1::NoticeLevel::Warn,
    }
}

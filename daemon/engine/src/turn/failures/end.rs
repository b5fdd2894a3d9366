//! Why a model may call no more tools in a turn, as the model, people and a failed turn are told.

use agentd_domain::{ErrorReport, Notice, NoticeLevel, cut_line};

/// Characters of a tool's name that are told: a model may ask for any.
const SHOWN: usize = 64;

/// What has used up a turn's calls of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// Both budgets of failures.
    Failures,
    /// People denied so many calls.
    Denials(u32),
    /// One call with the same arguments and the same result, so many times.
    Loop { tool: String, times: u32 },
}

impl End {
    /// What the model reads after the result of the answer's last call.
    pub(crate) fn note(&self) -> String {
        let why = match self {
            Self::Failures => "too much has come to nothing in this turn".to_owned(),
            Self::Denials(count) => format!("users have denied {count} calls in this turn"),
            Self::Loop { tool, times } => {
                let tool = cut_line(tool, SHOWN);
                format!("'{tool}' was called {times} times with the same arguments and result")
            }
        };
        format!(
            "\n[{why}: no tools can be called any more. Answer now: what is done, what is not, and what \
             stood in the way]"
        )
    }

    /// What people are told.
    pub(crate) fn notice(&self) -> Notice {
        let why = match self {
            Self::Failures => "Too many calls of tools came to nothing in this turn".to_owned(),
            Self::Denials(count) => format!("{count} calls were denied in this turn"),
            Self::Loop { tool, times } => format!(
                "The model called '{}' {times} times with the same arguments and result",
                cut_line(tool, SHOWN)
            ),
        };
        let text = format!(
            "{why}: the model answers with what it has. Send a message to let it try again."
        );
        Notice { level: NoticeLevel::Warn, text }
    }

    /// Why the turn fails when the model calls more tools instead of answering.
    pub(crate) fn error(&self) -> ErrorReport {
        let (code, what, hint) = match self {
            Self::Failures => (
                "TOOL_FAILURES",
                "too many calls of tools came to nothing".to_owned(),
                "say what to do differently, use another model, or raise session.replans_limit",
            ),
            Self::Denials(count) => (
                "TOOL_DENIALS",
                format!("{count} calls of tools were denied"),
                "say what to do instead, or allow what it needs with a rule or another mode",
            ),
            Self::Loop { tool, times } => (
                "TOOL_LOOP",
                format!(
                    "the model called '{}' {times} times with the same arguments and result",
                    cut_line(tool, SHOWN)
                ),
                "say what to do differently, or use another model",
            ),
        };
        ErrorReport {
            code: code.to_owned(),
            message: format!("{what}, and the model calls more instead of answering"),
            hint: hint.to_owned(),
            retryable: false,
        }
    }
}

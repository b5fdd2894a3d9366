//! Closing a tool call whose fragments have all arrived.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::surrogates::replace_lone_escapes;
use crate::{AssembledCall, Finish};

/// A call with this name and argument text, in an answer that ended so.
pub(crate) fn close_call(name: &str, arguments: &str, finish: Finish) -> AssembledCall {
    let is_empty = arguments.trim().is_empty();
    let arguments = if is_empty { Cow::Borrowed("{}") } else { replace_lone_escapes(arguments) };
    AssembledCall {
        // A call that the limit cut may look whole by chance.
        is_whole: finish != Finish::OutputLimit && !is_unfinished(&arguments),
        // No tool has spaces around its name.
        name: name.trim().to_owned(),
        arguments_json: arguments.into_owned(),
    }
}

/// The text is the start of a JSON value that has no end. Any other fault is the model's mistake, which
/// it can mend when it is told.
fn is_unfinished(json: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(json).is_err_and(|error| error.is_eof())
}

//! Tool calls and their results: ids, names, arguments, and who answers whom.

use std::collections::{HashMap, HashSet, VecDeque};

use agentd_domain::{CallId, ToolCall};
use serde_json::Value;

use super::text::{NO_OUTPUT, clean, is_blank, is_refused};
use crate::Message;
use crate::stream::surrogates::replace_lone_escapes;

/// What the model sees where a result is missing.
const NO_RESULT: &str = "[no result: whether this call had effects is unknown]";
/// Most characters of a function name.
const MAX_NAME: usize = 64;
/// Most characters of an id: what Chat Completions takes.
const MAX_ID: usize = 40;
/// What stands for arguments that are no object.
const NO_ARGUMENTS: &str = "{}";

/// The results that directly follow a message of the model.
pub(super) struct Results(VecDeque<(CallId, String)>);

impl FromIterator<Message> for Results {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        let results = messages.into_iter().filter_map(|message| match message {
            Message::Tool { call_id, name: _, output } => Some((call_id, output)),
            _ => None,
        });
        Self(results.collect())
    }
}

impl Results {
    /// The first result of the call that is not taken yet.
    pub(super) fn take(&mut self, call_id: &CallId) -> Option<String> {
        let at = self.0.iter().position(|(id, _)| id == call_id)?;
        self.0.remove(at).map(|(_, output)| output)
    }
}

/// The one result of a call.
pub(super) fn answer(call: &ToolCall, output: Option<String>) -> Message {
    let output = match output {
        None => NO_RESULT.to_owned(),
        Some(output) if is_blank(&output) => NO_OUTPUT.to_owned(),
        Some(output) => clean(output).0,
    };
    Message::Tool { call_id: call.call_id.clone(), name: call.name.clone(), output }
}

/// The ids that the request holds so far, ours and those in native blocks.
#[derive(Default)]
pub(super) struct CallIds {
    taken: HashSet<String>,
    /// By id, the number that it gets when it comes again.
    next: HashMap<String, usize>,
}

impl CallIds {
    /// Makes a call one that every server takes. Also tells whether it was another before.
    pub(super) fn repair(&mut self, call: ToolCall) -> (ToolCall, bool) {
        let call_id = self.unique(&call.call_id);
        let name = legal_name(&call.name);
        let arguments_json = object(&call.arguments_json);
        let is_changed = call_id.is_some() || name.is_some() || arguments_json.is_some();
        let repaired = ToolCall {
            call_id: call_id.unwrap_or(call.call_id),
            name: name.unwrap_or(call.name),
            arguments_json: arguments_json.unwrap_or(call.arguments_json),
        };
        (repaired, is_changed)
    }

    /// Takes ids of native blocks, each with the id that we know the same call by, if none of them
    /// stands for something else.
    pub(super) fn claim(&mut self, claims: &[(&str, Option<&str>)]) -> bool {
        let mut claimed = HashSet::with_capacity(claims.len());
        let is_free = |(id, own): &(&str, Option<&str>)| {
            let is_other = self.taken.contains(*id) && *own != Some(*id);
            !id.is_empty() && !is_other && claimed.insert((*id).to_owned())
        };
        if !claims.iter().all(is_free) {
            return false;
        }
        self.taken.extend(claimed);
        true
    }

    /// Takes the id. Where that cannot be, the id to use in its place, which depends on earlier ids only.
    fn unique(&mut self, id: &CallId) -> Option<CallId> {
        if is_legal_id(id.as_str()) && self.taken.insert(id.as_str().to_owned()) {
            return None;
        }
        let legal = |char: char| if is_legal(char) { char } else { '_' };
        let base: String = id.as_str().chars().map(legal).take(MAX_ID).collect();
        let mut fresh = base.clone();
        let next = self.next.entry(base.clone()).or_insert(2);
        while !self.taken.insert(fresh.clone()) {
            let suffix = format!("-{next}");
            let kept = base.len().min(MAX_ID.saturating_sub(suffix.len()));
            fresh = base.get(..kept).unwrap_or_default().to_owned() + &suffix;
            *next += 1;
        }
        fresh.parse().ok()
    }
}

/// True for characters that ids and names may hold in every API.
fn is_legal(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}

pub(super) fn is_legal_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID && id.chars().all(is_legal)
}

pub(super) fn is_legal_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_legal)
}

/// A name that every server takes, where this is none. What the model made up has been answered as
/// unknown already.
fn legal_name(name: &str) -> Option<String> {
    if is_legal_name(name) {
        return None;
    }
    if name.is_empty() {
        return Some("unnamed".to_owned());
    }
    let legal = |char: char| if is_legal(char) { char } else { '_' };
    Some(name.chars().take(MAX_NAME).map(legal).collect())
}

/// Arguments as one JSON object, where these are none: servers parse them again to fill the model's
/// template, and a cut call in the history must not make every later request fail. Neither must one that
/// is nested deeper than their parsers go: a [`Value`] takes 128 levels, as ours do.
fn object(text: &str) -> Option<String> {
    let whole = replace_lone_escapes(text);
    let (mut value, as_written) = match serde_json::from_str::<Value>(&whole) {
        Ok(Value::String(inner)) => {
            // Encoded twice.
            let value = serde_json::from_str(&inner).unwrap_or_default();
            (value, Some(inner))
        }
        Ok(value) => (value, (whole != text).then(|| whole.into_owned())),
        Err(_broken) => return Some(NO_ARGUMENTS.to_owned()),
    };
    if !value.is_object() {
        return Some(NO_ARGUMENTS.to_owned());
    }
    if clean_value(&mut value) { Some(value.to_string()) } else { as_written }
}

/// True for arguments that need no repair.
pub(super) fn is_object(text: &str) -> bool {
    object(text).is_none()
}

/// Replaces refused characters in all strings of a value. Tells whether there were any.
fn clean_value(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.contains(is_refused) => {
            *text = clean(std::mem::take(text)).0;
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| clean_value(item) | any),
        Value::Object(fields) => {
            let mut any = false;
            if fields.keys().any(|key| key.contains(is_refused)) {
                any = true;
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(|(key, value)| (clean(key).0, value))
                    .collect();
            }
            fields.values_mut().fold(any, |any, field| clean_value(field) | any)
        }
        _ => false,
    }
}

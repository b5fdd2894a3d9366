//! Which spans and fields of the log make up traces, and what OpenTelemetry calls them.
//!
//! Both are lists of what is let through. A field that is new to the log stays on this machine until
//! it gets a line here: whatever it holds, no text of a conversation leaves by accident.
//!
//! The names are those of the conventions for generative AI:
//! <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/> and `gen-ai-agent-spans/`.

use agentd_domain::cut_line;
use opentelemetry::trace::Status;
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::SpanData;
use tracing::{Level, Metadata};

/// The spans of a trace. The others, such as that of each task, last as long as the daemon.
const SPANS: &[&str] = &["turn", "title", "chat", "execute_tool"];
/// Characters of an attribute's text.
const TEXT_CHARS: usize = 256;

/// What an attribute is in the end. The log has texts for most.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Number,
    /// A list with this one text.
    List,
    /// The name of a provider.
    Provider,
}

/// A field of the log, the attribute that it becomes, and its form.
const ATTRIBUTES: &[(&str, &str, Form)] = &[
    ("session_id", "gen_ai.conversation.id", Form::Text),
    ("turn_id", "agentd.turn.id", Form::Text),
    ("attempts", "agentd.attempts", Form::Number),
    ("error.type", "error.type", Form::Text),
    ("gen_ai.operation.name", "gen_ai.operation.name", Form::Text),
    ("gen_ai.provider.name", "gen_ai.provider.name", Form::Provider),
    ("gen_ai.request.model", "gen_ai.request.model", Form::Text),
    ("gen_ai.request.max_tokens", "gen_ai.request.max_tokens", Form::Number),
    ("gen_ai.response.model", "gen_ai.response.model", Form::Text),
    ("gen_ai.response.finish_reasons", "gen_ai.response.finish_reasons", Form::List),
    ("gen_ai.usage.input_tokens", "gen_ai.usage.input_tokens", Form::Number),
    ("gen_ai.usage.output_tokens", "gen_ai.usage.output_tokens", Form::Number),
    ("gen_ai.tool.name", "gen_ai.tool.name", Form::Text),
    ("gen_ai.tool.call.id", "gen_ai.tool.call.id", Form::Text),
];

/// True for the spans that make up traces. Events are none: what they say is for the log.
pub(super) fn is_traced(metadata: &Metadata<'_>) -> bool {
    metadata.is_span()
        && *metadata.level() <= Level::INFO
        && metadata.target().starts_with("agentd")
        && SPANS.contains(&metadata.name())
}

/// Makes a span of the log one of the conventions.
pub(super) fn conform(mut span: SpanData) -> SpanData {
    let fields = std::mem::take(&mut span.attributes);
    span.attributes = fields.iter().filter_map(attribute).collect();
    if span.name == "turn" {
        span.attributes.push(KeyValue::new("gen_ai.operation.name", "invoke_agent"));
        span.attributes.push(KeyValue::new("gen_ai.agent.name", "agentd"));
    }
    let text = |key: &str| text_of(&span.attributes, key);
    if text("error.type").is_some() {
        // What went wrong may repeat what somebody wrote: its code is enough.
        span.status = Status::error("");
    }
    let about = ["gen_ai.request.model", "gen_ai.tool.name", "gen_ai.agent.name"];
    let about = about.into_iter().find_map(text);
    if let (Some(operation), Some(about)) = (text("gen_ai.operation.name"), about) {
        span.name = format!("{operation} {about}").into();
    }
    span
}

fn text_of(attributes: &[KeyValue], key: &str) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.key.as_str() == key)?;
    Some(attribute.value.as_str().into_owned()).filter(|text| !text.is_empty())
}

fn attribute(field: &KeyValue) -> Option<KeyValue> {
    let (_, name, form) = ATTRIBUTES.iter().find(|(known, ..)| *known == field.key.as_str())?;
    let text = field.value.as_str();
    let value = match form {
        Form::Number => Value::I64(text.parse().ok()?),
        // Not recorded, or not known.
        _ if text.is_empty() => return None,
        Form::List => {
            let only = StringValue::from(cut_line(&text, TEXT_CHARS));
            Value::Array(Array::String(vec![only]))
        }
        // The conventions name the API, whoever serves it.
        Form::Provider if text.starts_with("openai-") => "openai".into(),
        Form::Text | Form::Provider => cut_line(&text, TEXT_CHARS).into(),
    };
    Some(KeyValue::new(*name, value))
}

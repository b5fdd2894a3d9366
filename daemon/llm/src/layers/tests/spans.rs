//! What a collector of traces sees of a request.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::{Layer, Registry};

use super::world::{Step, world};
use crate::LlmError;
use crate::layers::EndpointLimits;

/// The fields of all spans by name, as they were recorded last.
#[derive(Debug, Clone, Default)]
struct Fields(Arc<Mutex<BTreeMap<String, String>>>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.lock().unwrap().insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl Layer<Registry> for Fields {
    fn on_new_span(&self, attributes: &Attributes<'_>, _id: &Id, _ctx: Context<'_, Registry>) {
        attributes.record(&mut self.clone());
    }

    fn on_record(&self, _id: &Id, values: &Record<'_>, _ctx: Context<'_, Registry>) {
        values.record(&mut self.clone());
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_is_one_span_with_the_usual_attributes() {
    let fields = Fields::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(fields.clone()));
    let world = world(&EndpointLimits::default(), 2);
    world.model.script(vec![Step::Text("abcdefgh"), Step::Fail(LlmError::Cut)]);
    world.model.script(vec![Step::Text("abcd"), Step::Fail(LlmError::Cut)]);
    assert!(world.ask().await.error.is_some());
    let fields = fields.0.lock().unwrap();
    let check = |name: &str, expect: &str| {
        assert_eq!(fields.get(name).map(String::as_str), Some(expect), "{name}: {fields:?}");
    };
    check("gen_ai.operation.name", "chat");
    check("gen_ai.provider.name", "scripted");
    check("gen_ai.request.model", "main");
    check("gen_ai.response.model", "main");
    // Of both attempts: each costs by itself.
    check("gen_ai.usage.input_tokens", "10");
    check("gen_ai.usage.output_tokens", "3");
    check("attempts", "2");
    check("error.type", "PROVIDER_STREAM_CUT");
    assert!(!fields.contains_key("gen_ai.response.finish_reasons"), "{fields:?}");
}

#[tokio::test(start_paused = true)]
async fn a_whole_answer_s_span_says_why_it_ended() {
    let fields = Fields::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(fields.clone()));
    let world = world(&EndpointLimits::default(), 1);
    assert!(world.ask().await.error.is_none());
    let fields = fields.0.lock().unwrap();
    let reason = fields.get("gen_ai.response.finish_reasons").map(String::as_str);
    assert_eq!(reason, Some("stop"), "{fields:?}");
}

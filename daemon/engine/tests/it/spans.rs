//! What a collector of traces sees of a turn.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use agentd_domain::ToolEffect;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::{Layer, Registry};

use crate::tools::{Behaviour, Probe};
use crate::world::{Step, Terminal, World};

/// Each span of a tool by its id: its fields, and the spans that it lies in. Several run at once.
#[derive(Debug, Clone, Default)]
struct ToolSpans(Arc<Mutex<Vec<(Id, String)>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() != "gen_ai.tool.call.id" {
            self.0.extend([" ", field.name(), "=", &format!("{value:?}")]);
        }
    }
}

impl Layer<Registry> for ToolSpans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, Registry>) {
        if attributes.metadata().name() != "execute_tool" {
            return;
        }
        let span = ctx.span(id).expect("it is new");
        let mut text = Text(span.scope().map(|span| span.name()).collect::<Vec<_>>().join("<"));
        attributes.record(&mut text);
        self.0.lock().unwrap().push((id.clone(), text.0));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, Registry>) {
        if ctx.span(id).is_some_and(|span| span.name() == "execute_tool") {
            let mut text = Text(String::new());
            values.record(&mut text);
            let mut spans = self.0.lock().unwrap();
            let span = spans.iter_mut().rfind(|(known, _)| known == id).unwrap();
            span.1 += &text.0;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_call_of_a_tool_is_a_span_inside_its_turn_without_what_it_was_given() {
    let spans = ToolSpans::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(spans.clone()));
    let mut world = World::new();
    for (name, behaviour) in [("good", Behaviour::Say("secret")), ("bad", Behaviour::Panic)] {
        world.tools.register(Arc::new(Probe::new(name, ToolEffect::Pure, behaviour))).unwrap();
    }
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("good", "{}"), ("unknown", "{}"), ("bad", "{}")])]);
    world.send(&engine, id, "go").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    let mut spans: Vec<String> =
        spans.0.lock().unwrap().iter().map(|(_, span)| span.clone()).collect();
    spans.sort();
    // A turn is a root: the task around it lasts as long as its session is live.
    let common = "execute_tool<turn gen_ai.operation.name=\"execute_tool\" gen_ai.tool.name=";
    let expect =
        [format!("{common}\"bad\" error.type=\"TOOL_PANICKED\""), format!("{common}\"good\"")];
    assert_eq!(spans, expect);
}

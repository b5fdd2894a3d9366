//! The log of the process, watched for errors that no test announced.
//!
//! The watch belongs to the process: nextest gives each test one of its own.

use std::fmt::{self, Write as _};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

static STATE: Mutex<State> = Mutex::new(State { errors: Vec::new(), announced: Vec::new() });
static START: Once = Once::new();

struct State {
    errors: Vec<String>,
    announced: Vec<String>,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the watch, once for the process. Lines from INFO on go to the test's output.
pub(crate) fn start() {
    START.call_once(|| {
        let shown = tracing_subscriber::EnvFilter::new("info");
        let lines = tracing_subscriber::fmt::layer().with_test_writer().with_ansi(false);
        // A test that brought its own subscriber sees its own log.
        let _own = tracing_subscriber::registry()
            .with(Watch)
            .with(lines.with_filter(shown))
            .try_init()
            .is_err();
    });
}

/// Lets errors that contain `text` pass.
pub(crate) fn announce(text: &str) {
    state().announced.push(text.to_owned());
}

/// The errors so far that nobody announced.
pub(crate) fn unannounced() -> Vec<String> {
    let state = state();
    let announced = |error: &&String| state.announced.iter().any(|text| error.contains(text));
    state.errors.iter().filter(|error| !announced(error)).cloned().collect()
}

struct Watch;

impl<S: Subscriber> Layer<S> for Watch {
    fn on_event(&self, event: &Event<'_>, _ctx: Context<'_, S>) {
        if *event.metadata().level() == Level::ERROR {
            let mut line = Line(event.metadata().target().to_owned());
            event.record(&mut line);
            state().errors.push(line.0);
        }
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String cannot fail.
        let _infallible = write!(self.0, " {}={value:?}", field.name());
    }
}

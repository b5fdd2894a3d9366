//! The line editor, on a thread of its own, and the printer that writes above its prompt.
//!
//! Both block: the editor on a key, the printer while the editor is busy (a history search, a list of
//! completions). So neither is touched by the conversation; channels stand between. The editor begins
//! a line only when it is told to, and the conversation prints only between `Ready` and the end of
//! the line, one piece at a time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use agentd_shared::client_config::{ClientConfig, EditMode};
use rustyline::config::{Builder, ColorMode, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::hint::HistoryHinter;
use rustyline::history::FileHistory;
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler,
    ExternalPrinter, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

use super::editor_helper::{EditorHelper, Typed, recall, remember};
use super::gate::Gate;
use super::input::Input;
use super::sources::Sources;

/// What stands before the input.
pub(super) const PROMPT: &str = "❯ ";
/// Rows that change nothing: one up, one down.
const NOTHING: &str = "\u{1b}[1A\n";
/// Milliseconds to wait for the rest of an escape sequence.
const ESCAPE_TIMEOUT_MS: u16 = 50;

type LineEditor = Editor<EditorHelper, FileHistory>;

/// The conversation's end of the editor.
#[derive(Debug)]
pub(super) struct EditorHandle {
    go: SyncSender<String>,
    print: SyncSender<String>,
    /// The editor has listed completions, so that nobody knows which rows stand above the prompt.
    listed: Arc<AtomicBool>,
}

/// How the editor is set up.
#[derive(Debug)]
pub(super) struct EditorSetup<'a> {
    /// Keys and history size.
    pub(super) config: &'a ClientConfig,
    /// Where the history is kept.
    pub(super) history_file: PathBuf,
    /// What can be completed.
    pub(super) sources: Arc<Sources>,
    /// Whether the prompt has colour.
    pub(super) colored: bool,
}

impl EditorHandle {
    /// Starts both threads. `Input` comes through `inputs`.
    ///
    /// # Errors
    /// When the terminal cannot be used for editing.
    pub(super) fn start(
        setup: EditorSetup<'_>,
        inputs: Sender<Input>,
    ) -> Result<Self, ReadlineError> {
        let listed = Arc::new(AtomicBool::new(false));
        let mut editor: LineEditor = Editor::with_config(config(setup.config)?)?;
        let ready = inputs.clone();
        let gate = Arc::new(Gate::default());
        let typed = Typed::default();
        editor.set_helper(Some(EditorHelper {
            sources: setup.sources,
            colored: setup.colored,
            on_ready: Box::new(move || drop(ready.blocking_send(Input::Ready))),
            gate: Arc::clone(&gate),
            typed: Arc::clone(&typed),
            fresh: AtomicBool::new(false),
            listed: Arc::clone(&listed),
            history: HistoryHinter::new(),
        }));
        for newline in
            [KeyEvent::ctrl('J'), KeyEvent(KeyCode::Enter, Modifiers::ALT), KeyEvent::alt('\r')]
        {
            editor.bind_sequence(newline, Cmd::Newline);
        }
        for leave in [KeyEvent::ctrl('C'), KeyEvent::ctrl('D')] {
            let handler =
                EventHandler::Conditional(Box::new(Closing(Arc::clone(&gate), Arc::clone(&typed))));
            editor.bind_sequence(leave, handler);
        }
        let stops = Arc::new(AtomicBool::new(false));
        let stopping = Stopping(Closing(Arc::clone(&gate), Arc::clone(&typed)), Arc::clone(&stops));
        editor.bind_sequence(KeyEvent::ctrl('Z'), EventHandler::Conditional(Box::new(stopping)));
        // There is none on the first start; a broken one is not worth refusing to work.
        drop(editor.load_history(&setup.history_file));
        let printer = editor.create_external_printer()?;
        let (go, wait) = sync_channel::<String>(1);
        let (print, pieces) = sync_channel(1);
        let printed = inputs.clone();
        let history_file = setup.history_file;
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        named("editor").spawn(move || edit(editor, &wait, &inputs, &history_file, &stops))?;
        named("printer").spawn(move || print_all(printer, &pieces, &gate, &printed))?;
        Ok(Self { go, print, listed })
    }

    /// Begins a line, with a text that can be edited.
    pub(super) fn begin_line(&self, text: String) {
        // The thread takes one at a time, and we send one for each line that came.
        let _ = self.go.try_send(text);
    }

    /// Writes rows above the prompt. [`Input::Printed`] follows when they are drawn.
    pub(super) fn print(&self, rows: String) {
        let _ = self.print.try_send(rows);
    }

    /// Tells whether the editor has listed something since it was asked last.
    pub(super) fn take_listed(&self) -> bool {
        self.listed.swap(false, Ordering::Relaxed)
    }
}

/// Closes the gate on keys that may end the line, and leaves the rest to the editor.
struct Closing(Arc<Gate>, Typed);

impl ConditionalEventHandler for Closing {
    fn handle(
        &self,
        event: &Event,
        _: RepeatCount,
        _: bool,
        ctx: &EventContext<'_>,
    ) -> Option<Cmd> {
        let deletes = event.get(0) == Some(&KeyEvent::ctrl('D')) && !ctx.line().is_empty();
        if !deletes {
            self.0.close();
            remember(&self.1, ctx.line());
        }
        None
    }
}

/// Ends the line on Ctrl-Z, so that the terminal is given back before the process stands still.
///
/// The editor's own way signals the process and takes the terminal again at once; where another thread
/// takes the signal, that comes before the stop, and the shell gets a terminal without its line editing.
struct Stopping(Closing, Arc<AtomicBool>);

impl ConditionalEventHandler for Stopping {
    fn handle(
        &self,
        event: &Event,
        count: RepeatCount,
        positive: bool,
        ctx: &EventContext<'_>,
    ) -> Option<Cmd> {
        self.0.handle(event, count, positive, ctx);
        self.1.store(true, Ordering::Relaxed);
        Some(Cmd::Interrupt)
    }
}

fn config(client: &ClientConfig) -> Result<Config, ReadlineError> {
    let builder: Builder = Config::builder()
        .max_history_size(client.history_size)?
        .history_ignore_dups(true)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .keyseq_timeout(Some(ESCAPE_TIMEOUT_MS))
        // The helper decides about colour; the editor must ask it in any case.
        .color_mode(ColorMode::Forced)
        .bracketed_paste(true)
        .edit_mode(match client.edit_mode {
            EditMode::Emacs => rustyline::EditMode::Emacs,
            EditMode::Vi => rustyline::EditMode::Vi,
        });
    Ok(builder.build())
}

fn edit(
    mut editor: LineEditor,
    go: &Receiver<String>,
    inputs: &Sender<Input>,
    history: &PathBuf,
    stops: &AtomicBool,
) {
    while let Ok(text) = go.recv() {
        if let Some(helper) = editor.helper() {
            helper.fresh.store(true, Ordering::Relaxed);
            remember(&helper.typed, &text);
        }
        let input = match editor.readline_with_initial(PROMPT, (&text, "")) {
            Ok(line) => {
                if editor.add_history_entry(&line).unwrap_or(false) {
                    // A full disk must not stop the conversation.
                    drop(editor.append_history(history));
                }
                Input::Line { text: line, at: Instant::now() }
            }
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {
                let typed = editor.helper().map(|helper| recall(&helper.typed));
                let typed = typed.unwrap_or_default();
                if stops.swap(false, Ordering::Relaxed) {
                    Input::Suspend(typed)
                } else {
                    Input::Interrupt(typed)
                }
            }
            Err(ReadlineError::Eof) => Input::End,
            Err(error) => Input::Failed(error.to_string()),
        };
        if inputs.blocking_send(input).is_err() {
            return;
        }
    }
}

fn print_all(
    mut printer: impl ExternalPrinter,
    pieces: &Receiver<String>,
    gate: &Gate,
    inputs: &Sender<Input>,
) {
    while let Ok(piece) = pieces.recv() {
        gate.pass();
        // The editor holds one piece that it has not looked at, so that the second is taken only when
        // the first is drawn, or about to be before the line can end.
        let printed = printer.print(piece).and_then(|()| printer.print(NOTHING.to_owned()));
        let input = match printed {
            Ok(()) => Input::Printed,
            Err(error) => Input::Failed(error.to_string()),
        };
        if inputs.blocking_send(input).is_err() {
            return;
        }
    }
}

//! What keys can ask for, and the table of it.

use crossterm::event::{KeyCode, KeyModifiers};

use super::Key;

/// What a key can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sends what is in the composer.
    Send,
    /// Begins another line in the composer.
    NewLine,
    /// Completes the word before the cursor, or accepts what is proposed.
    Complete,
    /// Reaches the running turn with what is in the composer.
    Steer,
    /// The entry of the history before.
    HistoryBack,
    /// The entry of the history after.
    HistoryForward,
    /// Looks for what was sent before.
    HistorySearch,
    /// Takes the last change of the message back.
    Undo,
    /// Makes it again.
    Redo,
    /// Opens the composer's text in an editor.
    Edit,
    /// A window up.
    PageUp,
    /// A window down.
    PageDown,
    /// The beginning of the transcript.
    Top,
    /// The end of the transcript, and on with new text.
    Latest,
    /// The turn before.
    TurnBack,
    /// The turn after.
    TurnForward,
    /// The entry before, or the part of it that can be chosen.
    BlockBack,
    /// The entry after.
    BlockForward,
    /// The error before.
    ErrorBack,
    /// The error after.
    ErrorForward,
    /// The change before.
    DiffBack,
    /// The change after.
    DiffForward,
    /// Looks for a text in the transcript.
    Search,
    /// Copies what is chosen, or the last answer.
    Copy,
    /// Cancels the running turn, or closes what lies on top.
    Interrupt,
    /// Clears what is shown; nothing is deleted.
    ClearDisplay,
    /// Shows or hides reasoning.
    Reasoning,
    /// Shows or hides what the daemon decides on the way.
    Verbose,
    /// Begins a new session.
    NewSession,
    /// Shows the sessions, or puts them away.
    Sessions,
    /// Shows or hides the plan.
    Plan,
    /// Takes a message of the queue back.
    Withdraw,
    /// Shows what is remembered.
    Memory,
    /// Shows the tools.
    Tools,
    /// Shows what was used.
    Usage,
    /// Shows what the daemon does in its own time.
    Sweeps,
    /// Searches all sessions.
    SearchAll,
    /// Shows keys and commands.
    Help,
    /// Draws everything anew.
    Redraw,
    /// Stops the process as a shell does.
    Suspend,
    /// Leaves; turns go on.
    Quit,
    /// Leaves when the composer is empty and nothing runs.
    QuitIfIdle,
}

/// A line of the table.
#[derive(Debug)]
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// Its name in the configuration.
    pub name: &'static str,
    /// Its keys unless the configuration says otherwise.
    pub keys: &'static [Key],
    /// What help says.
    pub about: &'static str,
}

const fn plain(code: KeyCode) -> Key {
    Key { code, modifiers: KeyModifiers::NONE }
}
const fn ctrl(letter: char) -> Key {
    Key { code: KeyCode::Char(letter), modifiers: KeyModifiers::CONTROL }
}
const fn with(modifiers: KeyModifiers, code: KeyCode) -> Key {
    Key { code, modifiers }
}
const fn binding(
    action: Action,
    name: &'static str,
    keys: &'static [Key],
    about: &'static str,
) -> Binding {
    Binding { action, name, keys, about }
}

const ALT: KeyModifiers = KeyModifiers::ALT;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;

/// All bindings, in the order of the help.
pub const TABLE: &[Binding] = &[
    binding(Action::Send, "send", &[plain(KeyCode::Enter)], "send the message"),
    binding(
        Action::NewLine,
        "new_line",
        &[with(ALT, KeyCode::Enter), with(KeyModifiers::SHIFT, KeyCode::Enter), ctrl('j')],
        "begin another line",
    ),
    binding(Action::Steer, "steer", &[with(ALT, KeyCode::Char('s'))], "tell the running turn"),
    binding(Action::Complete, "complete", &[plain(KeyCode::Tab)], "complete"),
    binding(
        Action::HistoryBack,
        "history_back",
        &[with(CTRL, KeyCode::Up), ctrl('p')],
        "what was sent before (also Up in the first line)",
    ),
    binding(
        Action::HistoryForward,
        "history_forward",
        &[with(CTRL, KeyCode::Down)],
        "what was sent after (also Down in the last line)",
    ),
    binding(Action::HistorySearch, "history_search", &[ctrl('r')], "look for what was sent before"),
    // Terminals send the same byte for Ctrl-_ and Ctrl-7.
    binding(Action::Undo, "undo", &[ctrl('_'), ctrl('7')], "take the last change back"),
    binding(Action::Redo, "redo", &[with(ALT, KeyCode::Char('_'))], "make it again"),
    binding(Action::Edit, "edit", &[ctrl('g')], "open the message in $VISUAL or $EDITOR"),
    binding(Action::PageUp, "page_up", &[plain(KeyCode::PageUp)], "a window up"),
    binding(Action::PageDown, "page_down", &[plain(KeyCode::PageDown)], "a window down"),
    binding(Action::Top, "top", &[with(CTRL, KeyCode::Home)], "to the beginning"),
    binding(
        Action::Latest,
        "latest",
        &[with(CTRL, KeyCode::End)],
        "to the end, and on with new text",
    ),
    binding(Action::TurnBack, "turn_back", &[with(ALT, KeyCode::Up)], "to the turn before"),
    binding(Action::TurnForward, "turn_forward", &[with(ALT, KeyCode::Down)], "to the turn after"),
    binding(
        Action::BlockBack,
        "block_back",
        &[with(ALT, KeyCode::Char('k'))],
        "choose the entry before; then Enter or Space folds it, y copies it, Esc lets it go",
    ),
    binding(
        Action::BlockForward,
        "block_forward",
        &[with(ALT, KeyCode::Char('j'))],
        "choose the entry after (a click chooses, too)",
    ),
    binding(
        Action::ErrorBack,
        "error_back",
        &[with(ALT, KeyCode::Char('e'))],
        "to the error before",
    ),
    binding(
        Action::ErrorForward,
        "error_forward",
        &[with(ALT, KeyCode::Char('r'))],
        "to the error after",
    ),
    binding(
        Action::DiffBack,
        "diff_back",
        &[with(ALT, KeyCode::Char('x'))],
        "to the change before",
    ),
    binding(
        Action::DiffForward,
        "diff_forward",
        &[with(ALT, KeyCode::Char('c'))],
        "to the change after",
    ),
    binding(
        Action::Search,
        "search",
        &[ctrl('f'), with(ALT, KeyCode::Char('/'))],
        "look for a text in the transcript; Enter, then n and N go on",
    ),
    binding(
        Action::Copy,
        "copy",
        &[with(ALT, KeyCode::Char('y'))],
        "copy what is chosen, or the last answer (dragging the mouse copies rows)",
    ),
    binding(
        Action::Interrupt,
        "interrupt",
        &[plain(KeyCode::Esc)],
        "close what lies on top, else cancel the running turn",
    ),
    binding(Action::Reasoning, "reasoning", &[ctrl('t')], "show or hide reasoning"),
    binding(Action::Verbose, "verbose", &[ctrl('v')], "show or hide what is decided on the way"),
    binding(Action::NewSession, "new_session", &[ctrl('n')], "begin a new session"),
    binding(Action::Sessions, "sessions", &[ctrl('o'), plain(KeyCode::F(2))], "sessions"),
    binding(Action::Plan, "plan", &[with(ALT, KeyCode::Char('t'))], "show or hide the plan"),
    binding(
        Action::Withdraw,
        "withdraw",
        &[with(ALT, KeyCode::Char('w'))],
        "take a message of the queue back",
    ),
    binding(Action::Memory, "memory", &[plain(KeyCode::F(3))], "what is remembered"),
    binding(Action::Tools, "tools", &[plain(KeyCode::F(4))], "the tools"),
    binding(Action::Usage, "usage", &[plain(KeyCode::F(6))], "what was used, and what it cost"),
    binding(
        Action::Sweeps,
        "sweeps",
        &[plain(KeyCode::F(7))],
        "what the daemon does in its own time",
    ),
    binding(Action::SearchAll, "search_all", &[plain(KeyCode::F(8))], "search all sessions"),
    binding(
        Action::ClearDisplay,
        "clear_display",
        &[ctrl('l')],
        "clear what is shown; going up brings it back",
    ),
    binding(
        Action::Help,
        "help",
        &[plain(KeyCode::F(1))],
        "keys and commands (also ? in an empty message)",
    ),
    binding(Action::Redraw, "redraw", &[plain(KeyCode::F(5))], "draw everything anew"),
    binding(Action::Suspend, "suspend", &[ctrl('z')], "stop, as a shell does; `fg` goes on"),
    binding(Action::Quit, "quit", &[ctrl('c')], "leave; turns go on"),
    binding(
        Action::QuitIfIdle,
        "quit_if_idle",
        &[ctrl('d')],
        "leave when the message is empty and nothing runs",
    ),
];

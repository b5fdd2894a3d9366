//! Keys and what they do: one table drives dispatch, help and the configuration.

mod key;

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub use key::{Key, KeyError};

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

/// The keys in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bound: Vec<(Key, Action)>,
}

impl Default for Keymap {
    fn default() -> Self {
        let bound = TABLE
            .iter()
            .flat_map(|binding| binding.keys.iter().map(|key| (*key, binding.action)))
            .collect();
        Self { bound }
    }
}

impl Keymap {
    /// What a key asks for; `None` when it is text or nothing.
    pub fn action(&self, event: KeyEvent) -> Option<Action> {
        let key = Key::of(event);
        self.bound.iter().find(|(bound, _)| *bound == key).map(|(_, action)| *action)
    }

    /// The keys that a configuration asks for, and what is wrong with it, a sentence each. An action
    /// that is named has these keys alone; a key that another action had is taken from it.
    pub fn configured(wanted: &BTreeMap<String, Vec<String>>) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut chosen: Vec<(Key, Action)> = Vec::new();
        let mut named = Vec::new();
        for (name, keys) in wanted {
            let Some(binding) = TABLE.iter().find(|binding| binding.name == name) else {
                warnings.push(unknown_action(name));
                continue;
            };
            named.push(binding.action);
            for text in keys {
                match text.parse::<Key>() {
                    Ok(key) if chosen.iter().any(|(taken, _)| *taken == key) => {
                        warnings.push(format!(
                            "client.keys.{name}: {key} does something else already; choose another"
                        ));
                    }
                    Ok(key) => chosen.push((key, binding.action)),
                    Err(error) => warnings.push(format!("client.keys.{name}: {error}")),
                }
            }
        }
        let Self { bound } = Self::default();
        let kept = bound.into_iter().filter(|(key, action)| {
            !named.contains(action) && !chosen.iter().any(|(taken, _)| taken == key)
        });
        let bound: Vec<(Key, Action)> = kept.chain(chosen.iter().copied()).collect();
        for binding in TABLE {
            let has_key = bound.iter().any(|(_, action)| *action == binding.action);
            if !has_key && !named.contains(&binding.action) {
                let name = binding.name;
                warnings.push(format!("client.keys: no key is left for {name}; give it one"));
            }
        }
        (Self { bound }, warnings)
    }

    /// The keys of an action as help names them, such as "PageUp, Ctrl-B".
    pub fn names(&self, action: Action) -> String {
        let names: Vec<String> = self.keys(action).map(|key| key.to_string()).collect();
        names.join(", ")
    }

    /// The first key of an action, for a hint; empty when it has none.
    pub fn name(&self, action: Action) -> String {
        self.keys(action).next().map_or(String::new(), |key| key.to_string())
    }

    /// The keys of an action.
    pub fn keys(&self, action: Action) -> impl Iterator<Item = Key> {
        self.bound.iter().filter(move |(_, bound)| *bound == action).map(|(key, _)| *key)
    }
}

fn unknown_action(name: &str) -> String {
    let names = TABLE.iter().map(|binding| binding.name);
    let nearest = names.map(|known| (strsim::damerau_levenshtein(known, name), known)).min();
    let shown = agentd_shared::text::one_line(name, 40);
    match nearest.filter(|(distance, known)| *distance <= known.len() / 2) {
        Some((_, known)) => {
            format!("client.keys: there is no action {shown}; did you mean {known}?")
        }
        None => format!("client.keys: there is no action {shown}; help (F1) shows all"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(wanted: &[(&str, &[&str])]) -> (Keymap, Vec<String>) {
        let owned = |keys: &&[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        let wanted = wanted.iter().map(|(action, keys)| ((*action).to_owned(), owned(keys)));
        Keymap::configured(&wanted.collect())
    }

    #[test]
    fn a_configured_action_has_its_keys_alone_and_others_keep_theirs() {
        let (keymap, warnings) = configured(&[("page_up", &["PageUp", "ctrl-b"]), ("help", &[])]);
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(keymap.names(Action::PageUp), "PageUp, Ctrl-B");
        assert_eq!(keymap.names(Action::Help), "");
        assert_eq!(keymap.names(Action::PageDown), "PageDown");
        let (keymap, _) = configured(&[]);
        assert_eq!(keymap, Keymap::default());
    }

    #[test]
    fn what_cannot_be_used_is_told_with_what_is_near() {
        let check = |wanted: &[(&str, &[&str])], expect: &[&str]| {
            assert_eq!(configured(wanted).1, expect, "{wanted:?}");
        };
        check(
            &[("pageup", &["PageUp"])],
            &["client.keys: there is no action pageup; did you mean page_up?"],
        );
        check(
            &[("zzzzzzzzzzz", &["PageUp"])],
            &["client.keys: there is no action zzzzzzzzzzz; help (F1) shows all"],
        );
        check(
            &[("page_up", &["PagUp"])],
            &["client.keys.page_up: there is no key PagUp; did you mean PageUp?"],
        );
        check(&[("page_up", &["b"])], &["client.keys.page_up: b is text; use it with Ctrl or Alt"]);
        check(
            &[("help", &["Ctrl-N"])],
            &["client.keys: no key is left for new_session; give it one"],
        );
        check(
            &[("page_up", &["F9"]), ("top", &["F9"])],
            &["client.keys.top: F9 does something else already; choose another"],
        );
    }

    #[test]
    fn every_key_of_the_table_is_written_as_it_is_read() {
        for key in TABLE.iter().flat_map(|binding| binding.keys) {
            assert_eq!(key.to_string().parse().as_ref(), Ok(key));
        }
    }

    #[test]
    fn no_key_means_two_things_and_each_name_stands_once() {
        let bound = Keymap::default().bound;
        for (index, (key, action)) in bound.iter().enumerate() {
            let again = bound.iter().skip(index + 1).find(|(other, _)| other == key);
            assert_eq!(again, None, "{key} is {action:?}");
        }
        let mut names: Vec<&str> = TABLE.iter().map(|binding| binding.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }

    #[test]
    fn a_key_is_the_same_however_its_terminal_tells_shift() {
        let check = |code: KeyCode, modifiers: KeyModifiers, expect: Option<Action>| {
            let found = Keymap::default().action(KeyEvent::new(code, modifiers));
            assert_eq!(found, expect, "{modifiers:?} {code:?}");
        };
        check(KeyCode::Enter, KeyModifiers::NONE, Some(Action::Send));
        check(KeyCode::Enter, ALT, Some(Action::NewLine));
        check(KeyCode::Char('C'), CTRL | KeyModifiers::SHIFT, Some(Action::Quit));
        check(KeyCode::Char('c'), KeyModifiers::NONE, None);
        check(KeyCode::Home, CTRL, Some(Action::Top));
    }
}

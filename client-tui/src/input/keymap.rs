//! Keys and what they do: one table drives dispatch, help and the configuration.

mod key;
mod table;

use std::collections::BTreeMap;

use crossterm::event::KeyEvent;

pub use key::{Key, KeyError};
pub use table::{Action, Binding, TABLE};

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
    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    const ALT: KeyModifiers = KeyModifiers::ALT;
    const CTRL: KeyModifiers = KeyModifiers::CONTROL;

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

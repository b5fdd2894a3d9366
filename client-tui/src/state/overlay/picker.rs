//! A list to choose from, with a filter that forgives.

use agentd_shared::input::fit;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{LineInput, Pressed};

/// What is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picks {
    /// A model of the session.
    Model,
    /// How long it reasons.
    Effort,
    /// What it may do unasked.
    Mode,
    /// What it works on.
    Work,
    /// Another session.
    Session,
    /// Colours.
    Theme,
    /// A text that was sent before.
    History,
    /// A message of the queue, to take it back.
    Waiting,
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// What is chosen.
    pub value: String,
    /// What it is called.
    pub label: String,
    /// What there is to know of it.
    pub detail: String,
    /// It holds now.
    pub is_current: bool,
}

/// The list.
#[derive(Debug)]
pub struct Picker {
    /// What it is about.
    pub title: String,
    /// What is chosen.
    pub picks: Picks,
    /// What is typed.
    pub filter: LineInput,
    /// None while they are fetched.
    items: Option<Vec<Item>>,
    /// Line of those that fit.
    chosen: usize,
}

impl Picker {
    /// A list; none when it is being fetched.
    pub fn new(title: impl Into<String>, picks: Picks, items: Option<Vec<Item>>) -> Self {
        let mut picker = Self {
            title: title.into(),
            picks,
            filter: LineInput::default(),
            items: None,
            chosen: 0,
        };
        if let Some(items) = items {
            picker.fill(items);
        }
        picker
    }

    /// Takes the list. What holds now is chosen.
    pub fn fill(&mut self, items: Vec<Item>) {
        self.chosen = items.iter().position(|item| item.is_current).unwrap_or(0);
        self.items = Some(items);
    }

    /// Whether the list is being fetched.
    pub fn waits(&self) -> bool {
        self.items.is_none()
    }

    /// The lines that fit what is typed, the best first, and which is chosen.
    pub fn shown(&self) -> (Vec<&Item>, usize) {
        let items = self.items.as_deref().unwrap_or_default();
        let sought = self.filter.text();
        if sought.is_empty() {
            return (items.iter().collect(), self.chosen.min(items.len().saturating_sub(1)));
        }
        let score = |item: &Item| {
            let label = fit(sought, &item.label);
            label.map(|score| score + 1).or_else(|| fit(sought, &item.detail))
        };
        let mut fits: Vec<(usize, &Item)> =
            items.iter().filter_map(|item| Some((score(item)?, item))).collect();
        fits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let fits: Vec<&Item> = fits.into_iter().map(|(_, item)| item).collect();
        let chosen = self.chosen.min(fits.len().saturating_sub(1));
        (fits, chosen)
    }

    /// Takes a pasted text.
    pub fn paste(&mut self, text: &str) {
        self.filter.paste(text);
        self.chosen = 0;
    }

    /// Moves the choice.
    pub fn step(&mut self, down: isize) {
        let (shown, chosen) = self.shown();
        let last = shown.len().saturating_sub(1);
        self.chosen = chosen.saturating_add_signed(down).min(last);
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        const PAGE: isize = 10;
        let control = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Esc => return Pressed::Close,
            KeyCode::Enter | KeyCode::Tab => {
                let (shown, chosen) = self.shown();
                return match shown.get(chosen) {
                    Some(item) => Pressed::Chosen(self.picks, item.value.clone()),
                    None => Pressed::Taken,
                };
            }
            KeyCode::Up => self.step(-1),
            KeyCode::Down => self.step(1),
            KeyCode::Char('p') if control => self.step(-1),
            KeyCode::Char('n') if control => self.step(1),
            // Again the key that looks through the history: the one before.
            KeyCode::Char('r') if control && self.picks == Picks::History => self.step(1),
            KeyCode::PageUp => self.step(-PAGE),
            KeyCode::PageDown => self.step(PAGE),
            KeyCode::Char('c' | 'z') if control => return Pressed::Other,
            _ => {
                let before = self.filter.text().to_owned();
                if !self.filter.key(key) {
                    return Pressed::Other;
                }
                if self.filter.text() != before {
                    self.chosen = 0;
                }
            }
        }
        Pressed::Taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker() -> Picker {
        let item = |label: &str, detail: &str, is_current: bool| Item {
            value: label.to_owned(),
            label: label.to_owned(),
            detail: detail.to_owned(),
            is_current,
        };
        let items = vec![
            item("gpt-5", "128k", false),
            item("gpt-5-mini", "64k", true),
            item("home/qwen3", "local model", false),
        ];
        Picker::new("model", Picks::Model, Some(items))
    }

    fn labels(picker: &Picker) -> Vec<&str> {
        picker.shown().0.iter().map(|item| item.label.as_str()).collect()
    }

    fn write(picker: &mut Picker, text: &str) {
        for letter in text.chars() {
            picker.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
    }

    #[test]
    fn a_filter_forgives_what_is_left_out_and_puts_the_best_first() {
        let check = |typed: &str, expect: &[&str]| {
            let mut picker = picker();
            write(&mut picker, typed);
            assert_eq!(labels(&picker), expect, "{typed:?}");
        };
        check("", &["gpt-5", "gpt-5-mini", "home/qwen3"]);
        check("mini", &["gpt-5-mini"]);
        check("g5m", &["gpt-5-mini"]);
        check("HQ", &["home/qwen3"]);
        check("local", &["home/qwen3"]);
        check("xyz", &[]);
    }

    #[test]
    fn what_holds_now_is_chosen_first_and_keys_move_on() {
        let check = |keys: &[KeyCode], expect: Pressed| {
            let mut picker = picker();
            let pressed =
                keys.iter().map(|key| picker.key(KeyEvent::new(*key, KeyModifiers::NONE))).last();
            assert_eq!(pressed, Some(expect), "{keys:?}");
        };
        let chosen = |value: &str| Pressed::Chosen(Picks::Model, value.to_owned());
        check(&[KeyCode::Enter], chosen("gpt-5-mini"));
        check(&[KeyCode::Down, KeyCode::Enter], chosen("home/qwen3"));
        check(&[KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Tab], chosen("home/qwen3"));
        check(&[KeyCode::PageUp, KeyCode::Enter], chosen("gpt-5"));
        check(&[KeyCode::Esc], Pressed::Close);
        check(&[KeyCode::Char('x'), KeyCode::Char('x'), KeyCode::Enter], Pressed::Taken);
        check(&[KeyCode::F(1)], Pressed::Other);
    }
}

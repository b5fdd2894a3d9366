//! Colours by what they mean.
//!
//! Unless somebody says how light their terminal is, only its sixteen colours are used, so that whatever
//! its user has chosen for them, light or dark, stays readable. Without colour the same meanings are told
//! by bold, dim and reversed.

use agentd_shared::client_config::{ThemeChoice, When};
use ratatui::style::{Color, Modifier, Style};

/// Styles by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Plain text.
    pub text: Style,
    /// What matters less.
    pub dim: Style,
    /// What a person wrote.
    pub user: Style,
    /// Headings, the composer's prompt, what is chosen.
    pub accent: Style,
    /// The model's reasoning.
    pub reasoning: Style,
    /// Code within a line.
    pub code: Style,
    /// What went well, and lines that a change brings.
    pub good: Style,
    /// What to look at.
    pub warn: Style,
    /// What went wrong, and lines that a change takes.
    pub error: Style,
    /// Names of people and tools.
    pub name: Style,
    /// The chosen line of a list.
    pub selected: Style,
    /// The status bar.
    pub bar: Style,
}

const fn ink(color: Color) -> Style {
    Style::new().fg(color)
}

impl Theme {
    /// Names of all themes, as the configuration has them.
    pub const NAMES: [&str; 4] = ["auto", "dark", "light", "mono"];

    /// The terminal's own colours.
    pub const COLORED: Self = Self {
        text: Style::new(),
        dim: Style::new().add_modifier(Modifier::DIM),
        user: ink(Color::Cyan).add_modifier(Modifier::BOLD),
        accent: ink(Color::Blue).add_modifier(Modifier::BOLD),
        reasoning: ink(Color::Magenta).add_modifier(Modifier::ITALIC),
        code: ink(Color::Cyan),
        good: ink(Color::Green),
        warn: ink(Color::Yellow),
        error: ink(Color::Red).add_modifier(Modifier::BOLD),
        name: ink(Color::Cyan),
        selected: Style::new().add_modifier(Modifier::REVERSED),
        bar: Style::new().add_modifier(Modifier::REVERSED),
    };

    /// For dark backgrounds, in the 256 colours.
    pub const DARK: Self = Self {
        text: Style::new(),
        dim: ink(Color::Indexed(245)),
        user: ink(Color::Indexed(117)).add_modifier(Modifier::BOLD),
        accent: ink(Color::Indexed(111)).add_modifier(Modifier::BOLD),
        reasoning: ink(Color::Indexed(146)).add_modifier(Modifier::ITALIC),
        code: ink(Color::Indexed(152)),
        good: ink(Color::Indexed(114)),
        warn: ink(Color::Indexed(221)),
        error: ink(Color::Indexed(210)).add_modifier(Modifier::BOLD),
        name: ink(Color::Indexed(116)),
        selected: ink(Color::Indexed(231)).bg(Color::Indexed(24)),
        bar: ink(Color::Indexed(252)).bg(Color::Indexed(236)),
    };

    /// For light backgrounds, in the 256 colours.
    pub const LIGHT: Self = Self {
        text: Style::new(),
        dim: ink(Color::Indexed(242)),
        user: ink(Color::Indexed(24)).add_modifier(Modifier::BOLD),
        accent: ink(Color::Indexed(25)).add_modifier(Modifier::BOLD),
        reasoning: ink(Color::Indexed(60)).add_modifier(Modifier::ITALIC),
        code: ink(Color::Indexed(23)),
        good: ink(Color::Indexed(22)),
        warn: ink(Color::Indexed(94)),
        error: ink(Color::Indexed(124)).add_modifier(Modifier::BOLD),
        name: ink(Color::Indexed(30)),
        selected: ink(Color::Indexed(16)).bg(Color::Indexed(153)),
        bar: ink(Color::Indexed(236)).bg(Color::Indexed(253)),
    };

    /// Without colour.
    pub const PLAIN: Self = Self {
        text: Style::new(),
        dim: Style::new().add_modifier(Modifier::DIM),
        user: Style::new().add_modifier(Modifier::BOLD),
        accent: Style::new().add_modifier(Modifier::BOLD),
        reasoning: Style::new().add_modifier(Modifier::ITALIC),
        code: Style::new(),
        good: Style::new(),
        warn: Style::new().add_modifier(Modifier::BOLD),
        error: Style::new().add_modifier(Modifier::BOLD),
        name: Style::new().add_modifier(Modifier::BOLD),
        selected: Style::new().add_modifier(Modifier::REVERSED),
        bar: Style::new().add_modifier(Modifier::REVERSED),
    };

    /// The theme of a name; `None` when there is none.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::COLORED),
            "dark" => Some(Self::DARK),
            "light" => Some(Self::LIGHT),
            "mono" => Some(Self::PLAIN),
            _ => None,
        }
    }

    /// The name of this theme.
    pub fn name(&self) -> &'static str {
        Self::NAMES
            .into_iter()
            .find(|name| Self::named(name).as_ref() == Some(self))
            .unwrap_or("auto")
    }
}

/// A name on the command line.
///
/// # Errors
/// The names that there are.
pub fn parse(name: &str) -> Result<&'static str, String> {
    let known = Theme::NAMES.into_iter().find(|known| *known == name);
    known.ok_or_else(|| format!("the themes are {}", Theme::NAMES.join(", ")))
}

/// What decides about colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings<'a> {
    /// The option `--theme`.
    pub wanted: Option<&'a str>,
    /// `client.theme`.
    pub configured: ThemeChoice,
    /// `client.color`.
    pub color: When,
    /// The variable NO_COLOR is set to something.
    pub no_color: bool,
}

impl Surroundings<'_> {
    /// The theme to begin with. Who names one on the command line gets it; else no colour wins.
    pub fn theme(self) -> Theme {
        if let Some(theme) = self.wanted.and_then(Theme::named) {
            return theme;
        }
        match (self.color, self.no_color) {
            (When::Never, _) | (When::Auto, true) => return Theme::PLAIN,
            (When::Always, _) | (When::Auto, false) => {}
        }
        match self.configured {
            ThemeChoice::Auto => Theme::COLORED,
            ThemeChoice::Dark => Theme::DARK,
            ThemeChoice::Light => Theme::LIGHT,
            ThemeChoice::Mono => Theme::PLAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_theme_of_its_own_and_knows_it() {
        for name in Theme::NAMES {
            assert_eq!(Theme::named(name).map(|theme| theme.name()), Some(name));
            assert_eq!(parse(name), Ok(name));
        }
        assert_eq!(Theme::named("blue"), None);
        assert_eq!(parse("blue"), Err("the themes are auto, dark, light, mono".to_owned()));
    }

    #[test]
    fn no_colour_wins_unless_somebody_names_a_theme() {
        let plain = Surroundings {
            wanted: None,
            configured: ThemeChoice::Light,
            color: When::Auto,
            no_color: false,
        };
        let check = |around: Surroundings<'_>, expect: Theme| {
            assert_eq!(around.theme(), expect, "{around:?}");
        };
        check(plain, Theme::LIGHT);
        check(Surroundings { no_color: true, ..plain }, Theme::PLAIN);
        check(Surroundings { color: When::Never, ..plain }, Theme::PLAIN);
        check(Surroundings { color: When::Always, no_color: true, ..plain }, Theme::LIGHT);
        check(Surroundings { wanted: Some("dark"), no_color: true, ..plain }, Theme::DARK);
        check(Surroundings { configured: ThemeChoice::Mono, ..plain }, Theme::PLAIN);
    }

    #[test]
    fn without_colour_there_is_none() {
        let Theme {
            text,
            dim,
            user,
            accent,
            reasoning,
            code,
            good,
            warn,
            error,
            name,
            selected,
            bar,
        } = Theme::PLAIN;
        for style in
            [text, dim, user, accent, reasoning, code, good, warn, error, name, selected, bar]
        {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }
}

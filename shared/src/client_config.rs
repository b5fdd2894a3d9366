//! The `[client]` section of the configuration file, and its overrides from the environment.
//!
//! The daemon owns all other sections. A value that cannot be used is an error; an unknown key is a
//! warning that names the nearest known one, so that a newer file still works with an older client.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::ErrorKind;

const ENV_PREFIX: &str = "AGENTD_CLIENT_";
const MAX_HISTORY: usize = 1_000_000;

const KEYS: [&str; 11] = [
    "show_reasoning",
    "markdown",
    "color",
    "history_size",
    "edit_mode",
    "start_daemon",
    "theme",
    "bell",
    "mouse",
    "sidebar",
    "keys",
];

/// When to use a feature that only a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// If the output is a terminal.
    #[default]
    Auto,
    /// Also in pipes and files.
    Always,
    /// Not even on terminals.
    Never,
}

/// Key bindings of the input line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EditMode {
    /// As in Emacs.
    #[default]
    Emacs,
    /// As in vi.
    Vi,
}

/// Colours of the full-screen client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThemeChoice {
    /// The terminal's own sixteen, which fit whatever background it has.
    #[default]
    Auto,
    /// For dark backgrounds.
    Dark,
    /// For light backgrounds.
    Light,
    /// None.
    Mono,
}

/// How clients behave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// Show the model's reasoning.
    pub show_reasoning: bool,
    /// Render Markdown.
    pub markdown: When,
    /// Use colours.
    pub color: When,
    /// Entries of the input history, at most a million.
    pub history_size: usize,
    /// Key bindings of the input line.
    pub edit_mode: EditMode,
    /// Start a daemon when none runs.
    pub start_daemon: bool,
    /// Colours of the full-screen client.
    pub theme: ThemeChoice,
    /// The full-screen client rings when something happens while nobody looks.
    pub bell: bool,
    /// The full-screen client takes clicks and the wheel.
    pub mouse: bool,
    /// The full-screen client shows the sessions beside the transcript where there is room.
    pub sidebar: bool,
    /// Keys of the full-screen client by action, such as `page_up = ["PageUp", "Ctrl-B"]`. Which
    /// actions and keys there are is its own affair.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            show_reasoning: true,
            markdown: When::Auto,
            color: When::Auto,
            history_size: 10_000,
            edit_mode: EditMode::Emacs,
            start_daemon: true,
            theme: ThemeChoice::Auto,
            bell: true,
            mouse: true,
            sidebar: true,
            keys: BTreeMap::new(),
        }
    }
}

/// A configuration with what was odd about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadedClientConfig {
    /// The configuration in force.
    pub config: ClientConfig,
    /// One sentence for each key that is unknown.
    pub warnings: Vec<String>,
}

impl ClientConfig {
    /// Reads the file, if there is one, then the variables `AGENTD_CLIENT_<KEY>`.
    ///
    /// # Errors
    /// [`ClientConfigError`] when the file cannot be read, is not TOML, or a value is unusable.
    pub fn load(file: &Path) -> Result<LoadedClientConfig, ClientConfigError> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => {
                return Err(ClientConfigError::Read { file: file.to_path_buf(), source });
            }
        };
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::parse(file, &text, variables)
    }

    fn parse(
        file: &Path,
        text: &str,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<LoadedClientConfig, ClientConfigError> {
        let document: toml::Table = text.parse().map_err(|source| ClientConfigError::Syntax {
            file: file.to_path_buf(),
            source: Box::new(source),
        })?;
        let mut loaded = LoadedClientConfig::default();
        let origin = Origin::File(file.to_path_buf());
        match document.get("client") {
            None => {}
            Some(toml::Value::Table(section)) => {
                for (key, value) in section {
                    loaded.set(&origin, key, value)?;
                }
            }
            Some(other) => {
                let key = "client".to_owned();
                return Err(unusable(&origin, key, "a section [client]", other));
            }
        }
        for (name, value) in variables {
            let Some(key) = name.strip_prefix(ENV_PREFIX) else { continue };
            let origin = Origin::Variable(name.clone());
            loaded.set(&origin, &key.to_lowercase(), &typed(&value))?;
        }
        Ok(loaded)
    }

    fn set(&mut self, key: &str, value: &toml::Value) -> Result<Known, &'static str> {
        match key {
            "show_reasoning" => self.show_reasoning = as_bool(value)?,
            "markdown" => self.markdown = as_when(value)?,
            "color" => self.color = as_when(value)?,
            "history_size" => self.history_size = as_size(value)?,
            "edit_mode" => self.edit_mode = as_edit_mode(value)?,
            "start_daemon" => self.start_daemon = as_bool(value)?,
            "theme" => self.theme = as_theme(value)?,
            "bell" => self.bell = as_bool(value)?,
            "mouse" => self.mouse = as_bool(value)?,
            "sidebar" => self.sidebar = as_bool(value)?,
            "keys" => self.keys = as_keys(value)?,
            _ => return Ok(Known::No),
        }
        Ok(Known::Yes)
    }
}

enum Known {
    Yes,
    No,
}

impl LoadedClientConfig {
    fn set(
        &mut self,
        origin: &Origin,
        key: &str,
        value: &toml::Value,
    ) -> Result<(), ClientConfigError> {
        match self.config.set(key, value) {
            Ok(Known::Yes) => Ok(()),
            Ok(Known::No) => {
                self.warnings.push(unknown(origin, key));
                Ok(())
            }
            Err(expected) => Err(unusable(origin, format!("client.{key}"), expected, value)),
        }
    }
}

fn unknown(origin: &Origin, key: &str) -> String {
    let nearest = KEYS
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, key), *known))
        .min()
        .filter(|(distance, known)| *distance <= known.len() / 2);
    match nearest {
        Some((_, known)) => {
            format!("{origin}: unknown key client.{key}; did you mean client.{known}?")
        }
        None => {
            format!("{origin}: unknown key client.{key}; the keys are {}", KEYS.join(", "))
        }
    }
}

fn unusable(
    origin: &Origin,
    key: String,
    expected: &'static str,
    found: &toml::Value,
) -> ClientConfigError {
    let found = crate::text::one_line(&found.to_string(), 60);
    ClientConfigError::Value { origin: origin.clone(), key, expected, found }
}

/// Reads a variable's text as the file would hold it: a boolean or number where it looks like one.
fn typed(value: &str) -> toml::Value {
    if let Ok(boolean) = value.parse() {
        return toml::Value::Boolean(boolean);
    }
    match value.parse() {
        Ok(number) => toml::Value::Integer(number),
        Err(_) => toml::Value::String(value.to_owned()),
    }
}

fn as_bool(value: &toml::Value) -> Result<bool, &'static str> {
    value.as_bool().ok_or("true or false")
}

fn as_size(value: &toml::Value) -> Result<usize, &'static str> {
    value
        .as_integer()
        .and_then(|size| usize::try_from(size).ok())
        .filter(|size| *size <= MAX_HISTORY)
        .ok_or("a number from 0 to 1000000")
}

fn as_when(value: &toml::Value) -> Result<When, &'static str> {
    match value.as_str() {
        Some("auto") => Ok(When::Auto),
        Some("always") => Ok(When::Always),
        Some("never") => Ok(When::Never),
        _ => Err("\"auto\", \"always\" or \"never\""),
    }
}

fn as_edit_mode(value: &toml::Value) -> Result<EditMode, &'static str> {
    match value.as_str() {
        Some("emacs") => Ok(EditMode::Emacs),
        Some("vi") => Ok(EditMode::Vi),
        _ => Err("\"emacs\" or \"vi\""),
    }
}

fn as_theme(value: &toml::Value) -> Result<ThemeChoice, &'static str> {
    match value.as_str() {
        Some("auto") => Ok(ThemeChoice::Auto),
        Some("dark") => Ok(ThemeChoice::Dark),
        Some("light") => Ok(ThemeChoice::Light),
        Some("mono") => Ok(ThemeChoice::Mono),
        _ => Err("\"auto\", \"dark\", \"light\" or \"mono\""),
    }
}

/// Names of keys by action: a list of texts, or one text, for each.
fn as_keys(value: &toml::Value) -> Result<BTreeMap<String, Vec<String>>, &'static str> {
    const EXPECTED: &str = "a section of lists of keys, such as page_up = [\"PageUp\", \"Ctrl-B\"]";
    let text = |value: &toml::Value| value.as_str().map(str::to_owned).ok_or(EXPECTED);
    let table = value.as_table().ok_or(EXPECTED)?;
    let keys = table.iter().map(|(action, keys)| {
        let keys = match keys {
            toml::Value::Array(keys) => keys.iter().map(text).collect::<Result<_, _>>()?,
            one => vec![text(one)?],
        };
        Ok((action.clone(), keys))
    });
    keys.collect()
}

/// Where a value was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In a file.
    File(PathBuf),
    /// In a variable of the environment.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Variable(name) => write!(formatter, "environment {name}"),
        }
    }
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClientConfigError {
    /// The file is there and cannot be read.
    #[error("cannot read {file:?}")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{file:?} is not valid TOML")]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Where and why.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A value has the wrong type or is out of range.
    #[error("{origin}: {key} must be {expected}, not {found}")]
    Value {
        /// Where it was given.
        origin: Origin,
        /// Its key.
        key: String,
        /// What is allowed.
        expected: &'static str,
        /// What was found.
        found: String,
    },
}

impl ClientConfigError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                ErrorKind::Denied
            }
            Self::Read { .. } => ErrorKind::Unavailable,
            Self::Syntax { .. } | Self::Value { .. } => ErrorKind::Invalid,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check the permissions of the file",
            Self::Syntax { .. } => "correct the file at the line that is named",
            Self::Value { .. } => "correct the value",
        }
    }
}

#[cfg(test)]
mod tests;

//! Reading the file and the environment.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use agentd_domain::ErrorKind;
use toml::{Table, Value};

use super::Config;
use crate::environment::Environment;

/// The clients' own section, which they check themselves.
const CLIENT_SECTION: &str = "client";

/// Keys of earlier releases that are still accepted, with a warning, and where they went.
const MOVED: &[(&str, &str)] = &[("session.max_attempts", "provider.max_attempts")];

/// Where a value comes from that is not the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSource {
    /// The configuration file.
    File,
    /// An environment variable.
    Environment(String),
}

/// A configuration and where it comes from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The values in force.
    pub config: Config,
    /// The file that was read; none when there is none.
    pub file: Option<PathBuf>,
    /// Sources of the values that are not defaults, by key such as `provider.model`.
    pub sources: BTreeMap<String, ConfigSource>,
    /// What should be changed although it works.
    pub warnings: Vec<String>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file exists and cannot be read.
    #[error("{} cannot be read: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{} is not valid TOML: {detail}", .file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// What the parser says, with line and column.
        detail: String,
    },
    /// There is no such key.
    #[error("there is no key '{key}' in {origin}{}", .nearest.as_ref().map_or_else(String::new, |nearest| format!("; did you mean '{nearest}'?")))]
    UnknownKey {
        /// The key.
        key: String,
        /// The file, or "the environment".
        origin: String,
        /// The most similar key that exists.
        nearest: Option<String>,
    },
    /// A value does not fit its key.
    #[error("{key}: {problem} (from {origin})")]
    Value {
        /// The key.
        key: String,
        /// What is wrong.
        problem: String,
        /// Where it comes from.
        origin: String,
    },
}

impl ConfigError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. } => ErrorKind::Unavailable,
            Self::Syntax { .. } | Self::UnknownKey { .. } | Self::Value { .. } => {
                ErrorKind::Invalid
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check the file's owner and mode",
            Self::Syntax { .. } | Self::UnknownKey { .. } | Self::Value { .. } => {
                "correct it; `agentctl config show` lists all keys"
            }
        }
    }
}

/// Loads a configuration. A missing file is as good as an empty one.
///
/// # Errors
/// When the file cannot be read or understood, or a key or value is wrong.
pub fn load(file: &Path, env: &Environment) -> Result<Loaded, ConfigError> {
    let mut known = known_keys();
    let mut warnings = Vec::new();
    let mut sources = BTreeMap::new();
    let (mut values, read) = match std::fs::read_to_string(file) {
        Ok(text) => {
            let table = text.parse::<Table>().map_err(|error| ConfigError::Syntax {
                file: file.to_owned(),
                detail: error.to_string().trim_end().to_owned(),
            })?;
            (table, Some(file.to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Table::new(), None),
        Err(source) => return Err(ConfigError::Read { file: file.to_owned(), source }),
    };
    values.remove(CLIENT_SECTION);
    let origin = file.display().to_string();
    for (old, new) in MOVED {
        if let Some(value) = take(&mut values, old) {
            warnings.push(format!("{old} is now called {new} (in {origin})"));
            put_if_absent(&mut values, new, value);
        }
    }
    let fixed = known.clone();
    known.extend(named_keys(&values));
    for key in keys_of(&values, &known) {
        let key = shown(&key);
        if !known.contains_key(&key) {
            return Err(unknown_key(key, &origin, &known));
        }
        sources.insert(key, ConfigSource::File);
    }
    warnings.extend(overlay_environment(&mut values, &fixed, env, &mut sources)?);
    let origin_of = |key: &str| match sources.get(key) {
        Some(ConfigSource::Environment(name)) => format!("the variable {name}"),
        Some(ConfigSource::File) | None => origin.clone(),
    };
    let config: Config =
        Value::Table(values.clone()).try_into().map_err(|error: toml::de::Error| {
            let key = key_at_fault(&values, &known);
            ConfigError::Value { origin: origin_of(&key), key, problem: error.message().to_owned() }
        })?;
    config.check().map_err(|bad| ConfigError::Value {
        origin: origin_of(&bad.key),
        key: bad.key,
        problem: bad.problem,
    })?;
    Ok(Loaded { config, file: read, sources, warnings })
}

/// Takes a value out of its section.
fn take(values: &mut Table, key: &str) -> Option<Value> {
    let (section, key) = key.split_once('.')?;
    values.get_mut(section)?.as_table_mut()?.remove(key)
}

/// Puts a value into its section unless it has one.
fn put_if_absent(values: &mut Table, key: &str, value: Value) {
    let Some((section, key)) = key.split_once('.') else { return };
    let section = values.entry(section).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(section) = section {
        section.entry(key).or_insert(value);
    }
}

/// A key as its segments: `["provider", "base_url"]`.
type Key = Vec<String>;

/// Every key with its default, but for those under names that users choose.
fn known_keys() -> BTreeMap<String, Value> {
    let Ok(defaults) = Value::try_from(Config::default()) else { return BTreeMap::new() };
    let mut known = BTreeMap::new();
    leaves(&defaults, &mut Vec::new(), &mut known);
    known
}

/// The keys under the names that users chose: `endpoints.NAME.kind`, `models.NAME.vision`.
fn named_keys(values: &Table) -> BTreeMap<String, Value> {
    let mut known = BTreeMap::new();
    let names = |section: &str| values.get(section).and_then(Value::as_table).map(Table::keys);
    let endpoint = Value::try_from(super::ProviderConfig::default()).ok();
    for name in names("endpoints").into_iter().flatten() {
        if let Some(endpoint) = &endpoint {
            leaves(endpoint, &mut vec!["endpoints".to_owned(), name.clone()], &mut known);
        }
    }
    for name in names("models").into_iter().flatten() {
        for key in MODEL_KEYS {
            let key = ["models".to_owned(), name.clone(), (*key).to_owned()];
            known.insert(shown(&key), Value::Boolean(true));
        }
    }
    known
}

/// The keys of `[models."NAME"]`. None of them has a default.
const MODEL_KEYS: &[&str] = &[
    "context_tokens",
    "max_output_tokens",
    "vision",
    "tools",
    "effort_form",
    "refuses",
    "api",
    "efforts",
    "prices",
];

fn leaves(value: &Value, at: &mut Key, found: &mut BTreeMap<String, Value>) {
    let Value::Table(table) = value else {
        found.insert(shown(at), value.clone());
        return;
    };
    for (key, value) in table {
        at.push(key.clone());
        leaves(value, at, found);
        at.pop();
    }
}

/// The keys of a table. Below a known key nothing is a key of its own.
fn keys_of(table: &Table, known: &BTreeMap<String, Value>) -> Vec<Key> {
    fn walk(table: &Table, at: &mut Key, known: &BTreeMap<String, Value>, keys: &mut Vec<Key>) {
        for (key, value) in table {
            at.push(key.clone());
            match value {
                Value::Table(inner) if !known.contains_key(&shown(at)) => {
                    walk(inner, at, known, keys);
                }
                _ => keys.push(at.clone()),
            }
            at.pop();
        }
    }
    let mut keys = Vec::new();
    walk(table, &mut Vec::new(), known, &mut keys);
    keys
}

/// A key as it is written in the file.
fn shown(key: &[String]) -> String {
    key.iter().map(|segment| shown_segment(segment)).collect::<Vec<_>>().join(".")
}

/// A part of a key, in quotes where the file needs them.
pub(super) fn shown_segment(segment: &str) -> String {
    let is_bare = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    if !segment.is_empty() && segment.chars().all(is_bare) {
        segment.to_owned()
    } else {
        Value::String(segment.to_owned()).to_string()
    }
}

/// The environment's name of a key: `AGENTD_PROVIDER_BASE_URL` for `provider.base_url`.
fn env_name(key: &str) -> String {
    format!("AGENTD_{}", key.replace('.', "_").to_uppercase())
}

fn overlay_environment(
    values: &mut Table,
    known: &BTreeMap<String, Value>,
    env: &Environment,
    sources: &mut BTreeMap<String, ConfigSource>,
) -> Result<Vec<String>, ConfigError> {
    let mut warnings = Vec::new();
    let by_name: BTreeMap<String, (&String, &Value)> =
        known.iter().map(|(key, default)| (env_name(key), (key, default))).collect();
    let sections: Vec<String> = known
        .keys()
        .filter_map(|key| key.split_once('.'))
        .map(|(section, _)| section)
        // Variables cannot name what stands under a name of one's own.
        .chain(["endpoints", "models"])
        .map(|section| format!("AGENTD_{}_", section.to_uppercase()))
        .collect();
    for (name, text) in env.iter() {
        let moved = MOVED.iter().find(|(old, _)| env_name(old) == name);
        let name_now = moved.map_or_else(|| name.to_owned(), |(_, new)| env_name(new));
        if moved.is_some() {
            warnings.push(format!("the variable {name} is now called {name_now}"));
            if env.get(&name_now).is_some() {
                continue;
            }
        }
        let Some((key, default)) = by_name.get(&name_now) else {
            // Variables of other parts, such as AGENTD_HOME, are none of our business; a name in one
            // of our sections is a mistake.
            if sections.iter().any(|section| name.starts_with(section)) {
                let known = by_name.keys().map(|name| (name.clone(), Value::Boolean(true)));
                return Err(unknown_key(name.to_owned(), "the environment", &known.collect()));
            }
            continue;
        };
        let value = parse_like(default, text).map_err(|problem| ConfigError::Value {
            key: (*key).clone(),
            problem,
            origin: format!("the variable {name}"),
        })?;
        // The keys that variables name have no dots within their segments.
        let segments: Key = key.split('.').map(str::to_owned).collect();
        insert(values, &segments, value);
        sources.insert((*key).clone(), ConfigSource::Environment(name.to_owned()));
    }
    Ok(warnings)
}

/// Reads a variable's text as a value of the default's type.
fn parse_like(default: &Value, text: &str) -> Result<Value, String> {
    match default {
        Value::Integer(_) => text
            .trim()
            .parse()
            .map(Value::Integer)
            .map_err(|_not_a_number| format!("'{text}' is not a whole number")),
        Value::Float(_) => text
            .trim()
            .parse()
            .map(Value::Float)
            .map_err(|_not_a_number| format!("'{text}' is not a number")),
        Value::Boolean(_) => match text.trim() {
            "true" | "1" | "yes" => Ok(Value::Boolean(true)),
            "false" | "0" | "no" => Ok(Value::Boolean(false)),
            _ => Err(format!("'{text}' is neither true nor false")),
        },
        Value::Array(_) => Ok(Value::Array(
            text.split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(|part| Value::String(part.to_owned()))
                .collect(),
        )),
        _ => Ok(Value::String(text.to_owned())),
    }
}

/// Puts a value under a key, and makes the tables that it needs.
fn insert(table: &mut Table, key: &[String], value: Value) {
    match key {
        [] => {}
        [last] => {
            table.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// Finds the key whose value does not fit: each is tried alone.
fn key_at_fault(values: &Table, known: &BTreeMap<String, Value>) -> String {
    for key in keys_of(values, known) {
        let value = key.iter().try_fold(None::<&Value>, |at, segment| match at {
            None => values.get(segment).map(Some),
            Some(value) => value.get(segment).map(Some),
        });
        let Some(Some(value)) = value else { continue };
        let mut alone = Table::new();
        insert(&mut alone, &key, value.clone());
        if Config::try_from_table(alone).is_err() {
            return shown(&key);
        }
    }
    known.keys().next().cloned().unwrap_or_default()
}

impl Config {
    fn try_from_table(table: Table) -> Result<Self, toml::de::Error> {
        Value::Table(table).try_into()
    }
}

fn unknown_key(key: String, origin: &str, known: &BTreeMap<String, Value>) -> ConfigError {
    /// Below this the most similar key is no likely meaning.
    const SIMILAR: f64 = 0.7;
    let nearest = known
        .keys()
        .map(|candidate| (strsim::jaro_winkler(&key, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.clone());
    ConfigError::UnknownKey { key, origin: origin.to_owned(), nearest }
}

#[cfg(test)]
mod tests;

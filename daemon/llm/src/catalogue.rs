//! What well-known models can do and cost.
//!
//! The figures are in `catalogue/models.toml`, with the day on which they were looked up.

mod info;
mod name;

use std::sync::LazyLock;

use serde::Deserialize;

pub use info::{
    EffortForm, EffortValue, InfoSource, ModelApi, ModelFacts, ModelInfo, Reasoning, Refusal,
};

/// The well-known models.
#[derive(Debug)]
pub struct Catalogue {
    rows: Vec<Row>,
    /// The day on which the figures were looked up, such as "2026-11-29".
    as_of: String,
}

/// The file's form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    model: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    /// Models that are just this.
    #[serde(default)]
    names: Vec<String>,
    /// Beginnings of the names of models that are probably like this.
    #[serde(default)]
    families: Vec<String>,
    #[serde(flatten)]
    facts: ModelFacts,
}

#[derive(Debug)]
struct Row {
    start: String,
    is_family: bool,
    facts: ModelFacts,
}

impl Row {
    /// What this row says of a model, if it is about it.
    fn facts_of(&self, name: &str) -> Option<ModelFacts> {
        let rest = name.strip_prefix(self.start.as_str())?;
        if self.is_family || rest.is_empty() {
            return Some(self.facts.clone());
        }
        // A variant can do what the model can, but what it costs is anyone's guess.
        rest.starts_with('-').then(|| ModelFacts { prices: None, ..self.facts.clone() })
    }
}

impl Catalogue {
    /// The catalogue of this release.
    pub fn builtin() -> &'static Self {
        static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
            // A test parses the same text, so that what is released can be read.
            Catalogue::parse(include_str!("catalogue/models.toml")).unwrap_or_else(|error| {
                tracing::error!(error, "the catalogue of models cannot be read");
                Catalogue { rows: Vec::new(), as_of: String::new() }
            })
        });
        &CATALOGUE
    }

    fn parse(text: &str) -> Result<Self, String> {
        let File { as_of, model } = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        for Entry { names, families, facts } in model {
            let row = |is_family| {
                let facts = facts.clone();
                move |start| Row { start, is_family, facts: facts.clone() }
            };
            rows.extend(names.into_iter().map(row(false)));
            rows.extend(families.into_iter().map(row(true)));
        }
        Ok(Self { rows, as_of })
    }

    /// What is known of a model: the row with the longest beginning of its name.
    pub fn facts(&self, model: &str) -> Option<ModelFacts> {
        let name = name::normalised(model);
        self.rows
            .iter()
            // Of two that begin alike the model itself says more than its family.
            .filter_map(|row| Some(((row.start.len(), !row.is_family), row.facts_of(&name)?)))
            .max_by_key(|(rank, _)| *rank)
            .map(|(_, facts)| facts)
    }

    /// Names of the models, without families.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| !row.is_family).map(|row| row.start.as_str())
    }

    /// The day on which the figures were looked up.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }
}

#[cfg(test)]
mod tests;

//! What is told of something, a labelled line for each fact.

use super::Role;

/// A fact: what it is about, and what there is to say. The text is foreign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is about; empty when it goes on with the one before, or needs no label.
    pub label: &'static str,
    /// What there is to say.
    pub text: String,
    /// What it is.
    pub role: Role,
}

impl Fact {
    /// A plain one.
    pub fn new(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, text: text.into(), role: Role::Plain }
    }

    /// One without a label.
    pub fn unlabelled(role: Role, text: impl Into<String>) -> Self {
        Self { label: "", text: text.into(), role }
    }

    /// The same as something else.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The label as wide as all of them.
    pub fn padded_label(&self, width: usize) -> String {
        format!("{:<width$}", self.label)
    }
}

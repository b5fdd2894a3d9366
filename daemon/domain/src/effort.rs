//! How long a model may reason.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How long a model may reason before it answers, from none to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// No reasoning, where the model can do without.
    Off,
    /// As little as the model can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
}

impl Effort {
    /// All levels, from none to most.
    pub const ALL: [Self; 6] =
        [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Max];

    /// What users write and see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }
}

/// A text that names no effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is none of off, minimal, low, medium, high, max")]
pub struct EffortError;

impl FromStr for Effort {
    type Err = EffortError;

    fn from_str(text: &str) -> Result<Self, EffortError> {
        Self::ALL
            .into_iter()
            .find(|effort| effort.as_str().eq_ignore_ascii_case(text.trim()))
            .ok_or(EffortError)
    }
}

/// What was asked for, and what the model is given instead when it does not offer that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffortChoice {
    /// What was asked for.
    pub requested: Effort,
    /// What the model is given; none when it is given none.
    #[serde(default)]
    pub effective: Option<Effort>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_read_as_it_is_written() {
        for effort in Effort::ALL {
            assert_eq!(effort.as_str().parse(), Ok(effort));
            assert_eq!(effort.as_str().to_uppercase().parse(), Ok(effort));
        }
        assert_eq!("much".parse::<Effort>(), Err(EffortError));
    }
}

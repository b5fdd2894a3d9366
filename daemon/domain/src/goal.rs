//! Goals: what is to be reached beyond one session (spec i.14).

use serde::{Deserialize, Serialize};

use crate::{Author, SessionId, TimestampMs};

/// How important a goal is: 1 comes first, 3 last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct GoalPriority(u8);

impl GoalPriority {
    /// What comes first.
    pub const FIRST: Self = Self(1);
    /// What comes last.
    pub const LAST: Self = Self(3);

    /// The number, 1 to 3.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for GoalPriority {
    /// The middle.
    fn default() -> Self {
        Self(2)
    }
}

impl TryFrom<u32> for GoalPriority {
    type Error = GoalError;

    /// # Errors
    /// When it is not 1 to 3.
    fn try_from(number: u32) -> Result<Self, GoalError> {
        match u8::try_from(number) {
            Ok(small @ 1..=3) => Ok(Self(small)),
            _ => Err(GoalError::Priority { got: number }),
        }
    }
}

impl From<GoalPriority> for u32 {
    fn from(priority: GoalPriority) -> Self {
        priority.0.into()
    }
}

/// What is to be reached: text that is not blank, without white space around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GoalContent(String);

impl GoalContent {
    /// Most characters.
    pub const MAX_CHARS: usize = 2000;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for GoalContent {
    type Error = GoalError;

    /// # Errors
    /// When it is blank or too long.
    fn try_from(text: String) -> Result<Self, GoalError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(GoalError::Empty);
        }
        let chars = text.chars().count();
        if chars > Self::MAX_CHARS {
            return Err(GoalError::TooLong { chars, max: Self::MAX_CHARS });
        }
        Ok(Self(text.to_owned()))
    }
}

impl From<GoalContent> for String {
    fn from(content: GoalContent) -> Self {
        content.0
    }
}

/// Why a goal is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// Nothing but white space.
    #[error("the content of the goal is empty")]
    Empty,
    /// Too long.
    #[error("the content of the goal has {chars} characters; at most {max} are allowed")]
    TooLong {
        /// Characters of the content.
        chars: usize,
        /// Most characters allowed.
        max: usize,
    },
    /// No priority.
    #[error("{got} is no priority of a goal; they go from 1 (first) to 3 (last)")]
    Priority {
        /// What was given.
        got: u32,
    },
}

/// Where a goal holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum GoalScope {
    /// Everywhere.
    User,
    /// In all sessions of a workspace.
    Workspace {
        /// Absolute path of its directory, without links.
        root: String,
    },
}

impl GoalScope {
    /// True in the workspace with this root.
    pub fn holds_in(&self, root: &str) -> bool {
        match self {
            Self::User => true,
            Self::Workspace { root: of } => of == root,
        }
    }
}

/// Who set a goal, or said that it is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GoalAuthor {
    /// The model of a session.
    Model {
        /// The session.
        session_id: SessionId,
    },
    /// A person.
    Person {
        /// Who.
        author: Author,
    },
}

/// That a goal is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalDone {
    /// Who said so.
    pub by: GoalAuthor,
    /// When.
    pub at: TimestampMs,
}

/// What is to be reached. Its text is data wherever it is shown: a model may have written it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// Names it; never used again.
    pub goal_id: String,
    /// What.
    pub content: GoalContent,
    /// How important it is.
    pub priority: GoalPriority,
    /// Where it holds.
    pub scope: GoalScope,
    /// Who set it.
    pub by: GoalAuthor,
    /// When.
    pub at: TimestampMs,
    /// That it is reached; none: it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<GoalDone>,
}

impl Goal {
    /// True until it is reached.
    pub fn is_open(&self) -> bool {
        self.done.is_none()
    }

    /// The order in which goals are told: open ones by importance and age, then those that were
    /// reached, the last first.
    pub fn rank(&self) -> (bool, GoalPriority, i64) {
        match &self.done {
            None => (false, self.priority, self.at.0),
            Some(done) => (true, GoalPriority::FIRST, done.at.0.saturating_neg()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_one_of_three_and_the_middle_by_default() {
        for good in 1..=3_u32 {
            assert_eq!(GoalPriority::try_from(good).map(u32::from), Ok(good));
        }
        for bad in [0, 4, 257, u32::MAX] {
            let error = GoalPriority::try_from(bad).unwrap_err();
            assert_eq!(error, GoalError::Priority { got: bad });
            assert!(error.to_string().contains("from 1 (first) to 3 (last)"));
        }
        assert_eq!(GoalPriority::default().get(), 2);
        assert!(GoalPriority::FIRST < GoalPriority::LAST);
    }

    #[test]
    fn content_is_text_within_its_limit() {
        let content = |text: &str| GoalContent::try_from(text.to_owned());
        assert_eq!(content(" a\n b \n").unwrap().as_str(), "a\n b");
        assert_eq!(content(" \n\t"), Err(GoalError::Empty));
        let long = "世".repeat(GoalContent::MAX_CHARS);
        assert!(content(&long).is_ok());
        let error = content(&format!("{long}界")).unwrap_err();
        assert_eq!(error, GoalError::TooLong { chars: 2001, max: 2000 });
    }

    #[test]
    fn open_goals_come_by_importance_and_age_and_then_the_last_that_were_reached() {
        let by = || GoalAuthor::Model { session_id: SessionId::from_parts(1, 1) };
        let goal = |goal_id: &str, priority: u32, at: i64, done: Option<i64>| Goal {
            goal_id: goal_id.to_owned(),
            content: GoalContent("x".to_owned()),
            priority: GoalPriority::try_from(priority).unwrap(),
            scope: GoalScope::User,
            by: by(),
            at: TimestampMs(at),
            done: done.map(|at| GoalDone { by: by(), at: TimestampMs(at) }),
        };
        let mut goals = [
            goal("done first", 1, 1, Some(8)),
            goal("young", 2, 5, None),
            goal("last", 3, 1, None),
            goal("done last", 3, 1, Some(9)),
            goal("old", 2, 4, None),
            goal("first", 1, 9, None),
        ];
        goals.sort_by_key(Goal::rank);
        let order: Vec<&str> = goals.iter().map(|goal| goal.goal_id.as_str()).collect();
        assert_eq!(order, ["first", "old", "young", "last", "done last", "done first"]);
    }

    #[test]
    fn a_goal_is_stored_as_it_always_was() {
        let stored = r#"{"goal_id":"g","content":"c","priority":1,"scope":{"in":"workspace","root":"/p"},"by":{"kind":"person","author":{"client_id":"c","name":"ann"}},"at":5,"done":{"by":{"kind":"model","session_id":"00000000010000000000000001"},"at":9}}"#;
        let goal: Goal = serde_json::from_str(stored).unwrap();
        assert_eq!(serde_json::to_string(&goal).unwrap(), stored);
        assert!(!goal.is_open() && goal.scope.holds_in("/p") && !goal.scope.holds_in("/p/q"));
    }
}

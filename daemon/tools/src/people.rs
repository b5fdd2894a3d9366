//! The people of a session, as a call reaches them.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

/// What they are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question itself.
    pub prompt: String,
    /// Answers to choose from; none: any text is an answer.
    pub choices: Vec<String>,
    /// The answer that is taken when nobody gives one.
    pub default: Option<String>,
    /// How long an answer is waited for.
    pub timeout: Duration,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Somebody answered; nobody else has since, or his answer was too late.
    Given {
        /// One of the choices, or a text.
        choice: String,
        /// His name.
        by: String,
    },
    /// Nobody did in time.
    Expired,
    /// There is nobody who could: a script began the turn, and no other terminal is attached.
    NobodyThere,
    /// The turn is being cut off, or nothing can be stored.
    Lost,
}

/// What they are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// One or two sentences.
    pub text: String,
    /// Somebody should look.
    pub is_grave: bool,
}

/// Who is attached to a session, now or later.
#[async_trait]
pub trait People: Debug + Send + Sync + 'static {
    /// Asks all of them; the first answer counts.
    ///
    /// # Cancel safety
    /// A question whose future is dropped stays open until its time is over, or its turn is.
    async fn ask(&self, question: Question) -> Answer;

    /// Tells all of them, and says how many terminals are attached; none: it could not be kept.
    async fn announce(&self, announcement: Announcement) -> Option<usize>;
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

#[async_trait]
impl People for Nobody {
    async fn ask(&self, _question: Question) -> Answer {
        Answer::NobodyThere
    }

    async fn announce(&self, _announcement: Announcement) -> Option<usize> {
        None
    }
}

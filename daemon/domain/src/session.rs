//! A session as lists show it.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::event::TitleSource;
use crate::{Cost, Effort, PermissionMode, Seq, SessionId, TimestampMs, Usage, UsageSum, WorkMode};

/// What a session is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// No turn runs and nothing is queued.
    #[default]
    Idle,
    /// A turn runs.
    Running,
    /// A turn is suspended until somebody answers a question.
    Waiting,
}

/// The session a session was copied from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    /// The original.
    pub session_id: SessionId,
    /// Last event that was copied.
    pub seq: Seq,
}

/// What a session has set out to do and not done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedWork {
    /// Items of its list that are not completed.
    #[serde(default)]
    pub todo_items: u32,
    /// Steps of its plan that are not done.
    #[serde(default)]
    pub plan_steps: u32,
}

impl UnfinishedWork {
    /// True when nothing is left.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What a session waits for until somebody answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAsks {
    /// Calls that wait until somebody says whether they may run.
    #[serde(default)]
    pub approvals: u32,
    /// Questions that nobody has answered.
    #[serde(default)]
    pub questions: u32,
    /// When the wait began: the first of them was asked then, and some have been open ever since.
    #[serde(default)]
    pub since: Option<TimestampMs>,
}

impl OpenAsks {
    /// True when nothing is asked.
    pub fn is_none(&self) -> bool {
        self.approvals == 0 && self.questions == 0
    }

    /// Notes how much is open now.
    pub fn set(&mut self, approvals: u32, questions: u32, now: TimestampMs) {
        let since = self.since.unwrap_or(now);
        *self = Self { approvals, questions, since: None };
        self.since = (!self.is_none()).then_some(since);
    }
}

/// The index entry of a session: what a list shows, kept beside the log and rebuilt from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The session.
    pub session_id: SessionId,
    /// One line; empty until a title is known.
    pub title: String,
    /// Where the title comes from.
    #[serde(default)]
    pub title_source: Option<TitleSource>,
    /// Absolute path of the directory that tools work in.
    pub workspace: String,
    /// Model asked for; empty means the daemon's default.
    #[serde(default)]
    pub model: String,
    /// When it was created.
    pub created_at: TimestampMs,
    /// When it last changed durably, apart from what the daemon does in its own time.
    pub updated_at: TimestampMs,
    /// Newest durable event.
    pub last_seq: Seq,
    /// What it was doing at that event.
    #[serde(default)]
    pub status: SessionStatus,
    /// Messages accepted and not yet given to a turn.
    #[serde(default)]
    pub queued_messages: u32,
    /// Turns started so far.
    #[serde(default)]
    pub turns: u64,
    /// Token counts summed over all requests.
    #[serde(default)]
    pub usage: Usage,
    /// The session this one was copied from.
    #[serde(default)]
    pub origin: Option<ForkOrigin>,
    /// Effort asked for; none means the model's default.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// What its requests cost so far.
    #[serde(default)]
    pub cost: Cost,
    /// Requests so far.
    #[serde(default)]
    pub requests: u64,
    /// The part of `usage` that was estimated.
    #[serde(default)]
    pub estimated_usage: Usage,
    /// How much the agent may do without asking.
    #[serde(default)]
    pub permission_mode: PermissionMode,
    /// What it works on.
    #[serde(default)]
    pub work_mode: WorkMode,
    /// Absolute paths of further directories that tools work in.
    #[serde(default)]
    pub further_roots: Vec<String>,
    /// What it has not done yet. Entries of older releases do not say it until the session changes.
    #[serde(default, skip_serializing_if = "UnfinishedWork::is_none")]
    pub unfinished: UnfinishedWork,
    /// Turns that were not looked through for memories. Entries of older releases do not say it until the
    /// session changes.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unextracted_turns: u32,
    /// What it waits for. Entries of older releases do not say it until the session changes.
    #[serde(default, skip_serializing_if = "OpenAsks::is_none")]
    pub asks: OpenAsks,
    /// Newest event that is news to who was away; zero when there is none, and in entries of older
    /// releases until the session changes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub news_seq: Seq,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(seq: &Seq) -> bool {
    *seq == Seq::ZERO
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

impl SessionRecord {
    /// The entry of a session of which nothing is known yet.
    pub fn new(session_id: SessionId) -> Self {
        Self {
            session_id,
            title: String::new(),
            title_source: None,
            workspace: String::new(),
            model: String::new(),
            created_at: TimestampMs(0),
            updated_at: TimestampMs(0),
            last_seq: Seq::ZERO,
            status: SessionStatus::default(),
            queued_messages: 0,
            turns: 0,
            usage: Usage::default(),
            origin: None,
            effort: None,
            cost: Cost::default(),
            requests: 0,
            estimated_usage: Usage::default(),
            permission_mode: PermissionMode::default(),
            work_mode: WorkMode::default(),
            further_roots: Vec::new(),
            unfinished: UnfinishedWork::default(),
            unextracted_turns: 0,
            asks: OpenAsks::default(),
            news_seq: Seq::ZERO,
        }
    }

    /// Notes a request.
    pub fn add_request(&mut self, usage: &Usage, cost: &Cost) {
        self.requests = self.requests.saturating_add(1);
        self.usage.add(usage);
        if usage.estimated {
            self.estimated_usage.add(usage);
        }
        self.cost.add(cost);
    }

    /// The sums over all its requests, with estimates kept apart. Entries of older releases did not do
    /// that: where they say that a part is an estimate, all of it counts as one.
    pub fn usage_sum(&self) -> UsageSum {
        let Self { usage, estimated_usage, requests, cost, .. } = self;
        let (exact, estimated) = if usage.estimated && !estimated_usage.estimated {
            (Usage::default(), *usage)
        } else {
            (usage.without(estimated_usage), *estimated_usage)
        };
        UsageSum { requests: *requests, exact, estimated, cost: *cost }
    }
}

/// A title that a user may give: one line, 1 to 200 characters, no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title(String);

/// Why a title is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TitleError {
    /// Nothing but white space.
    #[error("it is empty")]
    Empty,
    /// Too long.
    #[error("it has {chars} characters; at most {max} are allowed")]
    TooLong {
        /// Characters of the title.
        chars: usize,
        /// Most characters allowed.
        max: usize,
    },
    /// Line breaks, escapes and the like.
    #[error("it holds a control character")]
    ControlCharacter,
}

impl Title {
    /// Most characters of a title.
    pub const MAX_CHARS: usize = 200;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Title {
    type Err = TitleError;

    fn from_str(text: &str) -> Result<Self, TitleError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(TitleError::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(TitleError::ControlCharacter);
        }
        let chars = text.chars().count();
        if chars > Self::MAX_CHARS {
            return Err(TitleError::TooLong { chars, max: Self::MAX_CHARS });
        }
        Ok(Self(text.to_owned()))
    }
}

//! What is remembered from one session to the next (spec b.1).
//!
//! Ages are counted from [`Memory::tier_since`], never from when a record was made, so that whoever
//! moves a memory to another tier restarts its clock (spec b.13).

mod upkeep;

use serde::{Deserialize, Serialize};

use crate::named::named;
use crate::{Author, MemoryChangeId, MemoryId, Seq, SessionId, TimestampMs};

pub use upkeep::{Consolidation, MemoryMark, MemoryUpkeep};

/// How much depends on a memory. Tiers are what memories fall through as they age.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum MemoryPriority {
    /// It must be followed.
    Critical,
    /// It matters in most conversations.
    High,
    /// It may matter.
    #[default]
    Medium,
    /// It hardly ever does.
    Low,
}

impl MemoryPriority {
    /// All of them, the most important first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    /// 0 for the most important, 3 for the least (spec b.1.1).
    pub const fn level(self) -> u8 {
        match self {
            Self::Critical => 0,
            Self::High => 1,
            Self::Medium => 2,
            Self::Low => 3,
        }
    }

    /// The priority with this level.
    pub const fn of_level(level: u8) -> Option<Self> {
        match level {
            0 => Some(Self::Critical),
            1 => Some(Self::High),
            2 => Some(Self::Medium),
            3 => Some(Self::Low),
            _ => None,
        }
    }

    /// The next less important one; none below the lowest.
    pub const fn lower(self) -> Option<Self> {
        Self::of_level(self.level() + 1)
    }
}

/// What kind of thing is remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryCategory {
    /// What the agent is to do or not to do.
    Instruction,
    /// What the user likes.
    Preference,
    /// What is so.
    Fact,
    /// What is due at its `expires_at`.
    Reminder,
    /// Anything else.
    #[default]
    General,
    /// What the agent has made of other memories. Never critical by itself.
    Reflection,
}

named!(MemoryPriority, "priority",
    "critical" => Critical, "high" => High, "medium" => Medium, "low" => Low,);
named!(MemoryCategory, "category",
    "instruction" => Instruction, "preference" => Preference, "fact" => Fact,
    "reminder" => Reminder, "general" => General, "reflection" => Reflection,);

/// Where a memory is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum MemoryScope {
    /// In all sessions.
    #[default]
    User,
    /// In the sessions of a workspace.
    Workspace {
        /// Its absolute path without links.
        root: String,
    },
    /// In the sessions of one agent.
    Agent {
        /// Its name.
        name: String,
    },
}

/// What has become of a memory. Only an active one is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum MemoryStatus {
    /// It holds.
    #[default]
    Active,
    /// It came from text that nobody vouches for, and waits until a user confirms it.
    Quarantined,
    /// Somebody took it back.
    Forgotten,
    /// What it says is part of another memory now.
    Merged {
        /// That one.
        into: MemoryId,
    },
    /// A newer memory contradicts it.
    Superseded {
        /// That one.
        by: MemoryId,
    },
    /// Its time is over.
    Expired,
    /// It was pushed out when there were too many critical ones (spec b.7).
    Displaced,
    /// It lay unused in the lowest tier for too long.
    Faded,
}

impl MemoryStatus {
    /// One word for it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Quarantined => "quarantined",
            Self::Forgotten => "forgotten",
            Self::Merged { .. } => "merged",
            Self::Superseded { .. } => "superseded",
            Self::Expired => "expired",
            Self::Displaced => "displaced",
            Self::Faded => "faded",
        }
    }
}

/// Who brought a memory, or changed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum MemoryAuthor {
    /// A person.
    User {
        /// Who.
        author: Author,
    },
    /// The model, with the memory tool.
    Model,
    /// What was found in a conversation after it had ended.
    Extraction,
    /// A file of another program.
    Import {
        /// Which.
        from: String,
    },
    /// The daemon by itself: decay, expiry, merging, reflection.
    Daemon,
}

/// Where a memory is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryOrigin {
    /// Who brought it.
    pub author: MemoryAuthor,
    /// The session in which it came up.
    #[serde(default)]
    pub session_id: Option<SessionId>,
    /// The event of that session that it is from.
    #[serde(default)]
    pub seq: Option<Seq>,
}

/// How often a memory has helped. Being told is not a use: an answer that builds on it is, and so is
/// being looked up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// How often.
    pub uses: u32,
    /// When it last did.
    pub last_used_at: Option<TimestampMs>,
    /// When a model was last told of it.
    pub last_told_at: Option<TimestampMs>,
    /// Days after which retention has fallen to 1/e (Ebbinghaus; it grows with each use).
    pub stability_days: f64,
}

/// One memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Ids sort by when memories were made.
    pub id: MemoryId,
    /// Counts the changes of this record, uses apart. The first is 1.
    pub revision: u32,
    /// What is remembered.
    pub content: String,
    /// Its tier.
    pub priority: MemoryPriority,
    /// 1 (trivial) to 5 (to ignore it causes serious trouble).
    pub importance: u8,
    /// Its kind.
    pub category: MemoryCategory,
    /// Words to find it by: lower case, sorted, each once.
    pub tags: Vec<String>,
    /// Where it is told.
    pub scope: MemoryScope,
    /// What has become of it.
    pub status: MemoryStatus,
    /// It does not age.
    pub pinned: bool,
    /// When it ends to hold, or when a reminder is due.
    pub expires_at: Option<TimestampMs>,
    /// When it was made.
    pub created_at: TimestampMs,
    /// When it was last changed, uses and what the daemon moves to other tiers apart.
    pub changed_at: TimestampMs,
    /// When it came into its tier.
    pub tier_since: TimestampMs,
    /// How it has helped.
    pub usage: MemoryUse,
    /// Where it is from.
    pub origin: MemoryOrigin,
    /// Memories that the daemon made it of. One that waits takes their place when it is confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<MemoryId>,
}

impl Memory {
    /// Most characters of the content.
    pub const MAX_CONTENT: usize = 2000;
    /// Most tags.
    pub const MAX_TAGS: usize = 16;
    /// Most characters of a tag.
    pub const MAX_TAG: usize = 40;
    /// Importance when none is given (spec b.1.2).
    pub const DEFAULT_IMPORTANCE: u8 = 3;

    /// True while it holds and may be told.
    pub fn is_active(&self) -> bool {
        self.status == MemoryStatus::Active
    }
}

/// Why memories were changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryChangeKind {
    /// One was added.
    Added,
    /// A text was added to one that says the same.
    Merged,
    /// Somebody edited one.
    Edited,
    /// A newer one took the place of an older.
    Superseded,
    /// One was confirmed by a user.
    Confirmed,
    /// One was taken back.
    Forgotten,
    /// Some aged.
    Decayed,
    /// The time of some was over.
    Expired,
    /// A model moved some to other tiers.
    Adjusted,
    /// An earlier change was taken back.
    Undone,
}

/// One change, whole or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryChange {
    /// Ids sort by time.
    pub id: MemoryChangeId,
    /// When.
    pub at: TimestampMs,
    /// Why.
    pub kind: MemoryChangeKind,
    /// Who.
    pub author: MemoryAuthor,
    /// What was changed.
    pub edits: Vec<MemoryEdit>,
    /// The change that took this one back.
    #[serde(default)]
    pub undone_by: Option<MemoryChangeId>,
}

/// A record before and after a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryEdit {
    /// None when the change made it.
    pub before: Option<Memory>,
    /// None when the change removed it.
    pub after: Option<Memory>,
}

impl MemoryEdit {
    /// The record that it is about.
    pub fn id(&self) -> Option<MemoryId> {
        self.after.as_ref().or(self.before.as_ref()).map(|memory| memory.id)
    }
}

/// Where a memory that a model brings is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoryReach {
    /// In the sessions of this workspace.
    Workspace,
    /// In all sessions.
    #[default]
    Everywhere,
}

/// What a call asks of the memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryCommand {
    /// Something is to be remembered.
    Add {
        /// What.
        content: String,
        /// Its kind.
        category: MemoryCategory,
        /// Its tier; none: by its kind.
        priority: Option<MemoryPriority>,
        /// 1 to 5; none: the usual.
        importance: Option<u8>,
        /// Words to find it by.
        tags: Vec<String>,
        /// Where it is told.
        reach: MemoryReach,
        /// When it ends, or is due.
        expires_at: Option<TimestampMs>,
    },
    /// What is known of this?
    Search {
        /// Words.
        text: String,
    },
    /// What is known at all?
    List,
    /// A memory is to say something else from now on.
    Update {
        /// Its id, or the end of it.
        id: String,
        /// What it says now; none: the same.
        content: Option<String>,
        /// Its tier; none: the same.
        priority: Option<MemoryPriority>,
        /// 1 to 5; none: the same.
        importance: Option<u8>,
        /// When it ends, or is due; none: the same.
        expires_at: Option<TimestampMs>,
    },
    /// A memory holds no longer.
    Forget {
        /// Its id, or the end of it.
        id: String,
    },
}

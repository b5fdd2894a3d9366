//! What is asked to be remembered, and what makes it acceptable. Every path comes through here: the
//! model's tool, users, imports and extraction.

use std::collections::BTreeSet;

use agentd_domain::{
    Memory, MemoryCategory, MemoryId, MemoryOrigin, MemoryPriority, MemoryScope, MemoryStatus,
    MemoryUse, TimestampMs,
};

use crate::{DecayConfig, MemoryError, secret};

/// Whether somebody stands behind a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vouched {
    /// It is a user's own word, or follows from it.
    Yes,
    /// It may come from a page or a file. It waits until a user confirms it.
    No,
}

/// A memory to be.
#[derive(Debug, Clone)]
pub struct NewMemory {
    /// What to remember.
    pub content: String,
    /// Its tier; none: medium (spec b.1.2).
    pub priority: Option<MemoryPriority>,
    /// 1 to 5; none: 3.
    pub importance: Option<u8>,
    /// Its kind.
    pub category: MemoryCategory,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Where it is told.
    pub scope: MemoryScope,
    /// It does not age.
    pub pinned: bool,
    /// When it ends to hold, or when a reminder is due.
    pub expires_at: Option<TimestampMs>,
    /// Where it is from.
    pub origin: MemoryOrigin,
    /// Whether it may be told at once.
    pub vouched: Vouched,
}

/// Changes of a memory; none: as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryPatch {
    /// What is remembered.
    pub content: Option<String>,
    /// Its tier.
    pub priority: Option<MemoryPriority>,
    /// 1 to 5.
    pub importance: Option<u8>,
    /// Its kind.
    pub category: Option<MemoryCategory>,
    /// All its tags.
    pub tags: Option<Vec<String>>,
    /// It does not age.
    pub pinned: Option<bool>,
    /// When it ends to hold; `Some(None)`: never.
    pub expires_at: Option<Option<TimestampMs>>,
}

impl NewMemory {
    /// The record, if everything is as it must be.
    ///
    /// # Errors
    /// Names the field and what is wrong with it.
    pub(crate) fn check(
        self,
        id: MemoryId,
        now: TimestampMs,
        stability_days: f64,
    ) -> Result<Memory, MemoryError> {
        let memory = Memory {
            id,
            revision: 1,
            content: check_content(&self.content)?,
            priority: self.priority.unwrap_or_default(),
            importance: check_importance(self.importance.unwrap_or(Memory::DEFAULT_IMPORTANCE))?,
            category: self.category,
            tags: check_tags(&self.tags)?,
            scope: self.scope,
            status: match self.vouched {
                Vouched::Yes => MemoryStatus::Active,
                Vouched::No => MemoryStatus::Quarantined,
            },
            pinned: self.pinned,
            expires_at: self.expires_at,
            created_at: now,
            changed_at: now,
            tier_since: now,
            usage: MemoryUse { uses: 0, last_used_at: None, last_told_at: None, stability_days },
            origin: self.origin,
            sources: Vec::new(),
        };
        check_times(&memory, now)?;
        Ok(memory)
    }
}

impl MemoryPatch {
    /// The record with the changes, if everything is as it must be. Its revision is the caller's.
    ///
    /// # Errors
    /// Names the field and what is wrong with it.
    pub(crate) fn apply(self, memory: &Memory, now: TimestampMs) -> Result<Memory, MemoryError> {
        let mut memory = memory.clone();
        if let Some(content) = self.content {
            memory.content = check_content(&content)?;
        }
        if let Some(priority) = self.priority.filter(|priority| *priority != memory.priority) {
            memory.priority = priority;
            memory.tier_since = now;
        }
        if let Some(importance) = self.importance {
            memory.importance = check_importance(importance)?;
        }
        let was_reminder = memory.category == MemoryCategory::Reminder;
        memory.category = self.category.unwrap_or(memory.category);
        let is_reminder = memory.category == MemoryCategory::Reminder;
        if was_reminder && !is_reminder {
            // Reminders do not age.
            memory.tier_since = now;
        }
        if let Some(tags) = self.tags {
            memory.tags = check_tags(&tags)?;
        }
        if let Some(pinned) = self.pinned {
            if memory.pinned && !pinned {
                // The time it was pinned does not count.
                memory.tier_since = now;
            }
            memory.pinned = pinned;
        }
        if let Some(expires_at) = self.expires_at {
            memory.expires_at = expires_at;
        }
        if self.expires_at.is_some() || is_reminder != was_reminder {
            check_times(&memory, now)?;
        }
        Ok(memory)
    }
}

/// A record that was written elsewhere, if everything is as it must be. Times that have not come yet and
/// stabilities that no memory can have are put right.
///
/// # Errors
/// Names the field and what is wrong with it.
pub(crate) fn check_record(
    record: Memory,
    now: TimestampMs,
    decay: &DecayConfig,
) -> Result<Memory, MemoryError> {
    let vouched = match &record.status {
        MemoryStatus::Active => Vouched::Yes,
        MemoryStatus::Quarantined => Vouched::No,
        other => {
            let problem = format!("it is {}; only what holds or waits is taken in", other.name());
            return Err(field("status", problem));
        }
    };
    let new = NewMemory {
        content: record.content,
        priority: Some(record.priority),
        importance: Some(record.importance),
        category: record.category,
        tags: record.tags,
        scope: record.scope,
        pinned: record.pinned,
        expires_at: record.expires_at,
        origin: record.origin,
        vouched,
    };
    let checked = new.check(record.id, now, decay.stability_days)?;
    let MemoryUse { uses, last_used_at, last_told_at, stability_days } = record.usage;
    let stability_days = if stability_days.is_finite() {
        stability_days
            .clamp(decay.stability_days, decay.max_stability_days.max(decay.stability_days))
    } else {
        decay.stability_days
    };
    let usage = MemoryUse {
        uses,
        last_used_at: last_used_at.map(|at| at.min(now)),
        last_told_at: last_told_at.map(|at| at.min(now)),
        stability_days,
    };
    let created_at = record.created_at.min(now);
    Ok(Memory { created_at, tier_since: record.tier_since.min(now), usage, ..checked })
}

fn field(field: &'static str, problem: impl Into<String>) -> MemoryError {
    MemoryError::Field { field, problem: problem.into() }
}

fn check_content(text: &str) -> Result<String, MemoryError> {
    let kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(kept).collect();
    let text = text.trim();
    if text.is_empty() {
        return Err(field("content", "it is blank; say what to remember"));
    }
    let length = text.chars().count();
    if length > Memory::MAX_CONTENT {
        return Err(field(
            "content",
            format!(
                "it has {length} characters, at most {} are kept; shorten it, or make several \
                 memories of it",
                Memory::MAX_CONTENT
            ),
        ));
    }
    match secret::found(text) {
        Some(what) => Err(MemoryError::Secret { what }),
        None => Ok(text.to_owned()),
    }
}

fn check_importance(importance: u8) -> Result<u8, MemoryError> {
    if (1..=5).contains(&importance) {
        Ok(importance)
    } else {
        Err(field("importance", format!("{importance} is not between 1 and 5")))
    }
}

fn check_tags(tags: &[String]) -> Result<Vec<String>, MemoryError> {
    let mut kept = BTreeSet::new();
    for tag in tags {
        if let Some(what) = secret::found(tag) {
            return Err(MemoryError::Secret { what });
        }
        let clean: String = tag.trim().to_lowercase();
        let length = clean.chars().count();
        if length == 0 || clean.contains(|c: char| c.is_control() || c == ',') {
            return Err(field("tags", "a tag is blank, or holds a comma or a line break"));
        }
        if length > Memory::MAX_TAG {
            return Err(field(
                "tags",
                format!("a tag has {length} characters; at most {} are kept", Memory::MAX_TAG),
            ));
        }
        kept.insert(clean);
    }
    if kept.len() > Memory::MAX_TAGS {
        return Err(field(
            "tags",
            format!("there are {}; at most {} are kept", kept.len(), Memory::MAX_TAGS),
        ));
    }
    Ok(kept.into_iter().collect())
}

fn check_times(memory: &Memory, now: TimestampMs) -> Result<(), MemoryError> {
    match memory.expires_at {
        Some(at) if at <= now => Err(field("expires_at", "it is not in the future")),
        None if memory.category == MemoryCategory::Reminder => {
            Err(field("expires_at", "a reminder needs the time at which it is due"))
        }
        _ => Ok(()),
    }
}

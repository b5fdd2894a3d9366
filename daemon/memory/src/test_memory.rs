//! A memory for tests.

use agentd_domain::{
    Memory, MemoryAuthor, MemoryCategory, MemoryId, MemoryOrigin, MemoryPriority, MemoryScope,
    MemoryStatus, MemoryUse, TimestampMs,
};

/// The memory with the number `n`, made at the beginning of time.
pub(crate) fn memory(n: u128, content: &str) -> Memory {
    Memory {
        id: MemoryId::from_parts(0, n),
        revision: 1,
        content: content.to_owned(),
        priority: MemoryPriority::Medium,
        importance: Memory::DEFAULT_IMPORTANCE,
        category: MemoryCategory::General,
        tags: Vec::new(),
        scope: MemoryScope::User,
        status: MemoryStatus::Active,
        pinned: false,
        expires_at: None,
        created_at: TimestampMs(0),
        changed_at: TimestampMs(0),
        tier_since: TimestampMs(0),
        usage: MemoryUse { uses: 0, last_used_at: None, last_told_at: None, stability_days: 30.0 },
        origin: MemoryOrigin { author: MemoryAuthor::Model, session_id: None, seq: None },
        sources: Vec::new(),
    }
}

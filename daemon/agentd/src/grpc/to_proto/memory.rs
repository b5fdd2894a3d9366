//! Memories and their changes.

use agentd_domain::{
    Consolidation, Memory, MemoryAuthor, MemoryCategory, MemoryChange, MemoryChangeKind,
    MemoryEdit, MemoryId, MemoryOrigin, MemoryPriority, MemoryScope, MemoryStatus, MemoryUse,
    TimestampMs,
};
use agentd_memory::{Added, Fate};
use agentd_proto::v1;
use agentd_proto::v1::memory_author::By;
use agentd_proto::v1::memory_scope::Scope;

use super::item;

/// Memories that are told of one change.
const MAX_EDITS: usize = 50;

pub(crate) fn memory_priority(priority: MemoryPriority) -> v1::MemoryPriority {
    match priority {
        MemoryPriority::Critical => v1::MemoryPriority::Critical,
        MemoryPriority::High => v1::MemoryPriority::High,
        MemoryPriority::Medium => v1::MemoryPriority::Medium,
        MemoryPriority::Low => v1::MemoryPriority::Low,
    }
}

pub(crate) fn memory_category(category: MemoryCategory) -> v1::MemoryCategory {
    match category {
        MemoryCategory::Instruction => v1::MemoryCategory::Instruction,
        MemoryCategory::Preference => v1::MemoryCategory::Preference,
        MemoryCategory::Fact => v1::MemoryCategory::Fact,
        MemoryCategory::Reminder => v1::MemoryCategory::Reminder,
        MemoryCategory::General => v1::MemoryCategory::General,
        MemoryCategory::Reflection => v1::MemoryCategory::Reflection,
    }
}

pub(crate) fn memory_status(status: &MemoryStatus) -> v1::MemoryStatus {
    match status {
        MemoryStatus::Active => v1::MemoryStatus::Active,
        MemoryStatus::Quarantined => v1::MemoryStatus::Quarantined,
        MemoryStatus::Forgotten => v1::MemoryStatus::Forgotten,
        MemoryStatus::Merged { .. } => v1::MemoryStatus::Merged,
        MemoryStatus::Superseded { .. } => v1::MemoryStatus::Superseded,
        MemoryStatus::Expired => v1::MemoryStatus::Expired,
        MemoryStatus::Displaced => v1::MemoryStatus::Displaced,
        MemoryStatus::Faded => v1::MemoryStatus::Faded,
    }
}

/// By the name of the status alone, as counts have it.
pub(crate) fn memory_status_named(name: &str) -> v1::MemoryStatus {
    let name = format!("MEMORY_STATUS_{}", name.to_uppercase());
    v1::MemoryStatus::from_str_name(&name).unwrap_or_default()
}

pub(crate) fn memory_scope(scope: &MemoryScope) -> v1::MemoryScope {
    let scope = match scope {
        MemoryScope::User => None,
        MemoryScope::Workspace { root } => Some(Scope::Workspace(root.clone())),
        MemoryScope::Agent { name } => Some(Scope::Agent(name.clone())),
    };
    v1::MemoryScope { scope }
}

fn author(author: &MemoryAuthor) -> v1::MemoryAuthor {
    let by = match author {
        MemoryAuthor::User { author } => Some(By::User(item::author(author))),
        MemoryAuthor::Model => Some(By::Model(true)),
        MemoryAuthor::Extraction => Some(By::Extraction(true)),
        MemoryAuthor::Import { from } => Some(By::ImportFrom(from.clone())),
        MemoryAuthor::Daemon => None,
    };
    v1::MemoryAuthor { by }
}

fn replaced_by(status: &MemoryStatus) -> Option<MemoryId> {
    match status {
        MemoryStatus::Merged { into } => Some(*into),
        MemoryStatus::Superseded { by } => Some(*by),
        MemoryStatus::Active
        | MemoryStatus::Quarantined
        | MemoryStatus::Forgotten
        | MemoryStatus::Expired
        | MemoryStatus::Displaced
        | MemoryStatus::Faded => None,
    }
}

fn time(at: Option<TimestampMs>) -> i64 {
    at.map_or(0, |at| at.0)
}

pub(crate) fn memory(memory: &Memory) -> v1::Memory {
    let Memory {
        id,
        revision,
        content,
        priority,
        importance,
        category,
        tags,
        scope,
        status,
        pinned,
        expires_at,
        created_at,
        changed_at,
        tier_since,
        usage,
        origin,
        sources,
    } = memory;
    let MemoryUse { uses, last_used_at, last_told_at, stability_days } = *usage;
    let MemoryOrigin { author: by, session_id, seq } = origin;
    v1::Memory {
        memory_id: id.to_string(),
        revision: *revision,
        content: content.clone(),
        priority: memory_priority(*priority).into(),
        importance: u32::from(*importance),
        category: memory_category(*category).into(),
        tags: tags.clone(),
        scope: Some(memory_scope(scope)),
        status: memory_status(status).into(),
        replaced_by: replaced_by(status).map(|id| id.to_string()).unwrap_or_default(),
        pinned: *pinned,
        expires_at_ms: time(*expires_at),
        created_at_ms: created_at.0,
        changed_at_ms: changed_at.0,
        tier_since_ms: tier_since.0,
        uses,
        last_used_at_ms: time(last_used_at),
        last_told_at_ms: time(last_told_at),
        stability_days,
        author: Some(author(by)),
        session_id: session_id.map(|id| id.to_string()).unwrap_or_default(),
        seq: seq.map_or(0, |seq| seq.0),
        source_ids: sources.iter().map(ToString::to_string).collect(),
    }
}

pub(crate) fn memory_consolidation(done: &Consolidation) -> v1::MemoryConsolidation {
    let Consolidation { at, merged, compared, superseded, proposed, adjusted, reflected, skipped } =
        done;
    v1::MemoryConsolidation {
        at_ms: at.0,
        merged: *merged,
        compared: *compared,
        superseded: *superseded,
        proposed: *proposed,
        adjusted: *adjusted,
        reflected: *reflected,
        skipped: skipped.clone(),
    }
}

pub(crate) fn memory_step((at, fate): (TimestampMs, Fate)) -> v1::MemoryStep {
    let falls_to = match fate {
        Fate::Falls(priority) => memory_priority(priority),
        Fate::Fades => v1::MemoryPriority::Unspecified,
    };
    v1::MemoryStep { at_ms: at.0, falls_to: falls_to.into() }
}

pub(crate) fn added_memory(added: Added) -> v1::AddedMemory {
    match added {
        Added::New(_) => v1::AddedMemory::New,
        Added::Quarantined(_) => v1::AddedMemory::Quarantined,
        Added::MergedInto(_) => v1::AddedMemory::Merged,
        Added::Known(_) => v1::AddedMemory::Known,
    }
}

pub(crate) fn memory_edit(edit: &MemoryEdit) -> v1::MemoryEdit {
    let MemoryEdit { before, after } = edit;
    v1::MemoryEdit { before: before.as_ref().map(memory), after: after.as_ref().map(memory) }
}

/// A change, with what it did to one memory or to all.
pub(crate) fn memory_change(change: &MemoryChange, of: Option<MemoryId>) -> v1::MemoryChange {
    let MemoryChange { id, at, kind, author: by, edits, undone_by } = change;
    let kind = match kind {
        MemoryChangeKind::Added => v1::MemoryChangeKind::Added,
        MemoryChangeKind::Merged => v1::MemoryChangeKind::Merged,
        MemoryChangeKind::Edited => v1::MemoryChangeKind::Edited,
        MemoryChangeKind::Superseded => v1::MemoryChangeKind::Superseded,
        MemoryChangeKind::Confirmed => v1::MemoryChangeKind::Confirmed,
        MemoryChangeKind::Forgotten => v1::MemoryChangeKind::Forgotten,
        MemoryChangeKind::Decayed => v1::MemoryChangeKind::Decayed,
        MemoryChangeKind::Expired => v1::MemoryChangeKind::Expired,
        MemoryChangeKind::Adjusted => v1::MemoryChangeKind::Adjusted,
        MemoryChangeKind::Undone => v1::MemoryChangeKind::Undone,
    };
    let told = edits.iter().filter(|edit| of.is_none_or(|id| edit.id() == Some(id)));
    v1::MemoryChange {
        change_id: id.to_string(),
        at_ms: at.0,
        kind: kind.into(),
        author: Some(author(by)),
        undone_by: undone_by.map(|id| id.to_string()).unwrap_or_default(),
        edits: told.take(MAX_EDITS).map(memory_edit).collect(),
        edit_count: super::small(edits.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_known_by_its_name() {
        let id = MemoryId::from_parts(1, 2);
        for status in [
            MemoryStatus::Active,
            MemoryStatus::Quarantined,
            MemoryStatus::Forgotten,
            MemoryStatus::Merged { into: id },
            MemoryStatus::Superseded { by: id },
            MemoryStatus::Expired,
            MemoryStatus::Displaced,
            MemoryStatus::Faded,
        ] {
            assert_eq!(memory_status_named(status.name()), memory_status(&status));
        }
    }

    #[test]
    fn a_memory_is_told_whole() {
        let author = agentd_domain::Author { client_id: "id".to_owned(), name: "ann".to_owned() };
        let at = TimestampMs;
        let told = memory(&Memory {
            id: MemoryId::from_parts(1, 2),
            revision: 3,
            content: "likes tea".to_owned(),
            priority: MemoryPriority::High,
            importance: 4,
            category: MemoryCategory::Preference,
            tags: vec!["drinks".to_owned()],
            scope: MemoryScope::Agent { name: "reviewer".to_owned() },
            status: MemoryStatus::Superseded { by: MemoryId::from_parts(5, 6) },
            pinned: true,
            expires_at: Some(at(7)),
            created_at: at(8),
            changed_at: at(9),
            tier_since: at(10),
            usage: MemoryUse {
                uses: 11,
                last_used_at: Some(at(12)),
                last_told_at: None,
                stability_days: 13.0,
            },
            origin: MemoryOrigin {
                author: MemoryAuthor::User { author },
                session_id: Some(agentd_domain::SessionId::from_parts(14, 15)),
                seq: Some(agentd_domain::Seq(16)),
            },
            sources: vec![MemoryId::from_parts(17, 18)],
        });
        let expect = v1::Memory {
            memory_id: MemoryId::from_parts(1, 2).to_string(),
            revision: 3,
            content: "likes tea".to_owned(),
            priority: v1::MemoryPriority::High.into(),
            importance: 4,
            category: v1::MemoryCategory::Preference.into(),
            tags: vec!["drinks".to_owned()],
            scope: Some(v1::MemoryScope { scope: Some(Scope::Agent("reviewer".to_owned())) }),
            status: v1::MemoryStatus::Superseded.into(),
            replaced_by: MemoryId::from_parts(5, 6).to_string(),
            pinned: true,
            expires_at_ms: 7,
            created_at_ms: 8,
            changed_at_ms: 9,
            tier_since_ms: 10,
            uses: 11,
            last_used_at_ms: 12,
            last_told_at_ms: 0,
            stability_days: 13.0,
            author: Some(v1::MemoryAuthor {
                by: Some(By::User(v1::Author {
                    client_id: "id".to_owned(),
                    name: "ann".to_owned(),
                })),
            }),
            session_id: agentd_domain::SessionId::from_parts(14, 15).to_string(),
            seq: 16,
            source_ids: vec![MemoryId::from_parts(17, 18).to_string()],
        };
        assert_eq!(told, expect);
    }
}

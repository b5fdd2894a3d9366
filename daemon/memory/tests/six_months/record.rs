//! What has happened each month, counted by looking at the records day by day.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use agentd_domain::{Memory, MemoryId, MemoryPriority, MemoryStatus};
use agentd_memory::Added;

/// One month.
#[derive(Debug, Clone, Default)]
pub(crate) struct Month {
    pub(crate) name: String,
    pub(crate) told: u32,
    pub(crate) added: u32,
    pub(crate) merged: u32,
    pub(crate) superseded: u32,
    pub(crate) demoted: u32,
    pub(crate) expired: u32,
    pub(crate) faded: u32,
    pub(crate) forgotten: u32,
    pub(crate) removed: u32,
    /// By tier, at its end.
    pub(crate) held: [u32; 4],
}

impl Month {
    pub(crate) fn tell(&mut self, added: Added) {
        self.told += 1;
        self.added += u32::from(matches!(added, Added::New(_) | Added::Quarantined(_)));
    }

    /// Counts what differs between the end of a day and the end of the day before.
    pub(crate) fn look(&mut self, before: &BTreeMap<MemoryId, Memory>, now: &[Memory]) {
        self.held = [0; 4];
        for memory in now {
            let was = before.get(&memory.id);
            if memory.is_active() {
                self.held[usize::from(memory.priority.level())] += 1;
            }
            let fell = |was: &Memory| was.priority < memory.priority;
            self.demoted += u32::from(was.is_some_and(fell) && memory.is_active());
            if was.is_some_and(|was| was.status.name() == memory.status.name()) {
                continue;
            }
            match memory.status {
                MemoryStatus::Merged { .. } => self.merged += 1,
                MemoryStatus::Superseded { .. } => self.superseded += 1,
                MemoryStatus::Expired => self.expired += 1,
                MemoryStatus::Faded => self.faded += 1,
                MemoryStatus::Forgotten => self.forgotten += 1,
                MemoryStatus::Active | MemoryStatus::Quarantined | MemoryStatus::Displaced => {}
            }
        }
        let left = |id: &&MemoryId| !now.iter().any(|it| it.id == **id);
        self.removed += u32::try_from(before.keys().filter(left).count()).unwrap();
    }
}

/// The months as a table in Markdown.
pub(crate) fn table(months: &[Month]) -> String {
    let tiers = MemoryPriority::ALL.map(MemoryPriority::name).join(" / ");
    let mut table = format!(
        "| month | told | added | merged | superseded | demoted | expired | faded | forgotten | removed | held: {tiers} |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n"
    );
    for month in months {
        let Month {
            name,
            told,
            added,
            merged,
            superseded,
            demoted,
            expired,
            faded,
            forgotten,
            removed,
            held,
        } = month;
        let held = held.map(|count| count.to_string()).join(" / ");
        let _infallible = writeln!(
            table,
            "| {name} | {told} | {added} | {merged} | {superseded} | {demoted} | {expired} | {faded} | {forgotten} | {removed} | {held} |"
        );
    }
    table
}

//! How memories are told to a model (spec b.10).

use agentd_domain::{Memory, MemoryCategory, MemoryId, MemoryPriority};

/// Characters of an id's end by which the model may name a memory.
const ID_END: usize = 8;

/// The block of lines for a model; empty without memories. `known` is how many could have been told.
pub fn told<'a>(memories: impl IntoIterator<Item = &'a Memory>, known: usize) -> String {
    let lines: Vec<String> = memories.into_iter().map(told_line).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "[What you remember from earlier, {} of {known}. Follow what is marked so; the rest is \
         background and may be out of date: what the user says now comes first. Do not speak of this \
         list.]\n{}",
        lines.len(),
        lines.join("\n")
    )
}

/// Takes back what was told; empty without memories.
pub fn told_withdrawn(ids: &[MemoryId]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let ends: Vec<String> = ids.iter().map(|id| id_end(*id)).collect();
    format!("[No longer holds, and is not to be followed: [{}]]", ends.join("], ["))
}

/// One memory as a line, with the end of its id.
pub fn told_line(memory: &Memory) -> String {
    let mark = match (memory.priority, memory.category) {
        (MemoryPriority::Critical, _) => "!!! must follow:".to_owned(),
        (_, MemoryCategory::Reminder) => match memory.expires_at {
            Some(at) => format!("⏰ reminder (until {}):", utc(at.0)),
            None => "⏰ reminder:".to_owned(),
        },
        (_, MemoryCategory::Preference) => "💡".to_owned(),
        (_, MemoryCategory::Fact) => "📌".to_owned(),
        _ => "📎".to_owned(),
    };
    let text = memory.content.lines().map(str::trim).collect::<Vec<_>>().join(" / ");
    format!("{mark} {text} [{}]", id_end(memory.id))
}

/// The end of an id, by which people and models may name a memory.
pub fn id_end(id: MemoryId) -> String {
    let id = id.to_string();
    id.get(id.len().saturating_sub(ID_END)..).unwrap_or(&id).to_owned()
}

fn utc(at_ms: i64) -> String {
    let minutes = at_ms.div_euclid(60_000);
    let day = agentd_domain::Day::of(agentd_domain::TimestampMs(at_ms));
    let minute = minutes.rem_euclid(24 * 60);
    format!("{day} {:02}:{:02} UTC", minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use agentd_domain::TimestampMs;

    use super::*;
    use crate::test_memory::memory;

    #[test]
    fn each_kind_has_its_mark() {
        use MemoryCategory as C;
        use MemoryPriority as P;
        let line = |priority, category| {
            let expires_at = Some(TimestampMs(1_796_054_400_000));
            told_line(&Memory { priority, category, expires_at, ..memory(7, "a\nb") })
        };
        assert_eq!(line(P::Critical, C::Instruction), "!!! must follow: a / b [00000007]");
        assert_eq!(
            line(P::High, C::Reminder),
            "⏰ reminder (until 2026-11-30 16:00 UTC): a / b [00000007]"
        );
        assert_eq!(line(P::High, C::Preference), "💡 a / b [00000007]");
        assert_eq!(line(P::Medium, C::Fact), "📌 a / b [00000007]");
        assert_eq!(line(P::Low, C::General), "📎 a / b [00000007]");
        assert_eq!(told([], 3), "");
    }
}

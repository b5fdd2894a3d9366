use proptest::prelude::*;

use super::*;
use crate::test_memory::memory;

const DAY: i64 = 86_400_000;

fn pool(memories: &[Memory]) -> impl Iterator<Item = Candidate> {
    memories.iter().map(|memory| Candidate { card: Card::of(memory), relevance: NOTHING_SAID })
}

fn with(n: u128, priority: MemoryPriority) -> Memory {
    Memory { priority, ..memory(n, "text") }
}

#[test]
fn w0_1_of_too_many_critical_ones_the_newest_are_told() {
    let memories: Vec<_> = (0_u8..15)
        .map(|n| Memory {
            tier_since: TimestampMs(i64::from(n)),
            // Told lately, which must not matter.
            usage: agentd_domain::MemoryUse {
                last_told_at: Some(TimestampMs(100 - i64::from(n))),
                ..memory(0, "").usage
            },
            ..with(u128::from(n), MemoryPriority::Critical)
        })
        .collect();
    let chosen = select(pool(&memories), TimestampMs(100), &SelectConfig::default());
    let ids: Vec<_> = chosen.iter().map(|chosen| chosen.id).collect();
    let newest: Vec<_> = memories.iter().rev().take(10).map(|memory| memory.id).collect();
    assert_eq!(ids, newest);
}

#[test]
fn w0_2_no_number_of_high_ones_keeps_the_others_out() {
    let mut memories: Vec<_> = (0..500).map(|n| with(n, MemoryPriority::High)).collect();
    memories.extend((500..510).map(|n| with(n, MemoryPriority::Medium)));
    memories.extend((510..520).map(|n| with(n, MemoryPriority::Low)));
    let chosen = select(pool(&memories), TimestampMs(0), &SelectConfig::default());
    let of = |from: u128, until: u128| {
        let ids = from..until;
        let is_one =
            |chosen: &&Chosen| ids.clone().any(|n| chosen.id == MemoryId::from_parts(0, n));
        chosen.iter().filter(is_one).count()
    };
    assert_eq!((chosen.len(), of(500, 510), of(510, 520)), (30, 2, 1));
}

#[test]
fn w0_3_what_is_new_is_recent_and_what_was_told_is_not() {
    let old = memory(1, "x");
    let told = Memory {
        usage: agentd_domain::MemoryUse { last_told_at: Some(TimestampMs(200 * DAY)), ..old.usage },
        ..old.clone()
    };
    let new = Memory { created_at: TimestampMs(199 * DAY), ..old.clone() };
    let now = TimestampMs(200 * DAY);
    let score = |memory: &Memory| score(Candidate { card: Card::of(memory), relevance: 1.0 }, now);
    assert_eq!(score(&old).to_bits(), score(&told).to_bits());
    assert!(score(&new) > 3.0 * score(&old));
    // Not by whole days: 47 hours are more than one.
    let in_47_hours = TimestampMs(199 * DAY + 47 * 3_600_000);
    assert!(recency(Card::of(&new), in_47_hours) < 1.0);
}

#[test]
fn w0_2_long_rules_leave_room_to_the_other_tiers() {
    let long = "x".repeat(800);
    let of = |n: u128, priority| Memory { priority, ..memory(n, &long) };
    let mut memories: Vec<_> = (0..10).map(|n| of(n, MemoryPriority::Critical)).collect();
    memories.push(of(20, MemoryPriority::High));
    memories.push(of(21, MemoryPriority::Medium));
    memories.push(of(22, MemoryPriority::Low));
    let chosen = select(pool(&memories), TimestampMs(0), &SelectConfig::default());
    let others = chosen.iter().filter(|it| it.because == Because::Quota).count();
    assert_eq!((chosen.len(), others), (10, 3));
}

proptest! {
    #[test]
    fn selection_respects_quotas_and_limits_for_any_pool(
        made in prop::collection::vec((0_u8..4, 1_u8..6, 0_i64..400, 0_usize..3000, 0.1_f32..1.0), 0..120),
        max in 0_usize..40,
    ) {
        let memories: Vec<_> = made
            .iter()
            .zip(0_u128..)
            .map(|((level, importance, day, bytes, _), n)| Memory {
                priority: MemoryPriority::of_level(*level).unwrap(),
                importance: *importance,
                created_at: TimestampMs(day * DAY),
                tier_since: TimestampMs(day * DAY),
                ..memory(n, &"x".repeat(*bytes))
            })
            .collect();
        let relevance = |n: usize| made[n].4;
        let pool = memories
            .iter()
            .enumerate()
            .map(|(n, memory)| Candidate { card: Card::of(memory), relevance: relevance(n) });
        let config = SelectConfig { max, ..SelectConfig::default() };
        let chosen = select(pool, TimestampMs(400 * DAY), &config);
        let by_id = |id| memories.iter().find(|memory| memory.id == id).unwrap();
        let of = |level: u8| {
            chosen.iter().filter(|it| by_id(it.id).priority.level() == level).count()
        };
        let bytes: usize = chosen.iter().map(|it| by_id(it.id).content.len()).sum();
        let ids: std::collections::BTreeSet<_> = chosen.iter().map(|it| it.id).collect();
        prop_assert_eq!(ids.len(), chosen.len());
        prop_assert!(chosen.len() <= max && bytes <= config.max_bytes && of(0) <= 10);
        // A tier has its quota, or all it has, or there was no room for one of its memories.
        let there = |level: u8| made.iter().filter(|it| it.0 == level).count();
        for (level, quota) in [(1, 3), (2, 2), (3, 1)] {
            let is_full = chosen.len() == max;
            let smallest = memories
                .iter()
                .filter(|it| it.priority.level() == level && !ids.contains(&it.id))
                .map(|it| it.content.len())
                .min();
            let no_room = smallest.is_none_or(|least| bytes + least > config.max_bytes);
            prop_assert!(of(level) >= quota.min(there(level)) || is_full || no_room);
        }
    }
}

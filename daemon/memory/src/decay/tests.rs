use proptest::prelude::*;

use super::*;
use crate::test_memory::memory;

const DAY: i64 = 86_400_000;

fn on_day(day: i64) -> TimestampMs {
    TimestampMs(day * DAY)
}

fn settle(memory: Memory, now: TimestampMs) -> Memory {
    aged(&memory, now, &DecayConfig::default()).unwrap_or(memory)
}

fn use_it(memory: Memory, now: TimestampMs) -> Memory {
    let memory = settle(memory, now);
    let usage = used(&memory, now, &DecayConfig::default());
    Memory { usage, ..memory }
}

#[test]
fn w0_5_a_step_starts_the_clock_of_the_next_one() {
    let mut critical = memory(1, "always answer in French");
    critical.priority = MemoryPriority::Critical;
    let tiers: Vec<_> = [29, 30, 89, 90, 179, 180, 359, 360]
        .map(|day| {
            let memory = settle(critical.clone(), on_day(day));
            (day, memory.priority.name(), memory.status.name())
        })
        .into();
    let expect = [
        (29, "critical", "active"),
        (30, "high", "active"),
        (89, "high", "active"),
        (90, "medium", "active"),
        (179, "medium", "active"),
        (180, "low", "active"),
        (359, "low", "active"),
        (360, "low", "faded"),
    ];
    assert_eq!(tiers, expect);
    let steps = forecast(&critical, &DecayConfig::default());
    let days: Vec<_> = steps.iter().map(|(at, _fate)| at.0 / DAY).collect();
    assert_eq!(days, [30, 90, 180, 360]);
}

#[test]
fn what_is_pinned_and_what_waits_for_its_time_does_not_age() {
    let pinned = Memory { pinned: true, ..memory(1, "x") };
    let reminder = Memory { category: MemoryCategory::Reminder, ..memory(1, "x") };
    for still in [pinned, reminder] {
        assert_eq!(settle(still.clone(), on_day(10_000)), still);
        assert_eq!(forecast(&still, &DecayConfig::default()), []);
    }
}

#[test]
fn a_use_after_a_while_makes_more_stable_than_many_at_once() {
    let many = (0..50).fold(memory(1, "x"), |memory, _| use_it(memory, on_day(1)));
    let spaced = [10, 30, 60].into_iter().fold(memory(1, "x"), |m, day| use_it(m, on_day(day)));
    assert!(many.usage.stability_days < 32.0, "{many:?}");
    assert!(spaced.usage.stability_days > 75.0, "{spaced:?}");
    assert_eq!((many.usage.uses, spaced.usage.uses), (50, 3));
}

proptest! {
    /// Looks at any times between change nothing, and time never lifts a memory.
    #[test]
    fn decay_is_monotone_idempotent_and_independent_of_how_often_it_runs(
        level in 0_u8..4,
        uses in prop::collection::vec(0_i64..900, 0..6),
        looks in prop::collection::vec(0_i64..1000, 0..20),
    ) {
        let first = Memory {
            priority: MemoryPriority::of_level(level).unwrap(),
            ..memory(1, "x")
        };
        let end = on_day(1000);
        let mut steps: Vec<(i64, bool)> = uses.iter().map(|day| (*day, true)).collect();
        steps.sort_unstable();
        let rarely = steps.iter().fold(first.clone(), |m, (day, _)| use_it(m, on_day(*day)));
        let rarely = settle(rarely, end);
        steps.extend(looks.iter().map(|day| (*day, false)));
        steps.sort_unstable();
        let mut often = first.clone();
        for (day, is_use) in steps {
            let before = often.priority;
            often = if is_use {
                use_it(often, on_day(day))
            } else {
                let once = settle(often, on_day(day));
                prop_assert_eq!(settle(once.clone(), on_day(day)), once.clone());
                once
            };
            prop_assert!(often.priority >= before);
        }
        prop_assert_eq!(settle(often, end), rarely);
    }

    /// Who helps stays at least as long.
    #[test]
    fn a_use_never_shortens_a_life(day in 0_i64..300, level in 0_u8..4) {
        let memory = Memory {
            priority: MemoryPriority::of_level(level).unwrap(),
            ..memory(1, "x")
        };
        let config = DecayConfig::default();
        let without = settle(memory.clone(), on_day(day));
        let with = use_it(memory, on_day(day));
        let last = |memory: &Memory| forecast(memory, &config).last().map(|step| step.0);
        prop_assert!(last(&with) >= last(&without));
    }
}

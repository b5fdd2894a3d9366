//! Whether a daemon keeps more the more it has done, told from what it holds whenever it is at rest.

use agentd_testkit::HeapUse;

use super::gauge::Sample;

/// Rests of which nothing is said: caches fill, connections open, the allocator finds its size.
const WARM_UP: usize = 3;
/// Bytes that a turn may leave behind. A lost event, message or span takes more; the noise of what is
/// cached at each rest, over the thousands of turns of a long run, takes less.
const BYTES_PER_TURN: f64 = 200.0;
/// Allocations that a turn may leave behind. Whatever is lost once a turn is at least one.
const BLOCKS_PER_TURN: f64 = 0.5;
/// Resident at rest, without files, at most. This is no leak's measure but the allocator's: it keeps small
/// blocks of the busiest moment, 14 MiB and more of them at once, so that it rises in steps. As glibc
/// comes it was 61 to 67 MiB (ADR 0011).
const RESIDENT_KIB: u64 = 48 * 1024;

/// What a daemon at rest holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rest {
    /// Turns that have ended so far.
    pub(crate) turns: u64,
    pub(crate) heap: HeapUse,
    pub(crate) sample: Sample,
}

/// Growth after the warm-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    pub(crate) bytes_per_turn: f64,
    pub(crate) blocks_per_turn: f64,
    /// Resident at the last rest.
    pub(crate) resident_kib: u64,
}

impl Growth {
    /// None when there are too few rests to say.
    pub(crate) fn of(rests: &[Rest]) -> Option<Self> {
        let rests = rests.get(WARM_UP..)?;
        Some(Self {
            bytes_per_turn: slope(rests, |rest| rest.heap.bytes)?,
            blocks_per_turn: slope(rests, |rest| rest.heap.blocks)?,
            resident_kib: rests.last()?.sample.resident_kib,
        })
    }

    /// What is too much of it.
    pub(crate) fn excess(&self) -> Vec<String> {
        let mut excess = Vec::new();
        if self.bytes_per_turn > BYTES_PER_TURN {
            excess.push(format!("{:.0} bytes a turn stay", self.bytes_per_turn));
        }
        if self.blocks_per_turn > BLOCKS_PER_TURN {
            excess.push(format!("{:.2} allocations a turn stay", self.blocks_per_turn));
        }
        if self.resident_kib > RESIDENT_KIB {
            excess.push(format!("{} KiB are resident", self.resident_kib));
        }
        excess
    }
}

/// How fast it grows with the turns: the median of the slopes between all pairs, which one odd rest
/// does not move (Sen, Estimates of the regression coefficient based on Kendall's tau, 1968).
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn slope(rests: &[Rest], what: impl Fn(&Rest) -> usize) -> Option<f64> {
    let mut slopes = Vec::new();
    for (index, early) in rests.iter().enumerate() {
        for late in rests.iter().skip(index + 1).filter(|late| late.turns > early.turns) {
            let turns = (late.turns - early.turns) as f64;
            slopes.push((what(late) as f64 - what(early) as f64) / turns);
        }
    }
    slopes.sort_unstable_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied()
}

#[test]
fn a_leak_of_a_few_hundred_bytes_a_turn_is_seen_through_the_noise() {
    const NOISE: usize = 300 << 10;
    let rests = |leak: usize, noise: usize| -> Vec<Rest> {
        let mut rng = fastrand::Rng::with_seed(1);
        let rest = |round: usize| {
            let filled = 30 << 20 | if round < WARM_UP { round << 20 } else { 8 << 20 };
            let turns = round * 600;
            let bytes = filled + turns * leak + rng.usize(..=noise);
            let heap = HeapUse { bytes, blocks: 50_000 + turns * leak.min(1) };
            Rest { turns: turns as u64, heap, sample: Sample::default() }
        };
        (1..=10).map(rest).collect()
    };
    assert_eq!(Growth::of(&rests(0, NOISE)).expect("enough").excess(), Vec::<String>::new());
    let growth = Growth::of(&rests(300, NOISE)).expect("enough");
    assert_eq!(growth.excess().len(), 2, "{growth:?}");
    assert!(Growth::of(&rests(0, 0)[..=WARM_UP]).is_none());
}

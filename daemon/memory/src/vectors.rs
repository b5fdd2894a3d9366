//! What a model makes of the texts of memories: vectors side by side, in bytes.
//!
//! A number is kept as a step of the largest in its vector: a quarter of the room of floats, and cosines
//! differ by less than 0.01. Among very many, the first numbers of each say which are worth a closer look;
//! these lie apart, so that a turn reads a sixth of what there is.

use agentd_domain::Memory;

/// Most bytes of all vectors together. With vectors of 384 numbers these are 700,000 memories; further
/// ones are found by their words.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// As many are all looked at; it takes some milliseconds.
const LOOKED_AT: usize = 20_000;
/// Of more, so many by their first numbers.
const WORTH_A_LOOK: usize = 4_000;
/// First numbers of a vector.
const FIRST: usize = 64;
/// Of what is not worth a look: as far as can be.
const FAR: f32 = -1.0;

/// A direction, in steps of its largest number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Direction {
    numbers: Vec<i8>,
    inverse_length: f32,
}

impl Direction {
    /// The direction of a vector; none when it has none.
    pub(crate) fn of(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        if !largest.is_finite() || largest <= 0.0 {
            return None;
        }
        let steps = f32::from(i8::MAX) / largest;
        #[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
        let numbers = vector.iter().map(|number| (number * steps).round() as i8).collect();
        Self::of_steps(numbers)
    }

    /// The direction that was kept; none when it has none.
    pub(crate) fn of_steps(numbers: Vec<i8>) -> Option<Self> {
        let square = dot(&numbers, &numbers);
        (square > 0.0).then(|| Self { numbers, inverse_length: 1.0 / square.sqrt() })
    }

    /// As it is kept.
    pub(crate) fn steps(&self) -> &[i8] {
        &self.numbers
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    /// Numbers of each vector; 0 until there is one.
    length: usize,
    /// By place.
    numbers: Vec<i8>,
    /// The first numbers of each, by place.
    firsts: Vec<i8>,
    /// By place: one over the length of the vector; 0 where there is none.
    inverse_lengths: Vec<f32>,
    count: usize,
}

impl Vectors {
    /// True when the memory in this place has one.
    pub(crate) fn has(&self, place: u32) -> bool {
        self.inverse_lengths.get(place as usize).is_some_and(|it| *it > 0.0)
    }

    /// The direction of the memory in this place, if it has one.
    pub(crate) fn direction(&self, place: u32) -> Option<Direction> {
        let inverse_length = *self.inverse_lengths.get(place as usize)?;
        let from = (place as usize).checked_mul(self.length)?;
        let numbers = self.numbers.get(from..from.checked_add(self.length)?)?.to_vec();
        (inverse_length > 0.0).then_some(Direction { numbers, inverse_length })
    }

    /// Numbers of each vector; none while there is none.
    pub(crate) fn length(&self) -> Option<usize> {
        (self.count > 0).then_some(self.length)
    }

    /// Puts a vector in a place. False when it is of another length than the others, or there is no room.
    pub(crate) fn put(&mut self, place: u32, direction: &Direction) -> bool {
        let length = direction.numbers.len();
        if self.count == 0 {
            *self = Self { length, ..Self::default() };
        }
        let place = place as usize;
        let from = place.saturating_mul(length);
        let until = from.saturating_add(length);
        if length != self.length || until > MAX_BYTES {
            return false;
        }
        if self.inverse_lengths.len() <= place {
            self.inverse_lengths.resize(place + 1, 0.0);
            self.numbers.resize(until, 0);
            self.firsts.resize((place + 1) * FIRST.min(length), 0);
        }
        if let (Some(numbers), Some(inverse_length)) =
            (self.numbers.get_mut(from..until), self.inverse_lengths.get_mut(place))
        {
            numbers.copy_from_slice(&direction.numbers);
            let first = FIRST.min(length);
            let firsts = self.firsts.get_mut(place * first..(place + 1) * first);
            if let (Some(firsts), Some(numbers)) = (firsts, direction.numbers.get(..first)) {
                firsts.copy_from_slice(numbers);
            }
            self.count += usize::from(*inverse_length <= 0.0);
            *inverse_length = direction.inverse_length;
        }
        true
    }

    /// Forgets the vector of a place.
    pub(crate) fn clear(&mut self, place: u32) {
        if let Some(inverse_length) = self.inverse_lengths.get_mut(place as usize) {
            self.count -= usize::from(*inverse_length > 0.0);
            *inverse_length = 0.0;
        }
    }

    /// The cosines between a direction and the vectors of the wanted places, by place. None where there is
    /// no vector; empty when the direction is of another length. Among very many those are looked at that
    /// promise to be near, and those that `is_likely` names; the others are far.
    pub(crate) fn cosines(
        &self,
        direction: &Direction,
        is_wanted: impl Fn(u32) -> bool,
        is_likely: impl Fn(u32) -> bool,
    ) -> Vec<Option<f32>> {
        if self.count == 0 || direction.numbers.len() != self.length {
            return Vec::new();
        }
        let promising = self.promising(direction, &is_wanted);
        let least = promising.as_ref().map(|(_promises, least)| *least);
        let promise = |place: u32| {
            let (promises, _least) = promising.as_ref()?;
            promises.get(place as usize).copied()
        };
        let vectors = self.numbers.chunks_exact(self.length).zip(&self.inverse_lengths);
        vectors
            .zip(0_u32..)
            .map(|((numbers, inverse_length), place)| {
                if *inverse_length <= 0.0 || !is_wanted(place) {
                    return None;
                }
                let is_far = least.is_some_and(|least| promise(place) < Some(least));
                if is_far && !is_likely(place) {
                    return Some(FAR);
                }
                let scale = inverse_length * direction.inverse_length;
                Some(dot(numbers, &direction.numbers) * scale)
            })
            .collect()
    }

    /// What the first numbers promise, by place, and what is worth a look; none when all are.
    fn promising(
        &self,
        direction: &Direction,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<(Vec<f32>, f32)> {
        let firsts = direction.numbers.get(..FIRST)?;
        if self.count <= LOOKED_AT {
            return None;
        }
        let vectors = self.firsts.chunks_exact(FIRST).zip(&self.inverse_lengths);
        let promises: Vec<f32> =
            vectors
                .zip(0_u32..)
                .map(|((numbers, inverse_length), place)| {
                    if is_wanted(place) { dot(numbers, firsts) * inverse_length } else { f32::MIN }
                })
                .collect();
        let mut sorted = promises.clone();
        let most = sorted.len().checked_sub(WORTH_A_LOOK)?;
        let (_less, least, _more) = sorted.select_nth_unstable_by(most, f32::total_cmp);
        let least = *least;
        Some((promises, least))
    }
}

/// Sums in 32 bits hold 133,000 products.
fn dot(a: &[i8], b: &[i8]) -> f32 {
    let sum: i32 = a.iter().zip(b).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum();
    #[expect(clippy::cast_precision_loss, reason = "seven digits are enough for a cosine")]
    let sum = sum as f32;
    sum
}

/// A hash of what a vector is made of: FNV-1a (Fowler, Noll, Vo), which is the same in each release.
pub(crate) fn text_hash(memory: &Memory) -> u64 {
    memory.content.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn direction(vector: &[f32]) -> Direction {
        Direction::of(vector).unwrap()
    }

    #[test]
    fn vectors_are_put_replaced_and_cleared_in_their_places() {
        let mut vectors = Vectors::default();
        let (x, y) = (direction(&[1.0, 0.0]), direction(&[0.0, -2.0]));
        assert!(vectors.put(3, &x) && vectors.put(1, &y) && vectors.put(1, &x));
        assert_eq!((vectors.count, vectors.length()), (2, Some(2)));
        assert!(!vectors.put(0, &direction(&[1.0])), "another length");
        let near = vectors.cosines(&x, |place| place != 3, |_| false);
        assert_eq!(
            near.iter().map(Option::is_some).collect::<Vec<_>>(),
            [false, true, false, false]
        );
        assert!((near[1].unwrap() - 1.0).abs() < 1e-6);
        assert!(vectors.cosines(&direction(&[1.0]), |_| true, |_| false).is_empty());
        vectors.clear(1);
        vectors.clear(1);
        vectors.clear(9);
        assert!(vectors.has(3) && !vectors.has(1) && vectors.count == 1);
        let direction_of = |place| vectors.direction(place);
        assert_eq!([3, 1, 9].map(direction_of), [Some(x.clone()), None, None]);
        vectors.clear(3);
        // With none left another model's may come.
        assert!(vectors.put(2, &direction(&[1.0, 2.0, 3.0])) && vectors.count == 1);
    }

    #[test]
    fn among_very_many_the_near_and_the_likely_are_looked_at() {
        let mut random = 7_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            f32::from(i16::try_from(random % 2001).unwrap() - 1000)
        };
        let mut vectors = Vectors::default();
        let all: Vec<Vec<f32>> = (0..25_000).map(|_| (0..96).map(|_| next()).collect()).collect();
        for (place, vector) in (0_u32..).zip(&all) {
            vectors.put(place, &direction(vector));
        }
        // Half of it is a text that is known.
        let question: Vec<f32> = all[12_345].iter().map(|number| number + next()).collect();
        let near = vectors.cosines(&direction(&question), |place| place != 5, |place| place == 7);
        let cosine = |place: &usize| near[*place].unwrap_or(f32::MIN);
        let nearest = (0..near.len()).max_by(|a, b| cosine(a).total_cmp(&cosine(b)));
        assert!(near[5].is_none());
        assert_eq!((near.len(), nearest), (25_000, Some(12_345)));
        assert!(near[7].unwrap() > FAR);
        let looked_at = near.iter().flatten().filter(|cosine| **cosine > FAR).count();
        assert!((WORTH_A_LOOK..WORTH_A_LOOK + 3).contains(&looked_at), "{looked_at}");
    }

    #[test]
    fn what_has_no_direction_is_none_and_hashes_are_as_they_were() {
        assert_eq!(Direction::of(&[0.0, 0.0]), None);
        assert_eq!(Direction::of(&[]), None);
        assert_eq!(Direction::of(&[f32::NAN, 1.0]).map(|it| it.numbers), Some(vec![0, 127]));
        assert_eq!(Direction::of(&[f32::INFINITY]), None);
        assert_eq!(Direction::of_steps(vec![0]), None);
        assert_eq!(text_hash(&crate::test_memory::memory(1, "a")), 0xaf63_dc4c_8601_ec8c);
    }

    proptest! {
        #[test]
        fn cosines_of_bytes_are_near_those_of_floats(
            a in prop::collection::vec(-1.0_f32..1.0, 100), b in prop::collection::vec(-1.0_f32..1.0, 100),
        ) {
            let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
            let exact = product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt();
            let mut vectors = Vectors::default();
            vectors.put(0, &direction(&a));
            let near = vectors.cosines(&direction(&b), |_| true, |_| false)[0].unwrap();
            prop_assert!((near - exact).abs() < 0.01, "{near} {exact}");
        }
    }
}

//! In which order the calls of an answer are run.

use super::Prepared;

/// Calls that are run together.
#[derive(Debug)]
pub(super) enum Segment {
    /// Calls without effects. They run at the same time when all of them may.
    Independent(Vec<Prepared>),
    /// A call with effects, alone.
    Barrier(Box<Prepared>),
}

impl Segment {
    /// How many of its calls may run at the same time.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Barrier(_) => 1,
            Self::Independent(calls) => {
                let all_may = calls.iter().all(|call| {
                    call.what.as_ref().map_or(true, |prepared| prepared.capabilities.parallel_safe)
                });
                if all_may { calls.len() } else { 1 }
            }
        }
    }

    pub(super) fn into_calls(self) -> Vec<Prepared> {
        match self {
            Self::Independent(calls) => calls,
            Self::Barrier(call) => vec![*call],
        }
    }
}

/// Cuts the calls into segments, in order.
pub(super) fn segments(calls: Vec<Prepared>) -> Vec<Segment> {
    let mut segments = Vec::new();
    for call in calls {
        if call.is_barrier {
            segments.push(Segment::Barrier(Box::new(call)));
        } else if let Some(Segment::Independent(together)) = segments.last_mut() {
            together.push(call);
        } else {
            segments.push(Segment::Independent(vec![call]));
        }
    }
    segments
}

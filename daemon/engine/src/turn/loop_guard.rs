//! Notices a model that goes round in circles (spec d.8, case TA-07).
//!
//! It compares name, arguments and result: the same call with changing results is legitimate
//! waiting, many different calls are legitimate work.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;

/// Equal results in a row after which the model is told.
const WARN_AT: u32 = 3;
/// Equal results in a row after which the model has to answer without tools.
const STOP_AT: u32 = 6;

/// What to do about a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Go on.
    Fine,
    /// Tell the model that it has had this result so many times.
    Repeats(u32),
    /// It has had this result so many times: let it call no more tools.
    Stop(u32),
}

/// Counts equal results per call.
#[derive(Debug, Default)]
pub(crate) struct LoopGuard {
    seen: HashMap<u64, (u64, u32)>,
    cut_answers: u32,
}

impl LoopGuard {
    /// Notes whether an answer held cut calls; returns how many did in a row.
    pub(crate) fn note_answer(&mut self, cut: bool) -> u32 {
        self.cut_answers = if cut { self.cut_answers + 1 } else { 0 };
        self.cut_answers
    }

    /// Notes a result.
    pub(crate) fn note(&mut self, name: &str, arguments_json: &str, output: &str) -> Verdict {
        let (last_output, count) = self.seen.entry(hash(&(name, arguments_json))).or_default();
        let output = hash(&output);
        if *count > 0 && *last_output == output {
            *count += 1;
        } else {
            *last_output = output;
            *count = 1;
        }
        match *count {
            count if count >= STOP_AT => Verdict::Stop(count),
            count if count >= WARN_AT => Verdict::Repeats(count),
            _ => Verdict::Fine,
        }
    }
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(calls: &[(&str, &str)]) -> Vec<Verdict> {
        let mut guard = LoopGuard::default();
        calls.iter().map(|(arguments, output)| guard.note("read", arguments, output)).collect()
    }

    #[test]
    fn ta_07_the_same_failing_call_ends_after_a_small_bound() {
        let verdicts = verdicts(&[("missing", "no such file"); 6]);
        assert_eq!(verdicts[1], Verdict::Fine);
        assert_eq!(verdicts[2], Verdict::Repeats(3));
        assert_eq!(verdicts[5], Verdict::Stop(6));
    }

    #[test]
    fn ta_07_alternating_calls_end_too() {
        let calls: Vec<_> = [("a", "1"), ("b", "2")].into_iter().cycle().take(12).collect();
        assert_eq!(verdicts(&calls).last(), Some(&Verdict::Stop(6)));
    }

    #[test]
    fn ta_07_forty_different_reads_are_fine() {
        let names: Vec<String> = (0..40).map(|n| n.to_string()).collect();
        let calls: Vec<_> = names.iter().map(|name| (name.as_str(), "same text")).collect();
        assert!(verdicts(&calls).iter().all(|verdict| *verdict == Verdict::Fine));
    }

    #[test]
    fn ta_07_polling_with_changing_output_is_fine() {
        let outputs: Vec<String> = (0..40).map(|n| n.to_string()).collect();
        let calls: Vec<_> = outputs.iter().map(|output| ("ps", output.as_str())).collect();
        assert!(verdicts(&calls).iter().all(|verdict| *verdict == Verdict::Fine));
    }
}

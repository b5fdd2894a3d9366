//! Turns that took long.

use agentd_engine::{SlowTurn, SlowTurns};

use super::Check;

/// Says how many there were, and of the slowest where its time went. Long work is no fault, so this
/// never warns.
pub(super) fn turns(slow: &SlowTurns) -> Check {
    const NAME: &str = "turns";
    let SlowTurns { count, slowest } = slow;
    let Some(SlowTurn { session_id, total, parts, .. }) = slowest else {
        return Check::ok(NAME, "no slow turn since the start");
    };
    let counted = match count {
        1 => "1 slow turn".to_owned(),
        many => format!("{many} slow turns"),
    };
    let (part, time) = parts.longest();
    Check::ok(
        NAME,
        format!(
            "{counted} since the start, the slowest took {:.1} s in session {session_id}: {:.1} s of it {part}; \
             `agentctl logs` has each",
            total.as_secs_f64(),
            time.as_secs_f64()
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use agentd_engine::TurnParts;

    use super::*;

    #[test]
    fn the_slowest_turn_is_told_with_what_took_longest() {
        assert_eq!(turns(&SlowTurns::default()).detail, "no slow turn since the start");
        let second = Duration::from_secs(1);
        let parts = TurnParts { tools: 90 * second, place: 10 * second, ..TurnParts::default() };
        let session_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let turn_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let slowest =
            SlowTurn { session_id, turn_id, rounds: 2, attempts: 3, total: 100 * second, parts };
        let told = turns(&SlowTurns { count: 2, slowest: Some(slowest) }).detail;
        let expect = "2 slow turns since the start, the slowest took 100.0 s in session \
                      01ARZ3NDEKTSV4RRFFQ69G5FAV: 90.0 s of it tools; `agentctl logs` has each";
        assert_eq!(told, expect);
    }
}

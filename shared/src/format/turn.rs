//! Turns and messages that wait: what is said of them beside their text.

use std::time::Duration;

use agentd_proto::v1;

use super::names;
use super::notes::{Line, NAME_WIDTH, Tone, by, line};
use crate::client_ids::now_ms;
use crate::text::{grouped, human_duration, human_usd, one_line};
use crate::transcript::{TurnMarker, TurnState};

/// What is said of a waiting message beside its text: its priority unless it is the usual one, and
/// when it is too late for it.
pub fn standing(priority: v1::Priority, expires_at_ms: i64) -> String {
    let priority = match priority {
        v1::Priority::Unspecified | v1::Priority::Normal => "",
        v1::Priority::Low => "  low priority",
        v1::Priority::High => "  high priority",
        v1::Priority::Urgent => "  urgent",
        v1::Priority::Critical => "  critical",
    };
    let expiry = match u64::try_from(expires_at_ms) {
        Ok(0) | Err(_) => String::new(),
        Ok(at) => {
            let left = Duration::from_millis(at.saturating_sub(now_ms()));
            format!("  expires in {}", human_duration(left))
        }
    };
    format!("{priority}{expiry}")
}

/// The lines under a turn that is over or stands still; none while it runs or waits for an answer.
pub fn ended(turn: &TurnMarker, me: &str) -> Vec<Line> {
    match &turn.state {
        TurnState::Suspended(v1::SuspendReason::DaemonStopped) => {
            let text = "◆ the daemon stopped in the middle of this turn".to_owned();
            vec![line(Tone::Warn, text)]
        }
        TurnState::Running | TurnState::Suspended(_) => Vec::new(),
        TurnState::Completed { end, usage, elapsed_ms, rounds: _ } => {
            vec![line(Tone::Dim, footer(*end, *usage, *elapsed_ms, turn))]
        }
        TurnState::Failed { error, usage: _ } => {
            let mut lines =
                vec![line(Tone::Error, format!("✗ the turn failed: {}", error.message))];
            if !error.hint.is_empty() {
                lines.push(line(Tone::Dim, format!("  hint: {}", error.hint)));
            }
            lines
        }
        TurnState::Interrupted { reason, by: who, usage: _ } => {
            let by = by(who.as_ref(), me);
            let why = match reason {
                v1::InterruptReason::NewMessage => ", for a new message",
                v1::InterruptReason::NotResumed => ", not taken up again",
                v1::InterruptReason::User | v1::InterruptReason::Unspecified => "",
            };
            vec![line(Tone::Warn, format!("■ interrupted{by}{why}"))]
        }
    }
}

/// The effort of a turn, where one was asked for: what was asked for, and what was given instead.
pub fn effort(turn: &TurnMarker) -> Option<String> {
    let name = names::effort;
    let TurnMarker { effort_requested, effort_effective, .. } = turn;
    match (*effort_requested, *effort_effective) {
        (v1::Effort::Unspecified, _) => None,
        (requested, v1::Effort::Unspecified) => Some(format!("{} (not offered)", name(requested))),
        (requested, effective) if requested == effective => Some(name(requested)),
        (requested, effective) => Some(format!("{}→{}", name(requested), name(effective))),
    }
}

/// The line under a turn that ended by itself.
fn footer(end: v1::TurnEnd, usage: v1::Usage, elapsed_ms: u64, turn: &TurnMarker) -> String {
    let took = human_duration(Duration::from_millis(elapsed_ms));
    let about = if usage.estimated { "~" } else { "" };
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    let mut text = format!("└ {took} · {about}{} tokens", grouped(tokens));
    if turn.cost.nano_usd > 0 {
        text.push_str(" · ");
        text.push_str(&cost(&turn.cost));
    }
    // Who came in the middle of the turn has not been told it.
    if !turn.model.is_empty() {
        text.push_str(" · ");
        text.push_str(&one_line(&turn.model, NAME_WIDTH));
    }
    if let Some(effort) = effort(turn) {
        text.push_str(" · effort ");
        text.push_str(&effort);
    }
    match end {
        v1::TurnEnd::Unspecified | v1::TurnEnd::Answered => {}
        v1::TurnEnd::OutputLimit => text.push_str(" · cut by the model's output limit"),
        v1::TurnEnd::RoundsLimit => text.push_str(" · ended by the limit of rounds"),
        v1::TurnEnd::Refused => text.push_str(" · refused by the provider"),
    }
    text
}

/// A cost with its estimated part apart, and what is not in it.
pub fn cost(cost: &v1::Cost) -> String {
    let v1::Cost { nano_usd, estimated_nano_usd, unpriced_requests } = *cost;
    let exact = nano_usd.saturating_sub(estimated_nano_usd);
    let mut parts = Vec::new();
    if exact > 0 || (estimated_nano_usd == 0 && unpriced_requests == 0) {
        parts.push(human_usd(exact));
    }
    if estimated_nano_usd > 0 {
        parts.push(format!("~{}", human_usd(estimated_nano_usd)));
    }
    if unpriced_requests > 0 {
        parts.push(format!("{unpriced_requests} unpriced"));
    }
    parts.join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(state: TurnState) -> TurnMarker {
        TurnMarker {
            turn_id: "T".into(),
            seq: 1,
            started_at_ms: 0,
            item_ids: Vec::new(),
            provider: "p".into(),
            model: "m1".into(),
            effort_requested: v1::Effort::Unspecified,
            effort_effective: v1::Effort::Unspecified,
            cost: v1::Cost::default(),
            state,
        }
    }

    fn texts(turn: &TurnMarker) -> Vec<String> {
        ended(turn, "me").into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn the_footer_tells_time_tokens_and_model() {
        let usage = v1::Usage { prompt_tokens: 300, completion_tokens: 12, ..Default::default() };
        let completed = |end| TurnState::Completed { end, rounds: 1, usage, elapsed_ms: 1_234 };
        let mut turn = marker(completed(v1::TurnEnd::Answered));
        assert_eq!(texts(&turn), ["└ 1.2 s · 312 tokens · m1"]);
        let unknown = TurnMarker { model: String::new(), ..turn.clone() };
        assert_eq!(texts(&unknown), ["└ 1.2 s · 312 tokens"]);
        let refused = TurnMarker { state: completed(v1::TurnEnd::Refused), ..turn.clone() };
        assert!(texts(&refused)[0].ends_with("· refused by the provider"));
        for (requested, effective, expect) in [
            (v1::Effort::High, v1::Effort::High, "high"),
            (v1::Effort::Max, v1::Effort::High, "max→high"),
            (v1::Effort::Max, v1::Effort::Unspecified, "max (not offered)"),
        ] {
            turn.effort_requested = requested;
            turn.effort_effective = effective;
            let footer = texts(&turn).concat();
            assert!(footer.ends_with(&format!(" · m1 · effort {expect}")), "{footer}");
        }
        turn.effort_requested = v1::Effort::Unspecified;
        turn.cost.nano_usd = 12_000_000;
        assert_eq!(texts(&turn), ["└ 1.2 s · 312 tokens · $0.012 · m1"]);
    }

    #[test]
    fn a_turn_that_did_not_end_by_itself_says_why() {
        let check = |state, expect: &[&str]| assert_eq!(texts(&marker(state)), expect);
        check(TurnState::Running, &[]);
        check(TurnState::Suspended(v1::SuspendReason::RoundsLimit), &[]);
        check(
            TurnState::Suspended(v1::SuspendReason::DaemonStopped),
            &["◆ the daemon stopped in the middle of this turn"],
        );
        let error = v1::ErrorReport {
            message: "no key".into(),
            hint: "set one".into(),
            ..Default::default()
        };
        let failed = TurnState::Failed { error, usage: v1::Usage::default() };
        check(failed, &["✗ the turn failed: no key", "  hint: set one"]);
        let interrupted = |reason, id: &str| TurnState::Interrupted {
            reason,
            by: Some(v1::Author { client_id: id.into(), name: "ann".into() }),
            usage: v1::Usage::default(),
        };
        check(
            interrupted(v1::InterruptReason::NewMessage, "x"),
            &["■ interrupted by ann, for a new message"],
        );
        check(interrupted(v1::InterruptReason::User, "me"), &["■ interrupted"]);
    }

    #[test]
    fn a_cost_says_what_it_rests_on() {
        let check = |nano_usd, estimated_nano_usd, unpriced_requests, expect: &str| {
            let cost = v1::Cost { nano_usd, estimated_nano_usd, unpriced_requests };
            assert_eq!(super::cost(&cost), expect);
        };
        check(0, 0, 0, "$0.00");
        check(0, 0, 3, "3 unpriced");
        check(20_000_000, 20_000_000, 0, "~$0.020");
        check(120_000_000, 20_000_000, 0, "$0.10 + ~$0.020");
    }
}

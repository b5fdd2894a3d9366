use agentd_domain::{CallId, ToolResult};
use proptest::prelude::*;

use super::*;

const LIMITS: FailureLimits = FailureLimits { retries: 3, replans: 5 };

fn finished(status: ToolStatus, code: &str) -> ToolCallFinished {
    let call_id: CallId = "c1".parse().unwrap();
    ToolCallFinished::of(call_id, "probe".to_owned(), ToolResult::new(status, "", code), 0, 1)
}

/// What follows from an answer with these calls, none with effects.
fn answer(failures: &mut Failures, statuses: &[ToolStatus]) -> Decision {
    for status in statuses {
        failures.note(&finished(*status, ""), false, LIMITS);
    }
    failures.decide(LIMITS)
}

#[test]
fn success_and_parts_cost_nothing() {
    let mut failures = Failures::default();
    for status in [ToolStatus::Success, ToolStatus::Partial, ToolStatus::Skipped] {
        assert_eq!(answer(&mut failures, &[status]), Decision::Continue);
    }
    assert_eq!((failures.retries, failures.replans), (0, 0));
}

#[test]
fn passing_failures_are_tried_again_three_times_then_cost_a_change_of_way() {
    let mut failures = Failures::default();
    let decisions: Vec<_> =
        (0..9).map(|_| answer(&mut failures, &[ToolStatus::RetryableError])).collect();
    assert_eq!(decisions[..3], [Decision::Continue; 3]);
    let replans: Vec<_> = (1..=5).map(Decision::Replan).collect();
    assert_eq!(decisions[3..8], replans);
    assert_eq!(decisions[8], Decision::Answer);
    assert_eq!(failures.end(), Some(&End::Failures));
}

#[test]
fn what_will_fail_again_finds_nothing_or_repeats_costs_a_change_of_way_at_once() {
    for status in [ToolStatus::FatalError, ToolStatus::Empty, ToolStatus::Repeated] {
        let mut failures = Failures::default();
        let decisions: Vec<_> = (0..6).map(|_| answer(&mut failures, &[status])).collect();
        let replans: Vec<_> = (1..=5).map(Decision::Replan).collect();
        assert_eq!(decisions[..5], replans, "{status:?}");
        assert_eq!(decisions[5], Decision::Answer, "{status:?}");
    }
}

#[test]
fn w2_6_badly_written_calls_are_no_changes_of_way_at_first() {
    let mut failures = Failures::default();
    for code in ["TOOL_ARGUMENT_VALIDATION_FAILED", "UNKNOWN_TOOL"] {
        failures.note(&finished(ToolStatus::FatalError, code), false, LIMITS);
        assert_eq!(failures.decide(LIMITS), Decision::Continue, "{code}");
    }
    assert_eq!((failures.retries, failures.replans), (2, 0));
}

#[test]
fn calls_without_effects_cost_one_change_together_and_only_when_all_failed() {
    let mut failures = Failures::default();
    let mixed = [ToolStatus::FatalError, ToolStatus::Success, ToolStatus::Empty];
    assert_eq!(answer(&mut failures, &mixed), Decision::Continue);
    assert_eq!(answer(&mut failures, &[ToolStatus::FatalError; 4]), Decision::Replan(1));
}

#[test]
fn w2_6_equal_calls_of_an_answer_are_charged_once() {
    let mut failures = Failures::default();
    let mut shared = finished(ToolStatus::RetryableError, "");
    shared.metrics.source = ResultSource::Shared;
    failures.note(&finished(ToolStatus::RetryableError, ""), false, LIMITS);
    failures.note(&shared, false, LIMITS);
    assert_eq!((failures.decide(LIMITS), failures.retries), (Decision::Continue, 1));
}

#[test]
fn a_call_with_effects_that_fails_costs_a_change_whatever_came_of_others() {
    let mut failures = Failures::default();
    failures.note(&finished(ToolStatus::Success, ""), false, LIMITS);
    failures.note(&finished(ToolStatus::FatalError, ""), true, LIMITS);
    assert_eq!(failures.decide(LIMITS), Decision::Replan(1));
    // So does one that kept it from running, but not a search that found nothing before it.
    failures.note(&finished(ToolStatus::Success, ""), false, LIMITS);
    failures.note(&finished(ToolStatus::FatalError, ""), false, LIMITS);
    failures.note(&finished(ToolStatus::Skipped, ""), true, LIMITS);
    assert_eq!(failures.decide(LIMITS), Decision::Replan(2));
    failures.note(&finished(ToolStatus::Empty, ""), false, LIMITS);
    failures.note(&finished(ToolStatus::Success, ""), true, LIMITS);
    assert_eq!(failures.decide(LIMITS), Decision::Continue);
}

#[test]
fn without_budgets_the_first_failure_ends_the_use_of_tools() {
    let none = FailureLimits { retries: 0, replans: 0 };
    let mut failures = Failures::default();
    failures.note(&finished(ToolStatus::RetryableError, ""), false, none);
    assert_eq!(failures.decide(none), Decision::Answer);
}

#[test]
fn ta_07_a_call_that_leads_nowhere_ends_the_use_of_tools_whatever_is_left_of_the_budgets() {
    let mut failures = Failures::default();
    failures.note(&finished(ToolStatus::Success, ""), false, LIMITS);
    failures.note_loop("probe", 6);
    failures.note(&finished(ToolStatus::Repeated, ""), false, LIMITS);
    failures.note_loop("other", 7);
    let decision = failures.decide(LIMITS);
    assert_eq!((decision, failures.replans), (Decision::Answer, 0));
    assert_eq!(failures.end(), Some(&End::Loop { tool: "probe".to_owned(), times: 6 }));
    let told = failures.told(decision, LIMITS);
    assert!(told.contains("'probe' was called 6 times") && told.contains("Answer now"), "{told}");
}

#[test]
fn a_no_of_people_costs_no_budget_and_enough_of_them_end_the_use_of_tools() {
    let no = || finished(ToolStatus::FatalError, DENIED_BY_USER);
    let mut failures = Failures::default();
    for _ in 1..MAX_DENIALS {
        // With effects: what fails there costs a change of way whatever came of others.
        failures.note(&no(), true, LIMITS);
        assert_eq!(failures.decide(LIMITS), Decision::Continue);
    }
    assert_eq!((failures.retries, failures.replans), (0, 0));
    assert_eq!(answer(&mut failures, &[ToolStatus::FatalError]), Decision::Replan(1));
    failures.note(&no(), true, LIMITS);
    assert_eq!(failures.decide(LIMITS), Decision::Answer);
    assert_eq!(failures.end(), Some(&End::Denials(MAX_DENIALS)));
}

#[test]
fn asking_again_for_what_was_denied_is_a_failure() {
    let mut failures = Failures::default();
    failures.note(&finished(ToolStatus::Repeated, DENIED_BY_USER), true, LIMITS);
    assert_eq!((failures.decide(LIMITS), failures.denials), (Decision::Replan(1), 1));
}

proptest! {
    /// Whatever fails in whatever order, the budgets bound it, and what works costs nothing.
    #[test]
    fn budgets_are_never_passed(
        answers in prop::collection::vec(prop::collection::vec((0..8_usize, any::<bool>()), 1..5), 0..60),
    ) {
        const STATUSES: [ToolStatus; 8] = [
            ToolStatus::Success, ToolStatus::Partial, ToolStatus::Empty, ToolStatus::RetryableError,
            ToolStatus::FatalError, ToolStatus::Repeated, ToolStatus::Skipped, ToolStatus::Interrupted,
        ];
        let mut failures = Failures::default();
        for calls in answers {
            let all_well = calls.iter().all(|(status, _)| *status < 2);
            for (status, is_barrier) in calls {
                failures.note(&finished(STATUSES[status], ""), is_barrier, LIMITS);
            }
            let before = failures.replans;
            let decision = failures.decide(LIMITS);
            prop_assert!(!all_well || decision == Decision::Continue);
            prop_assert!(failures.retries <= LIMITS.retries && failures.replans <= LIMITS.replans);
            prop_assert!(failures.replans - before <= 1);
            if decision == Decision::Answer {
                prop_assert_eq!(failures.replans, LIMITS.replans);
                prop_assert_eq!(failures.end(), Some(&End::Failures));
                break;
            }
        }
    }
}

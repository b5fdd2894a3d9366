//! How many tests ran, as the programs that run them tell it.

use agentd_domain::TestCounts;

use super::project::CountedBy;

/// Tests by what came of them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// Counts the tests that a program says it ran; none: it says nothing of tests, in a form that is known.
pub fn count_tests(text: &str) -> Option<TestCounts> {
    let Counts { passed, failed, skipped: _ } = counts(CountedBy::Any, text)?;
    Some(TestCounts { passed, failed })
}

/// Reads the summaries in what a program wrote; none: it holds none that is known.
pub(super) fn counts(counted_by: CountedBy, text: &str) -> Option<Counts> {
    match counted_by {
        CountedBy::Cargo => sum(text, cargo),
        CountedBy::Go => sum(text, go),
        CountedBy::Pytest => text.lines().rev().find_map(pytest),
        CountedBy::Unittest => unittest(text),
        CountedBy::Any => sum(text, cargo)
            .or_else(|| text.lines().rev().find_map(jest))
            .or_else(|| tap(text))
            .or_else(|| mocha(text))
            .or_else(|| text.lines().rev().find_map(pytest))
            .or_else(|| unittest(text))
            .or_else(|| sum(text, go)),
    }
}

fn sum(text: &str, read: impl Fn(&str) -> Option<Counts>) -> Option<Counts> {
    text.lines().filter_map(read).fold(None, |sum: Option<Counts>, counts| {
        let mut sum = sum.unwrap_or_default();
        sum.add(counts);
        Some(sum)
    })
}

/// `test result: ok. 3 passed; 1 failed; 2 ignored; 0 measured; ...`, one for each binary.
fn cargo(line: &str) -> Option<Counts> {
    let (_, counts) = line.split_once("test result: ")?.1.split_once(". ")?;
    named(counts.split(';'))
}

/// `--- PASS: TestA (0.00s)`; subtests are indented and belong to the test above.
fn go(line: &str) -> Option<Counts> {
    let (word, _) = line.strip_prefix("--- ")?.split_once(": ")?;
    let one = Counts::default();
    match word {
        "PASS" => Some(Counts { passed: 1, ..one }),
        "FAIL" => Some(Counts { failed: 1, ..one }),
        "SKIP" => Some(Counts { skipped: 1, ..one }),
        _ => None,
    }
}

/// `3 passed, 1 failed in 0.12s`, between signs of equality or not.
fn pytest(line: &str) -> Option<Counts> {
    let line = line.trim_matches(|c: char| c == '=' || c.is_whitespace());
    let (counts, time) = line.rsplit_once(" in ")?;
    if !time.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if counts.starts_with("no tests ran") {
        return Some(Counts::default());
    }
    named(counts.split(','))
}

/// `Ran 5 tests in 0.1s`, and below it `OK (skipped=1)` or `FAILED (failures=1, errors=2)`.
fn unittest(text: &str) -> Option<Counts> {
    let ran = text.lines().rev().find_map(|line| {
        let (count, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
        rest.starts_with("test").then(|| count.parse::<u64>().ok()).flatten()
    })?;
    let verdict = text
        .lines()
        .rev()
        .find(|line| ["OK", "FAILED", "NO TESTS RAN"].iter().any(|word| line.starts_with(word)))?;
    let details = verdict.split_once('(').map_or("", |(_, details)| details.trim_end_matches(')'));
    let mut counts = Counts::default();
    for (key, count) in details.split(", ").filter_map(|detail| detail.split_once('=')) {
        let Ok(count) = count.parse::<u64>() else { continue };
        match key {
            "failures" | "errors" | "unexpected successes" => counts.failed += count,
            "skipped" => counts.skipped += count,
            _ => {}
        }
    }
    counts.passed = ran.saturating_sub(counts.failed + counts.skipped);
    Some(counts)
}

/// `Tests: 1 failed, 2 passed, 3 total` of jest, `Tests  1 failed | 2 passed (3)` of vitest.
fn jest(line: &str) -> Option<Counts> {
    let counts = line.trim_start().strip_prefix("Tests")?;
    named(counts.trim_start_matches(':').split([',', '|']))
}

/// `# pass 3` and `# fail 1`, or with an information sign, of the test runner of node.
fn tap(text: &str) -> Option<Counts> {
    let told = |key: &str| {
        text.lines().rev().find_map(|line| {
            let line = line.trim_start_matches(['#', 'ℹ']).trim_start();
            line.strip_prefix(key)?.trim().parse::<u64>().ok()
        })
    };
    let passed = told("pass ")?;
    let failed = told("fail ")?;
    Some(Counts { passed, failed, skipped: told("skipped ").unwrap_or_default() })
}

/// `3 passing (5ms)`, and `1 failing` and `2 pending` where there are any.
fn mocha(text: &str) -> Option<Counts> {
    let told = |key: &str| {
        text.lines().find_map(|line| {
            let (count, rest) = line.trim().split_once(' ')?;
            rest.starts_with(key).then(|| count.parse::<u64>().ok()).flatten()
        })
    };
    let passed = told("passing");
    let failed = told("failing");
    passed.or(failed)?;
    Some(Counts {
        passed: passed.unwrap_or_default(),
        failed: failed.unwrap_or_default(),
        skipped: told("pending").unwrap_or_default(),
    })
}

/// Parts such as ` 3 passed` or `1 error`; none when none of them is known.
fn named<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut is_known = false;
    for part in parts {
        let mut words = part.split_whitespace();
        let Some(count) = words.next().and_then(|word| word.parse::<u64>().ok()) else { continue };
        let to = match words.next() {
            Some("passed" | "xpassed") => &mut counts.passed,
            Some("failed" | "error" | "errors") => &mut counts.failed,
            Some("skipped" | "ignored" | "xfailed" | "todo" | "pending") => &mut counts.skipped,
            Some(_) | None => continue,
        };
        *to += count;
        is_known = true;
    }
    is_known.then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(counted_by: CountedBy, text: &str, expect: Option<(u64, u64, u64)>) {
        let expect = expect.map(|(passed, failed, skipped)| Counts { passed, failed, skipped });
        assert_eq!(counts(counted_by, text), expect, "{text}");
    }

    #[test]
    fn the_counts_of_each_program_are_read() {
        let cargo = "running 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.00s\n\nrunning 1 test\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        check(CountedBy::Cargo, cargo, Some((2, 1, 1)));
        check(CountedBy::Any, cargo, Some((2, 1, 1)));
        check(CountedBy::Pytest, "..F\n1 failed, 2 passed, 1 skipped in 0.12s\n", Some((2, 1, 1)));
        check(CountedBy::Pytest, "==== 3 passed, 1 error in 0.12s (0:00:01) ====", Some((3, 1, 0)));
        check(CountedBy::Pytest, "no tests ran in 0.01s", Some((0, 0, 0)));
        let unittest = "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n";
        check(CountedBy::Unittest, unittest, Some((2, 2, 1)));
        check(CountedBy::Unittest, "Ran 1 test in 0.001s\n\nOK\n", Some((1, 0, 0)));
        check(CountedBy::Unittest, "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", Some((0, 0, 0)));
        let go = "=== RUN   TestA\n    --- PASS: TestA/x (0.00s)\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n";
        check(CountedBy::Go, go, Some((1, 1, 0)));
        check(CountedBy::Go, "ok  \texample\t0.1s [no tests to run]\n", None);
        check(CountedBy::Any, "Tests:       1 failed, 2 passed, 3 total\n", Some((2, 1, 0)));
        check(CountedBy::Any, "      Tests  1 failed | 2 passed (3)\n", Some((2, 1, 0)));
        check(CountedBy::Any, "# tests 4\n# pass 3\n# fail 1\n# skipped 0\n", Some((3, 1, 0)));
        check(CountedBy::Any, "  3 passing (5ms)\n  1 failing\n", Some((3, 1, 0)));
        check(CountedBy::Any, "all good\n", None);
        check(CountedBy::Cargo, "", None);
    }
}

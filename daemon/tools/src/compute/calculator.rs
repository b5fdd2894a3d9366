//! Arithmetic, percentages and units.
//!
//! The evaluator is a small language with functions and strings. In those a short text can recurse
//! for ever or double its memory with each step, faster than any deadline notices; so they are
//! refused before evaluation, and what remains is bounded by time and by a stack of its own. As the
//! evaluator only looks at its deadline between steps, the caller keeps one too: a thread that is
//! late is left to end by itself, and the number of threads is bounded.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, Capabilities, ToolResult, cut_head_tail};
use async_trait::async_trait;
use fend_core::Interrupt;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::run::interrupted;
use crate::{About, ToolContext, TypedTool};

/// Longest expression, in characters.
const MAX_EXPRESSION: usize = 1_000;

/// Longest result, in bytes.
const MAX_OUTPUT: usize = 4 * 1024;

/// Longest evaluation.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// How long the caller waits beyond [`TIME_LIMIT`] for a step to end.
const GRACE: Duration = Duration::from_secs(1);

/// Most evaluations at once, late ones included.
const MAX_THREADS: usize = 4;

/// Stack of an evaluation: the evaluator recurses once per operator, and 1,000 of them need about
/// 20 MiB in a debug build. Only what is touched is ever given by the system.
const STACK_BYTES: usize = 128 * 1024 * 1024;

/// Words that draw random numbers, print, or tell of the evaluator itself.
const REFUSED_WORDS: [&str; 5] = ["roll", "sample", "print", "println", "version"];

/// Arguments of the calculator.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// For example `3 * (2 + 4)`, `15% of 240`, `2^64`, `5 miles to km`, `sqrt(2)`.
    #[schemars(length(min = 1, max = 1000))]
    expression: String,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Calculator {
    threads: Arc<Semaphore>,
}

impl Calculator {
    pub(crate) fn new() -> Self {
        Self { threads: Arc::new(Semaphore::new(MAX_THREADS)) }
    }
}

#[async_trait]
impl TypedTool for Calculator {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "calculator",
            description: "Evaluates arithmetic exactly: numbers of any size, percentages, powers, roots, \
                          logarithms, trigonometry, bases, units.",
            capabilities: Capabilities::PURE,
            aliases: &[],
        }
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let expression = arguments.expression;
        if let Err(problem) = check(&expression) {
            return ToolResult::fatal("INVALID_EXPRESSION", problem);
        }
        // Ends the evaluation when this future is dropped.
        let cancel = ctx.cancel.child_token();
        let _stop = cancel.clone().drop_guard();
        let waiting = tokio::time::timeout(TIME_LIMIT, Arc::clone(&self.threads).acquire_owned());
        let Ok(Ok(permit)) = waiting.await else {
            return ToolResult::retryable("BUSY", "Other expressions are being evaluated.");
        };
        evaluate_apart(expression, cancel, permit).await
    }
}

/// Refuses what the evaluator must not see.
fn check(expression: &str) -> Result<(), String> {
    if expression.trim().is_empty() {
        return Err("The expression is empty.".to_owned());
    }
    let length = expression.chars().count();
    if length > MAX_EXPRESSION {
        return Err(format!(
            "The expression has {length} characters; at most {MAX_EXPRESSION} are evaluated."
        ));
    }
    let programs = ['\\', 'λ', ':', ';', '@', '"', '\'', '\n', '\r', '{', '}', '[', ']'];
    if let Some(character) = expression.chars().find(|c| programs.contains(c)) {
        return Err(format!(
            "'{}' is not part of arithmetic. Functions, variables, texts and dates are not \
             evaluated; write feet and inches as ft and in.",
            character.escape_default()
        ));
    }
    // The evaluator shifts without looking at its deadline.
    if expression.contains("<<") || expression.contains(">>") {
        return Err("Shifts are not evaluated; write `a * 2^n` or `floor(a / 2^n)`.".to_owned());
    }
    let comparisons_left_out = expression.replace("==", " ").replace("!=", " ");
    if comparisons_left_out.contains('=') {
        return Err("'=' is not part of arithmetic: give the right side alone, with the values \
                    filled in."
            .to_owned());
    }
    for word in expression.split(|c: char| !c.is_alphanumeric()) {
        let lower = word.to_lowercase();
        if REFUSED_WORDS.contains(&lower.as_str()) || is_dice(&lower) {
            return Err(format!("'{word}' is not evaluated: results are never random."));
        }
    }
    Ok(())
}

/// True for `d6` and `3d6`, distributions of whose sums can be endless.
fn is_dice(word: &str) -> bool {
    word.trim_start_matches(|c: char| c.is_ascii_digit())
        .strip_prefix('d')
        .is_some_and(|faces| faces.starts_with(|c: char| c.is_ascii_digit()))
}

/// Evaluates on a thread of its own, which has the stack for it and keeps `permit` to its end.
async fn evaluate_apart(
    expression: String,
    cancel: CancellationToken,
    permit: OwnedSemaphorePermit,
) -> ToolResult {
    let (answer, answered) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("calculator".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let result = evaluate(&expression, cancel);
            drop(permit);
            // The caller may have left.
            answer.send(result).is_ok()
        });
    if let Err(error) = thread {
        let problem = format!("There is no thread to compute on: {error}.");
        return ToolResult::retryable("OUT_OF_RESOURCES", problem);
    }
    match tokio::time::timeout(TIME_LIMIT + GRACE, answered).await {
        Ok(Ok(result)) => result,
        // No answer comes only from a panic on the thread.
        Ok(Err(_closed)) => ToolResult::fatal(
            "INVALID_EXPRESSION",
            "The evaluator failed on this expression by a fault of its own.",
        ),
        Err(_late) => too_costly(),
    }
}

fn too_costly() -> ToolResult {
    ToolResult::fatal(
        "EXPRESSION_TOO_COSTLY",
        format!("The result takes longer than {} s to compute.", TIME_LIMIT.as_secs()),
    )
}

fn evaluate(expression: &str, cancel: CancellationToken) -> ToolResult {
    // Each call starts with nothing defined and leaves nothing behind.
    let mut context = fend_core::Context::new();
    context.disable_rng();
    let limit = Limit { deadline: Instant::now() + TIME_LIMIT, cancel };
    match fend_core::evaluate_with_interrupt(expression, &mut context, &limit) {
        _ if limit.cancel.is_cancelled() => interrupted(),
        Ok(result) if result.get_main_result().is_empty() => {
            ToolResult::fatal("INVALID_EXPRESSION", "The expression has no value.")
        }
        Ok(result) => ToolResult::success(cut_head_tail(result.get_main_result(), MAX_OUTPUT)),
        Err(_) if limit.is_over() => too_costly(),
        Err(error) => ToolResult::fatal("INVALID_EXPRESSION", cut_head_tail(&error, MAX_OUTPUT)),
    }
}

/// Ends an evaluation.
struct Limit {
    deadline: Instant,
    cancel: CancellationToken,
}

impl Limit {
    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

impl Interrupt for Limit {
    fn should_interrupt(&self) -> bool {
        self.cancel.is_cancelled() || self.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(expression: &str) -> ToolResult {
        match check(expression) {
            Ok(()) => {
                let text = expression.to_owned();
                let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
                let work = move || evaluate(&text, CancellationToken::new());
                thread.spawn(work).expect("a thread").join().expect("no panic")
            }
            Err(problem) => ToolResult::fatal("INVALID_EXPRESSION", problem),
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        let check = |expression: &str, expect: &str| {
            assert_eq!(run(expression), ToolResult::success(expect), "{expression}");
        };
        check("1 + 2 * 3", "7");
        check("2**10", "1024");
        check("(17 - 4) × 3 ÷ 2", "19.5");
        check("0.1 + 0.2", "0.3");
        check("15% of 240", "36");
        check("2^64", "18446744073709551616");
        check("10!", "3628800");
        check("17 mod 5", "2");
        check("5 miles to km", "8.04672 km");
        check("255 to hex", "ff");
        check("sqrt(16)", "4");
        check("sqrt(2)", "approx. 1.4142135624");
        check("1,234,567 + 1", "1234568");
        check("3 == 3", "true");
        check("0x1d6", "0x1d6");
    }

    #[test]
    fn what_is_not_arithmetic_is_refused() {
        let check = |expression: &str, problem: &str| {
            let result = run(expression);
            assert_eq!(result.error_code, "INVALID_EXPRESSION", "{expression}: {result:?}");
            assert!(result.output.contains(problem), "{expression}: {}", result.output);
        };
        check("", "empty");
        check("x = 5", "'='");
        check("(\\x. x x) (\\x. x x)", "not part of arithmetic");
        check("x => x + 1", "'='");
        check("f: f", "not part of arithmetic");
        check("\"a\" + \"b\"", "not part of arithmetic");
        check("roll d6", "never random");
        check("3d6", "never random");
        check("1000000d1000000", "never random");
        check("println 5", "never random");
        check("1 / 0", "division by zero");
        check("2 +", "expected");
        check("unknownthing * 2", "unknown identifier");
        check(&"1".repeat(1_001), "1001 characters");
    }

    #[test]
    fn w4_9_costly_expressions_end() {
        let evaluations = [
            "2^(10^10)",
            "9^9^9^9",
            "99999999!",
            "fib(10^9)",
            "(10^9) choose (5 * 10^8)",
            "2^(10^9) mod 7",
            "1/3^99999 to float",
            "pi to 100000000 dp",
            "1e999999999999",
        ]
        .map(|expression| std::thread::spawn(move || (expression, run(expression))));
        for evaluation in evaluations {
            let (expression, result) = evaluation.join().expect("no panic");
            assert_eq!(result, too_costly(), "{expression}");
        }
        // Refused at once: this one would not look at the time.
        assert_eq!(run("1 << (10^12)").error_code, "INVALID_EXPRESSION");
    }

    #[test]
    fn deeply_nested_expressions_do_not_overflow_the_stack() {
        let half = MAX_EXPRESSION / 2 - 1;
        for expression in [
            format!("{}1{}", "(".repeat(half), ")".repeat(half)),
            "(".repeat(MAX_EXPRESSION),
            format!("{}1", "-".repeat(MAX_EXPRESSION - 1)),
            format!("{}1", "1+".repeat(half)),
            format!("{}1", "1^".repeat(half)),
            format!("1{}", "!".repeat(MAX_EXPRESSION - 1)),
            format!("{}1", "sqrt ".repeat(199)),
            format!("{}1", "1 of ".repeat(199)),
            format!("{}1", "not ".repeat(249)),
        ] {
            let result = run(&expression);
            assert!(!result.output.is_empty(), "{expression}");
        }
    }

    #[test]
    fn a_long_result_is_cut() {
        let result = run("7^10000");
        assert!(result.output.len() < MAX_OUTPUT + 60, "{}", result.output.len());
        assert!(result.output.contains("bytes left out"));
    }

    #[test]
    fn a_cancelled_evaluation_says_so() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(evaluate("2^(10^10)", cancel), interrupted());
    }

    #[tokio::test(start_paused = true)]
    async fn w4_9_an_evaluation_that_does_not_look_at_its_deadline_is_not_waited_for() {
        let threads = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&threads).acquire_owned().await.expect("a permit");
        let cancel = CancellationToken::new();
        // Time is paused and runs ahead of the evaluation at once.
        let result = evaluate_apart("99999999!".to_owned(), cancel.clone(), permit).await;
        assert_eq!(result, too_costly());
        assert_eq!(threads.available_permits(), 0, "the late evaluation still counts");
        cancel.cancel();
    }
}

//! When a step is done: when a call has proven it, never because somebody says so.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PlanStep;
use crate::{CallId, ResultSource, ToolCallFinished, ToolEffect, ToolStatus};

/// What proves a step: a call of this tool that succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Name of the tool.
    pub tool: String,
    /// What its arguments have to hold, such as `cargo test`; empty: anything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// The call that proved a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The call.
    pub call_id: CallId,
    /// Its tool.
    pub tool: String,
    /// What it came to, such as `exit code 0, 12 tests passed`.
    pub summary: String,
}

/// Tests that a program ran, as it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestCounts {
    /// Those that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
}

/// The last call that could have proven a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The step.
    pub step: String,
    /// The call and what it came to.
    pub proof: Proof,
    /// It proves the step.
    pub passed: bool,
    /// A program ran, on files that calls may have changed since.
    pub of_program: bool,
}

impl Verification {
    /// True when a call with these arguments is meant. Each text in them counts, and the words of a
    /// list as one line.
    pub fn fits(&self, tool: &str, arguments_json: &str) -> bool {
        if self.tool != tool {
            return false;
        }
        if self.text.is_empty() {
            return true;
        }
        serde_json::from_str(arguments_json).is_ok_and(|value| holds(&value, &self.text))
    }
}

fn holds(value: &Value, wanted: &str) -> bool {
    let has = |text: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        words.contains(wanted)
    };
    match value {
        Value::String(text) => has(text),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            has(&words.join(" ")) || items.iter().any(|item| holds(item, wanted))
        }
        Value::Object(fields) => fields.values().any(|value| holds(value, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl Trial {
    /// What a call says of the step, if it is of the kind that proves it and has really been run.
    pub fn of(
        step: &PlanStep,
        finished: &ToolCallFinished,
        arguments_json: &str,
        effect: Option<ToolEffect>,
        tests: Option<TestCounts>,
    ) -> Option<Self> {
        let was_run = matches!(finished.metrics.source, ResultSource::Run | ResultSource::Shared);
        if !was_run || !step.verify.fits(&finished.name, arguments_json) {
            return None;
        }
        let of_program = effect == Some(ToolEffect::Process);
        let tests = tests.filter(|_| of_program);
        let mut told = Vec::new();
        if finished.status != ToolStatus::Success {
            let code = match finished.error_code.as_str() {
                "" => "it did not succeed",
                code => code,
            };
            told.push(code.to_owned());
        }
        match finished.exit_code {
            Some(code) => told.push(format!("exit code {code}")),
            None if of_program => told.push("no exit code".to_owned()),
            None => {}
        }
        if let Some(TestCounts { passed, failed }) = tests {
            told.push(format!("{passed} tests passed, {failed} failed"));
        }
        let passed = finished.status == ToolStatus::Success
            && (!of_program || finished.exit_code == Some(0))
            && tests.is_none_or(|tests| tests.passed > 0 && tests.failed == 0);
        let summary = if told.is_empty() { "success".to_owned() } else { told.join(", ") };
        let (call_id, tool) = (finished.call_id.clone(), finished.name.clone());
        let proof = Proof { call_id, tool, summary };
        Some(Self { step: step.id.clone(), proof, passed, of_program })
    }

    /// Files may have been changed since: what a program said of them no longer counts.
    pub fn files_changed(&mut self) {
        if self.of_program && self.passed {
            self.passed = false;
            "files may have been changed after it".clone_into(&mut self.proof.summary);
        }
    }
}

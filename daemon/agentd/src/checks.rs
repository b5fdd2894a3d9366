//! What `agentctl doctor` looks at: everything that can be wrong with a daemon, each with a remedy.

mod browser;
mod machine;
mod memory;
mod model;
mod sandbox;
mod surroundings;
mod turns;

pub(crate) use memory::search;
pub(crate) use sandbox::{warning as sandbox_warning, why_it_is};

use std::sync::Arc;

use agentd_domain::Clock;
use agentd_engine::Engine;
use agentd_memory::Memories;
use agentd_sandbox::Programs;
use agentd_shared::Paths;
use agentd_store::Store;

use crate::control::Control;
use crate::provider::Models;
use crate::remote::Remote;
use crate::traces::TracesState;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Ok,
    /// It works and somebody should look.
    Warn,
    /// It does not work.
    Fail,
    /// It was not looked at.
    Skipped,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// Such as "endpoint".
    pub(crate) name: &'static str,
    /// How it came out.
    pub(crate) outcome: Outcome,
    /// What was found.
    pub(crate) detail: String,
    /// What to do about it; empty when all is well.
    pub(crate) remedy: String,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Ok, detail: detail.into(), remedy: String::new() }
    }

    fn warn(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Warn, detail: detail.into(), remedy: remedy.into() }
    }

    fn fail(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Fail, detail: detail.into(), remedy: remedy.into() }
    }

    fn skipped(name: &'static str, why: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Skipped, detail: why.into(), remedy: String::new() }
    }
}

/// The daemon that is looked at.
pub(crate) struct Subject<'a> {
    pub(crate) control: &'a Control,
    pub(crate) models: &'a Models,
    pub(crate) store: &'a Arc<dyn Store>,
    pub(crate) engine: &'a Engine,
    pub(crate) memories: &'a Memories,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) remote: &'a Remote,
    pub(crate) paths: &'a Paths,
    pub(crate) traces: &'a TracesState,
    /// None: this process cannot run programs.
    pub(crate) programs: Option<&'a Programs>,
}

/// Looks at everything. The endpoint is asked only when `ask` says so: a question costs tokens.
pub(crate) async fn run(subject: &Subject<'_>, ask: bool) -> Vec<Check> {
    let mut checks = vec![machine::config(subject)];
    checks.extend(model::checks(subject.models, ask).await);
    checks.push(machine::store(subject).await);
    checks.push(machine::socket(subject));
    checks.push(machine::disk(subject).await);
    checks.push(machine::clock(subject).await);
    let provider = subject.models.embedding_provider();
    checks.push(memory::check(subject.memories, provider, ask).await);
    checks.push(turns::turns(&subject.engine.slow_turns()));
    checks.push(surroundings::service(&subject.control.facts().supervision));
    checks.push(surroundings::remote(subject));
    checks.push(surroundings::traces(subject.traces));
    checks.push(sandbox::check(subject.programs).await);
    checks.push(browser::check(subject.programs));
    checks
}

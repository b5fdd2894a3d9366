//! What shuts in the programs that agents run.

use agentd_sandbox::{Backend, Missing, Programs};

use super::Check;

const NAME: &str = "sandbox";

pub(super) async fn check(programs: Option<&Programs>) -> Check {
    let Some(programs) = programs else {
        return Check::skipped(NAME, "this process runs no commands");
    };
    match programs.backend().await {
        Ok((Backend::None, _)) => Check::warn(
            NAME,
            "nothing shuts commands in: sandbox.backend is \"none\"",
            "remove it from the configuration and restart",
        ),
        Ok((backend, missing)) => Check::ok(NAME, in_force(backend, missing)),
        // All but commands works.
        Err(unavailable) => Check::warn(
            NAME,
            unavailable.to_string(),
            "install bubblewrap, then run `agentctl doctor` again",
        ),
    }
}

fn in_force(backend: Backend, missing: &[Missing]) -> String {
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let why = if missing.is_empty() { String::new() } else { format!(" ({})", missing.join("; ")) };
    format!("commands run in {backend}{why}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use agentd_sandbox::{Choice, Policy};

    use super::*;
    use crate::checks::Outcome;

    fn programs(choice: Choice) -> Programs {
        let (readable, hidden) = (Vec::new(), Vec::new());
        let helper = PathBuf::from("/nonexistent");
        Programs::new(choice, Policy { helper, readable, hidden, path: None })
    }

    #[tokio::test]
    async fn sb_01_doctor_says_what_is_missing_and_that_nothing_runs() {
        let found = check(Some(&programs(Choice::Auto))).await;
        assert_eq!(found.outcome, Outcome::Warn);
        assert!(found.detail.contains("programs are not run"), "{found:?}");
        assert_eq!(check(None).await.outcome, Outcome::Skipped);
    }

    #[test]
    fn sb_01_doctor_says_why_the_better_backend_is_not_in_force() {
        let missing = [Missing { backend: Backend::Bubblewrap, reason: "no bwrap".to_owned() }];
        assert_eq!(
            in_force(Backend::Landlock, &missing),
            "commands run in landlock (bubblewrap: no bwrap)"
        );
        assert_eq!(in_force(Backend::Bubblewrap, &[]), "commands run in bubblewrap");
    }
}

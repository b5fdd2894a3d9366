//! What shuts in the programs that agents run.

use agentd_sandbox::{Backend, Choice, Known, Missing, Programs};
use rustix::process::geteuid;

use super::{Check, Outcome};

const NAME: &str = "sandbox";

/// What to do where nothing is shut in.
const SHUT_IN: &str = "remove sandbox.backend from the configuration and restart";

pub(super) async fn check(programs: Option<&Programs>) -> Check {
    let Some(programs) = programs else {
        return Check::skipped(NAME, "this process runs no commands");
    };
    // What came of it is known afterwards.
    let _known = programs.backend().await;
    let found = found(programs.choice(), programs.known());
    if geteuid().is_root() { of_root(found) } else { found }
}

/// What works has a limit where the daemon is root.
fn of_root(found: Check) -> Check {
    if found.outcome != Outcome::Ok {
        return found;
    }
    let detail =
        format!("{}; not in workspaces that belong to root, as the daemon does", found.detail);
    Check::warn(NAME, detail, "run agentd as an ordinary user, or give the workspace to one")
}

fn found(choice: Choice, known: Known) -> Check {
    match known {
        Known::InForce { backend: Backend::None, .. } => {
            Check::warn(NAME, "NOTHING shuts commands in: sandbox.backend is \"none\"", SHUT_IN)
        }
        Known::InForce { backend, missing, accounting } => {
            let why = why_it_is(choice, &missing);
            let detail = format!("commands run in {backend} ({why}); {accounting}");
            match missing.iter().find(|missing| missing.is_broken) {
                None => Check::ok(NAME, detail),
                Some(broken) => Check::warn(NAME, detail, remedy(broken.backend)),
            }
        }
        // All but commands works.
        Known::NoneWorks(unavailable) => {
            let wanted = match choice {
                Choice::Only(backend) => backend,
                Choice::Auto => Backend::Bubblewrap,
            };
            let remedy = format!("{}, then run `agentctl doctor` again", remedy(wanted));
            Check::warn(NAME, unavailable.to_string(), remedy)
        }
        Known::Nothing => Check::skipped(NAME, "what works is still being tried"),
    }
}

fn remedy(backend: Backend) -> &'static str {
    match backend {
        Backend::Bubblewrap => {
            "install bubblewrap and allow user namespaces (kernel.apparmor_restrict_unprivileged_userns=0 \
             or a profile for bwrap, user.max_user_namespaces above 0)"
        }
        Backend::Landlock => "use a kernel with Landlock (5.13 or newer, lsm=landlock)",
        Backend::Container => {
            "start the engine, let this user use its socket, and pull sandbox.container.image"
        }
        Backend::None => SHUT_IN,
    }
}

/// Why it is the backend that is in force.
pub(crate) fn why_it_is(choice: Choice, missing: &[Missing]) -> String {
    match choice {
        Choice::Only(_) => "sandbox.backend asks for it".to_owned(),
        Choice::Auto if missing.is_empty() => "the best that there is".to_owned(),
        Choice::Auto => {
            let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
            format!("the best that works here; {}", missing.join("; "))
        }
    }
}

/// What `agentctl status` warns of.
pub(crate) fn warning(known: &Known) -> Option<String> {
    match known {
        Known::InForce { backend: Backend::None, .. } => {
            Some(format!("NOTHING shuts commands in: sandbox.backend is \"none\"; {SHUT_IN}"))
        }
        Known::InForce { missing, backend, .. } => {
            let broken = missing.iter().find(|missing| missing.is_broken)?;
            Some(format!("commands run in {backend}, which promises less than {broken} would"))
        }
        Known::NoneWorks(unavailable) => Some(unavailable.to_string()),
        Known::Nothing => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use agentd_sandbox::{Accounting, AllowList, Policy};

    use super::*;

    fn programs(choice: Choice) -> Programs {
        let (readable, hidden) = (Vec::new(), Vec::new());
        let helper = PathBuf::from("/nonexistent");
        Programs::new(
            choice,
            Policy {
                helper,
                readable,
                hidden,
                path: None,
                allow_hosts: AllowList::default(),
                container: None,
            },
        )
    }

    fn in_force(backend: Backend, missing: Vec<Missing>) -> Known {
        Known::InForce {
            backend,
            missing,
            accounting: Accounting::Processes { why: "no cgroup v2".to_owned() },
        }
    }

    fn no_bubblewrap(reason: &str, is_broken: bool) -> Missing {
        Missing { backend: Backend::Bubblewrap, reason: reason.to_owned(), is_broken }
    }

    #[tokio::test]
    async fn sb_01_doctor_says_what_is_missing_and_that_nothing_runs() {
        let programs = programs(Choice::Auto);
        assert_eq!(warning(&programs.known()), None, "nothing was tried yet");
        let check = check(Some(&programs)).await;
        assert_eq!(check.outcome, Outcome::Warn);
        assert!(check.detail.contains("programs are not run"), "{check:?}");
        assert_eq!(warning(&programs.known()), Some(check.detail));
        assert_eq!(super::check(None).await.outcome, Outcome::Skipped);
    }

    #[test]
    fn sb_01_doctor_says_why_the_better_backend_is_not_in_force() {
        let absent = in_force(Backend::Landlock, vec![no_bubblewrap("no bwrap", false)]);
        let check = found(Choice::Auto, absent.clone());
        assert_eq!((check.outcome, warning(&absent)), (Outcome::Ok, None));
        assert_eq!(
            check.detail,
            "commands run in landlock (the best that works here; bubblewrap: no bwrap); \
             limits of each process, no cgroup: no cgroup v2"
        );
        let broken = in_force(Backend::Landlock, vec![no_bubblewrap("not permitted", true)]);
        let check = found(Choice::Auto, broken.clone());
        assert_eq!(check.outcome, Outcome::Warn);
        assert!(check.remedy.contains("apparmor_restrict_unprivileged_userns"), "{check:?}");
        let warning = warning(&broken).expect("it is told");
        assert!(warning.contains("bubblewrap: not permitted"), "{warning}");
    }

    #[test]
    fn sb_01_doctor_says_that_root_has_nothing_shut_in_in_its_own_workspaces() {
        let works = found(Choice::Auto, in_force(Backend::Bubblewrap, Vec::new()));
        let check = of_root(works);
        assert_eq!(check.outcome, Outcome::Warn);
        assert!(check.detail.contains("not in workspaces that belong to root"), "{check:?}");
        let open = found(Choice::Only(Backend::None), in_force(Backend::None, Vec::new()));
        assert!(of_root(open).detail.starts_with("NOTHING"), "what is worse is told");
    }

    #[test]
    fn sb_01_no_sandbox_at_all_is_told_loudly() {
        let open = in_force(Backend::None, Vec::new());
        let check = found(Choice::Only(Backend::None), open.clone());
        assert_eq!(check.outcome, Outcome::Warn);
        assert!(check.detail.starts_with("NOTHING shuts commands in"), "{check:?}");
        assert!(warning(&open).expect("it is told").starts_with("NOTHING"));
    }
}

//! Groups on the kernel of this machine, where the tests may make any.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command};

use super::*;

/// The groups of this process, or a line that says why there are none.
fn groups(test: &str) -> Option<Arc<Cgroups>> {
    Cgroups::of_process().inspect_err(|why| println!("{test}: skipped: {why}")).ok()
}

fn sleeper() -> Child {
    Command::new("sleep").arg("600").spawn().expect("a process")
}

/// How it was ended, once it is.
fn signal_of(mut child: Child) -> Option<i32> {
    child.wait().expect("its end").signal()
}

#[test]
fn what_is_in_a_group_ends_with_it_and_the_group_is_gone() {
    let Some(groups) = groups("group of a run") else { return };
    let dir = groups.runs.join("run-test");
    let group = RunGroup::make(dir.clone(), &groups.controllers, &Limits::SCRIPT).expect("a group");
    let child = sleeper();
    group.take_in(child.id()).expect("it is taken in");
    let inside = std::fs::read_to_string(format!("/proc/{}/cgroup", child.id())).expect("a file");
    assert!(inside.contains("/run-test\n"), "{inside}");
    assert_eq!(group.limits_met(), LimitsMet::default());
    assert!(dir.exists());
    drop(group);
    assert_eq!(signal_of(child), Some(9));
    assert!(!dir.exists());
}

#[test]
fn what_a_daemon_that_was_killed_has_left_is_ended_and_removed_at_the_next_start() {
    let Some(groups) = groups("leftovers") else { return };
    // Not the true base, where every daemon that starts meanwhile removes it too.
    let base = groups.runs.join("base-test");
    // The first process of the machine did not start at that time.
    let left = base.join("agentd.1.18446744073709551615");
    let run = left.join("run-0");
    std::fs::create_dir_all(&run).expect("a group");
    let child = sleeper();
    write(&run, "cgroup.procs", &child.id().to_string()).expect("it is moved");
    let own = base.join(own::name().expect("a name"));
    std::fs::create_dir(&own).expect("our own");
    own::remove_leftovers(&base);
    assert_eq!(signal_of(child), Some(9));
    assert!(!left.exists());
    assert!(own.exists(), "what belongs to a daemon that lives stays");
    run::remove_all(&own);
    run::remove_all(&base);
}

#[test]
fn limits_are_written_as_they_were_given() {
    let Some(groups) = groups("limits of a group") else { return };
    if groups.controllers.len() < CONTROLLERS.len() {
        println!("limits of a group: skipped: only {:?} are in cgroup v2", groups.controllers);
        return;
    }
    let dir = groups.runs.join("run-limits");
    let group = RunGroup::make(dir.clone(), &groups.controllers, &Limits::SCRIPT).expect("a group");
    let read = |file: &str| std::fs::read_to_string(dir.join(file)).expect(file).trim().to_owned();
    assert_eq!(read("memory.max"), (256 * 1024 * 1024).to_string());
    assert_eq!(read("pids.max"), "72", "64, and those of the box itself");
    assert_eq!(read("cpu.max"), "50000 100000");
    drop(group);
    assert!(!dir.exists());
}

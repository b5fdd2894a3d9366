//! The backends whose boxes are processes of ours.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::cut_line;
use async_trait::async_trait;
use tokio::time::Instant;

use crate::cgroup::{Accounting, Cgroups, Groups};
use crate::inside::{Confinement, Files, Modes};
use crate::launch::{self, Launch, SpawnError, Whereabouts};
use crate::sandbox::{MAX_REASON, probe};
use crate::spawner::Spawner;
use crate::terminal::{Terminal, TerminalSize};
use crate::{Backend, Child, Command, Policy, Sandbox, bubblewrap, landlock_box, leftovers};

/// Programs behind one of them.
#[derive(Debug)]
pub(crate) struct Boxes {
    backend: Backend,
    /// Where bubblewrap is; without meaning for others.
    bubblewrap: PathBuf,
    policy: Policy,
    spawner: Spawner,
    /// Control groups of the runs.
    groups: Groups,
}

impl Boxes {
    /// Nothing has run in it yet.
    ///
    /// # Errors
    /// One line, and whether it is something broken and not something absent.
    pub(crate) fn new(backend: Backend, policy: &Policy) -> Result<Self, (String, bool)> {
        let bubblewrap = match backend {
            Backend::Bubblewrap => {
                find("bwrap").ok_or(("bwrap is not installed".to_owned(), false))?
            }
            Backend::Landlock | Backend::None => PathBuf::new(),
            Backend::Container => return Err(("it is an engine's".to_owned(), true)),
        };
        let spawner = Spawner::start().map_err(|error| (error.to_string(), true))?;
        let groups = Groups::new(Cgroups::of_process(), Instant::now());
        leftovers::remove(&std::env::temp_dir());
        Ok(Self { backend, bubblewrap, policy: policy.clone(), spawner, groups })
    }

    pub(crate) fn has_groups(&self) -> bool {
        self.groups.get().is_some()
    }

    /// Runs programs in no group of their own for now.
    pub(crate) fn without_groups(&mut self, why: &str) {
        self.groups = Groups::new(Err(no_program_runs(why)), Instant::now());
    }

    /// Groups that work: a program has run in one.
    ///
    /// # Errors
    /// One line: why there are none.
    async fn proven_groups(&self) -> Result<Arc<Cgroups>, String> {
        let found = tokio::task::spawn_blocking(Cgroups::of_process).await;
        let found = found.unwrap_or_else(|_panicked| Err("the look broke off".to_owned()))?;
        let trial = Self {
            backend: self.backend,
            bubblewrap: self.bubblewrap.clone(),
            policy: self.policy.clone(),
            spawner: self.spawner.clone(),
            groups: Groups::new(Ok(Arc::clone(&found)), Instant::now()),
        };
        match probe(&trial).await {
            Ok(()) => Ok(found),
            Err(why) => Err(no_program_runs(&cut_line(&why, MAX_REASON))),
        }
    }
}

#[async_trait]
impl Sandbox for Boxes {
    fn backend(&self) -> Backend {
        self.backend
    }

    fn accounting(&self) -> Accounting {
        self.groups.accounting()
    }

    async fn spawn(&self, command: &Command) -> Result<Child, SpawnError> {
        let (launch, whereabouts) = self.launch(command)?;
        self.start(launch, whereabouts, command).await
    }

    async fn open_terminal(
        &self,
        command: &Command,
        size: TerminalSize,
    ) -> Result<(Child, Terminal), SpawnError> {
        let (mut launch, (place, identity)) = self.launch(command)?;
        let (terminal, theirs) = Terminal::open(size, identity)?;
        launch.in_terminal(theirs);
        Ok((self.start(launch, (place, identity), command).await?, terminal))
    }
}

impl Boxes {
    async fn start(
        &self,
        launch: Launch,
        whereabouts: Whereabouts,
        command: &Command,
    ) -> Result<Child, SpawnError> {
        self.groups.look_again(Instant::now(), self.proven_groups()).await;
        let group = self.groups.get().map(|groups| groups.make(&command.limits)).transpose()?;
        let spawner = (&self.spawner, group);
        launch::start(launch, whereabouts, (command, &self.policy), spawner).await
    }

    fn launch(&self, command: &Command) -> Result<(Launch, Whereabouts), SpawnError> {
        let (place, identity) = launch::check(command, &self.policy)?;
        let launch = match self.backend {
            Backend::Bubblewrap => {
                launch::not_root(&place, identity)?;
                bubblewrap::launch(&self.bubblewrap, command, &self.policy, &place)
            }
            Backend::Landlock => {
                launch::not_root(&place, identity)?;
                landlock_box::launch(command, &self.policy, &place, identity)?
            }
            // There is none: `new` makes no such box.
            Backend::Container => {
                return Err(SpawnError::Start(std::io::Error::other("it is an engine's")));
            }
            Backend::None => {
                let scratch = launch::scratch(identity)?;
                Launch {
                    outer: vec![self.policy.helper.clone().into()],
                    inside: Confinement {
                        cwd: place.cwd.clone(),
                        limits: command.limits,
                        paths: None,
                        sockets: None,
                        files: Files::ByMounts,
                        modes: Modes::Free,
                        counts_own_processes: false,
                        // Nothing keeps it from any host.
                        egress: false,
                    },
                    home: scratch.path().to_owned(),
                    temporary: scratch.path().to_owned(),
                    scratch: Some(scratch),
                    kill_on_drop: false,
                    terminal: None,
                }
            }
        };
        Ok((launch, (place, identity)))
    }
}

/// Why groups are not used with which nothing works.
fn no_program_runs(why: &str) -> String {
    format!("with one no program runs: {why}")
}

/// The program of this name in the daemon's own `PATH`.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(program))
        .find(|path| Path::is_file(path))
}

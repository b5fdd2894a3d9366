//! What a sandbox promises: the one list, for the tests and for whoever wants proof on a machine.

use crate::{Accounting, Backend, landlock_box};

/// One thing that a program in a box cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Promise {
    /// Write beside the workspace.
    WriteOutside,
    /// Change modes and times of files beside the workspace.
    Modes,
    /// Read what it was not given.
    Secrets,
    /// Reach it through links.
    Links,
    /// Change the workspace when it may only read.
    ReadOnly,
    /// Change what runs later outside of the box.
    RunLater,
    /// Touch other processes.
    Processes,
    /// Signal other processes.
    Signals,
    /// See other processes.
    ProcessList,
    /// Gain rights.
    Rights,
    /// Use the network.
    Network,
    /// Reach hosts that were not granted, where some were.
    Hosts,
    /// See variables of the daemon.
    Environment,
    /// Start processes without end.
    ProcessCount,
    /// Take memory without end.
    Memory,
    /// Take memory without end by many processes.
    TotalMemory,
    /// Compute without end.
    CpuTime,
    /// Take all processors.
    CpuShare,
    /// Write a file without end.
    FileSize,
    /// Fill the place for temporary files.
    TemporarySpace,
    /// Go on when it is to end.
    WallTime,
    /// Leave something running.
    Leftovers,
}

/// Why a promise is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpromised {
    /// One line.
    pub reason: String,
    /// What to do to get it.
    pub remedy: &'static str,
}

const NOT_SHUT_IN: &str = "remove sandbox.backend from the configuration and restart";

const BY_BUBBLEWRAP: &str = "use the backend bubblewrap";

const BY_NAMESPACES: &str = "install bubblewrap and allow user namespaces";

impl Promise {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 22] = [
        Self::WriteOutside,
        Self::Modes,
        Self::Secrets,
        Self::Links,
        Self::ReadOnly,
        Self::RunLater,
        Self::Processes,
        Self::Signals,
        Self::ProcessList,
        Self::Rights,
        Self::Network,
        Self::Hosts,
        Self::Environment,
        Self::ProcessCount,
        Self::Memory,
        Self::TotalMemory,
        Self::CpuTime,
        Self::CpuShare,
        Self::FileSize,
        Self::TemporarySpace,
        Self::WallTime,
        Self::Leftovers,
    ];

    /// As the wire and people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WriteOutside => "write-outside",
            Self::Modes => "modes",
            Self::Secrets => "secrets",
            Self::Links => "links",
            Self::ReadOnly => "read-only",
            Self::RunLater => "run-later",
            Self::Processes => "processes",
            Self::Signals => "signals",
            Self::ProcessList => "process-list",
            Self::Rights => "rights",
            Self::Network => "network",
            Self::Hosts => "hosts",
            Self::Environment => "environment",
            Self::ProcessCount => "process-count",
            Self::Memory => "memory",
            Self::TotalMemory => "total-memory",
            Self::CpuTime => "cpu-time",
            Self::CpuShare => "cpu-share",
            Self::FileSize => "file-size",
            Self::TemporarySpace => "temporary-space",
            Self::WallTime => "wall-time",
            Self::Leftovers => "leftovers",
        }
    }

    /// What is promised, in a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::WriteOutside => "nothing outside the workspace is written to",
            Self::Modes => "modes and times of files outside the workspace stay as they are",
            Self::Secrets => "keys and the daemon's own files cannot be read",
            Self::Links => "symbolic and hard links lead nowhere else",
            Self::ReadOnly => "a command that only reads changes nothing",
            Self::RunLater => "git's own, shell and CI files that are there cannot be changed",
            Self::Processes => "other processes cannot be traced or looked into",
            Self::Signals => "other processes cannot be signalled",
            Self::ProcessList => "other processes cannot be seen",
            Self::Rights => "set-uid programs and user namespaces give no rights",
            Self::Network => "the network and sockets of other programs are out of reach",
            Self::Hosts => "of the network only granted hosts are reached, where some are",
            Self::Environment => "no variable of the daemon is passed on",
            Self::ProcessCount => "a fork bomb meets a limit",
            Self::Memory => "memory of a process has a limit",
            Self::TotalMemory => "memory of all processes together has a limit",
            Self::CpuShare => "the processors are shared where a limit says so",
            Self::CpuTime => "CPU time of a process has a limit",
            Self::FileSize => "a file has a longest size",
            Self::TemporarySpace => "temporary files cannot fill the disk",
            Self::WallTime => "a program that ignores its end is ended",
            Self::Leftovers => "what a program leaves running is ended",
        }
    }

    /// Why it is not promised with this backend and what holds its limits; none: it is.
    pub fn unpromised(self, backend: Backend, accounting: &Accounting) -> Option<Unpromised> {
        let (reason, remedy) = match (self, backend) {
            (Self::TotalMemory, _) => return by_group("memory", accounting),
            (Self::CpuShare, _) => return by_group("cpu", accounting),
            (Self::Hosts, Backend::Container) => (
                "a container has the network of its engine or none: no helper of ours is in it",
                BY_BUBBLEWRAP,
            ),
            (
                Self::Environment
                | Self::ProcessCount
                | Self::Memory
                | Self::CpuTime
                | Self::FileSize
                | Self::WallTime
                | Self::Leftovers,
                _,
            )
            | (_, Backend::Bubblewrap | Backend::Container) => return None,
            (_, Backend::None) => {
                ("sandbox.backend is \"none\": nothing shuts programs in", NOT_SHUT_IN)
            }
            (Self::Modes, Backend::Landlock) => (
                "Landlock does not hold chmod and utimes: of files of the same user, modes and \
                 times can be changed",
                BY_NAMESPACES,
            ),
            (Self::RunLater, Backend::Landlock) => (
                "Landlock cannot except files from a directory that may be written to; each change \
                 is told",
                BY_NAMESPACES,
            ),
            (Self::Signals, Backend::Landlock) if !landlock_box::holds_signals() => (
                "this kernel's Landlock does not hold signals, which that of Linux 6.12 does",
                "install bubblewrap and allow user namespaces, or use Linux 6.12 or newer",
            ),
            (Self::ProcessList, Backend::Landlock) => (
                "Landlock leaves the names and arguments of other processes in sight",
                BY_NAMESPACES,
            ),
            (Self::Hosts, Backend::Landlock) => (
                "Landlock tells ports apart and no hosts, so that a program has all of the network or \
                 none",
                BY_NAMESPACES,
            ),
            (Self::TemporarySpace, Backend::Landlock) => (
                "temporary files are on the disk, where only the size of each is bounded",
                BY_NAMESPACES,
            ),
            (_, Backend::Landlock) => return None,
        };
        Some(Unpromised { reason: reason.to_owned(), remedy })
    }
}

/// What only a control group holds.
fn by_group(controller: &str, accounting: &Accounting) -> Option<Unpromised> {
    let unpromised = || Unpromised {
        reason: format!("each process has its own limits: {}", accounting.why_not()),
        remedy: "run agentd as a service of systemd (`agentctl service install`), on a system with \
                 cgroup v2",
    };
    (!accounting.has(controller)).then(unpromised)
}

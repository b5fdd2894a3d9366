//! How a command ends: exit codes, and failures that say what, why and what to do.

mod from_shared;

use std::process::ExitCode;

pub(crate) use agentd_shared::chain;

/// How the process ends. The numbers are part of the interface; `--help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done; also when the reader of our output closed the pipe.
    Ok,
    /// The turn or the command failed.
    Failed,
    /// The command line makes no sense.
    Usage,
    /// The daemon does not answer and cannot be started.
    Unreachable,
    /// There is no such session, message or file.
    NotFound,
    /// The turn was interrupted by somebody.
    Interrupted,
    /// The turn waits for an answer.
    Waiting,
    /// Ctrl-C, or another signal.
    CtrlC,
}

impl Exit {
    /// All of them, by their codes.
    pub(crate) const ALL: [Self; 8] = [
        Self::Ok,
        Self::Failed,
        Self::Usage,
        Self::Unreachable,
        Self::NotFound,
        Self::Interrupted,
        Self::Waiting,
        Self::CtrlC,
    ];

    /// What it means, as the help and the manual say it.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done (also when the reader of the output went away, as with `| head`)",
            Self::Failed => "the turn or the command failed",
            Self::Usage => "wrong usage",
            Self::Unreachable => "the daemon cannot be reached or started",
            Self::NotFound => "not found",
            Self::Interrupted => "the turn was interrupted",
            Self::Waiting => {
                "the turn waits for an answer: open it with `agentctl chat --session ID`"
            }
            Self::CtrlC => "stopped by Ctrl-C",
        }
    }

    /// The exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::NotFound => 4,
            Self::Interrupted => 5,
            Self::Waiting => 6,
            Self::CtrlC => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Whoever read our output went away (`| head`). Not worth a message.
    Closed,
    /// Something to tell the user.
    Report(Report),
}

/// What went wrong, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// How the process ends.
    pub(crate) exit: Exit,
    /// What went wrong, without a full stop.
    pub(crate) what: String,
    /// The cause, or empty.
    pub(crate) why: String,
    /// The remedy, or empty.
    pub(crate) hint: String,
}

impl Failure {
    /// A failure without cause or remedy; add them with [`Failure::because`] and [`Failure::hint`].
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self::Report(Report { exit, what: what.into(), why: String::new(), hint: String::new() })
    }

    /// Adds the cause.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "reads better with the error that is at hand"
    )]
    pub(crate) fn because(mut self, cause: impl ToString) -> Self {
        if let Self::Report(report) = &mut self {
            report.why = cause.to_string();
        }
        self
    }

    /// Adds the remedy.
    #[must_use]
    pub(crate) fn hint(mut self, remedy: impl Into<String>) -> Self {
        if let Self::Report(report) = &mut self {
            report.hint = remedy.into();
        }
        self
    }

    /// How the process ends.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Closed => Exit::Ok,
            Self::Report(report) => report.exit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_documented_ones() {
        let check = |exit: Exit, code: u8| assert_eq!(exit.code(), code, "{exit:?}");
        check(Exit::Ok, 0);
        check(Exit::Failed, 1);
        check(Exit::Usage, 2);
        check(Exit::Unreachable, 3);
        check(Exit::NotFound, 4);
        check(Exit::Interrupted, 5);
        check(Exit::Waiting, 6);
        check(Exit::CtrlC, 130);
        assert_eq!(Failure::Closed.exit(), Exit::Ok, "a closed pipe is no error");
    }
}

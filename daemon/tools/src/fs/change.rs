//! Changes of files: what is planned of them, and carrying them out as planned.

use std::io;
use std::path::PathBuf;

use agentd_domain::{Action, ActionTarget, ToolResult};
use tokio_util::sync::CancellationToken;

use super::changes::ChangedFile;
use super::save::{Target, lock, sha256, stale};
use super::workspace::{Workspace, told};
use super::{FileLedger, diff, syntax};
use crate::run::interrupted;

/// What a file will hold.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) target: Target,
    /// None when it will be removed.
    pub(super) new: Option<Vec<u8>>,
    /// What is to be said of how it was made.
    pub(super) notes: Vec<String>,
}

impl Change {
    /// A change of which nothing is to be said.
    pub(super) fn to(target: Target, new: Option<Vec<u8>>) -> Self {
        Self { target, new, notes: Vec::new() }
    }

    fn new_sha256(&self) -> Option<String> {
        self.new.as_deref().map(sha256)
    }

    /// One of this many of an action.
    fn action_target(&self, of: usize) -> ActionTarget {
        let (old, new) = (self.target.content.as_deref(), self.new.as_deref());
        ActionTarget::Write {
            path: told(&self.target.place),
            base_sha256: self.target.sha256(),
            new_sha256: self.new_sha256(),
            diff: diff::planned(&self.target.told(), old, new, of),
        }
    }

    fn diff(&self) -> String {
        diff::unified(&self.target.told(), self.target.content.as_deref(), self.new.as_deref())
    }

    fn is_planned_as(&self, planned: &ActionTarget) -> bool {
        let ActionTarget::Write { path, base_sha256, new_sha256, .. } = planned else {
            return false;
        };
        told(&self.target.place) == *path
            && self.target.sha256() == *base_sha256
            && self.new_sha256() == *new_sha256
    }

    /// Writes or removes the file.
    fn save(&self, workspace: &Workspace<'_>) -> Result<(), ToolResult> {
        match &self.new {
            Some(new) if self.target.content.as_ref() == Some(new) => Ok(()),
            Some(new) => workspace.save(&self.target, new),
            None => workspace.remove(&self.target),
        }
    }

    /// Puts back what was there.
    fn take_back(&self, workspace: &Workspace<'_>) -> Result<(), ToolResult> {
        let written = Target { content: self.new.clone(), ..self.target.clone() };
        match &self.target.content {
            Some(old) if written.content.as_ref() == Some(old) => Ok(()),
            Some(old) => workspace.save(&written, old),
            None => workspace.remove(&written),
        }
    }

    /// What is told of it once it is made.
    fn told(&self) -> String {
        let Self { target, new, notes } = self;
        let name = target.told();
        let mut output = match (target.sha256(), new) {
            (_, None) => format!("Removed '{name}'.\n"),
            (Some(_), Some(new)) if target.content.as_ref() == Some(new) => {
                format!("'{name}' holds this already.\n")
            }
            // All of it is new, and was just sent.
            (None, Some(new)) => {
                format!("Made '{name}', {} bytes, sha256 {}.\n", new.len(), sha256(new))
            }
            (Some(old), Some(new)) => {
                format!("Changed '{name}', sha256 {old} -> {}.\n{}", sha256(new), self.diff())
            }
        };
        let syntax = new.as_deref().and_then(|new| syntax::note(&target.place, new));
        for note in notes.iter().cloned().chain(syntax) {
            output.push_str(&note);
            output.push('\n');
        }
        output
    }
}

/// What changes will do. `verb` says it for people.
pub(super) fn action(verb: &str, changes: &[Change]) -> Action {
    let names: Vec<String> = changes.iter().map(|change| change.target.told()).collect();
    let later = if changes.iter().any(|change| agentd_sandbox::runs_later(&change.target.place)) {
        " (it runs later, outside of the sandbox)"
    } else {
        ""
    };
    Action {
        summary: format!("{verb} {}{later}", names.join(", ")),
        targets: changes.iter().map(|change| change.action_target(changes.len())).collect(),
    }
}

/// Carries out what was planned, all of it or nothing. `make` makes the changes from the files as
/// they are now.
///
/// What it replaced is kept, so that it can be taken back.
pub(super) fn carry_out(
    workspace: &Workspace<'_>,
    ledger: &FileLedger,
    planned: &Action,
    cancel: &CancellationToken,
    make: impl FnOnce() -> Result<Vec<Change>, ToolResult>,
) -> Result<ToolResult, ToolResult> {
    let mut kept = None;
    let done = carry_out_planned(workspace, ledger, planned, cancel, make, |changes| {
        // Before anything is written: what cannot be taken back must not come about unseen.
        kept = keep(ledger, changes).transpose();
    });
    match (done, kept) {
        (Ok(mut result), Some(Err(error))) => {
            tracing::warn!(%error, "no copy of what a change replaced could be kept");
            let note = format!("\n[It cannot be taken back: no copy could be kept: {error}.]");
            result.output.push_str(&note);
            Ok(result)
        }
        (Err(refusal), Some(Ok(number))) if !refusal.workspace_changed => {
            forget(ledger, number);
            Err(refusal)
        }
        (done, _) => done,
    }
}

/// Keeps what changes will replace. Returns the number of the change; none when nothing changes.
fn keep(ledger: &FileLedger, changes: &[Change]) -> io::Result<Option<u64>> {
    let changed = changes.iter().filter(|change| change.target.content != change.new);
    let files: Vec<_> = changed
        .map(|change| {
            let file = ChangedFile {
                path: told(&change.target.place),
                before: change.target.sha256(),
                after: change.new_sha256(),
                mode: change.target.mode,
            };
            (file, change.target.content.clone())
        })
        .collect();
    if files.is_empty() { Ok(None) } else { ledger.changes().keep(files).map(Some) }
}

fn forget(ledger: &FileLedger, number: u64) {
    if let Err(error) = ledger.changes().forget(number) {
        // Taking it back again changes nothing: the files hold already what they did.
        tracing::warn!(%error, "a change that was taken back is still in the journal");
    }
}

/// As [`carry_out`], of changes that take back the one of this number.
pub(super) fn take_back(
    workspace: &Workspace<'_>,
    ledger: &FileLedger,
    planned: &Action,
    cancel: &CancellationToken,
    number: u64,
    make: impl FnOnce() -> Result<Vec<Change>, ToolResult>,
) -> Result<ToolResult, ToolResult> {
    let result = carry_out_planned(workspace, ledger, planned, cancel, make, |_changes| {})?;
    forget(ledger, number);
    Ok(result)
}

fn carry_out_planned(
    workspace: &Workspace<'_>,
    ledger: &FileLedger,
    planned: &Action,
    cancel: &CancellationToken,
    make: impl FnOnce() -> Result<Vec<Change>, ToolResult>,
    before_writing: impl FnOnce(&[Change]),
) -> Result<ToolResult, ToolResult> {
    let paths: Vec<PathBuf> = planned
        .targets
        .iter()
        .filter_map(|target| match target {
            ActionTarget::Write { path, .. } => Some(workspace.absolute(path.as_ref())),
            _ => None,
        })
        .collect();
    // Nobody of this process changes them between the look and the write.
    let _locks = lock(&paths);
    let changes = make()?;
    let mut targets = planned.targets.iter();
    if let Some(other) = changes
        .iter()
        .find(|change| !targets.next().is_some_and(|planned| change.is_planned_as(planned)))
    {
        return Err(stale(&other.target, other.target.content.as_deref().unwrap_or_default()));
    }
    if changes.is_empty() || targets.next().is_some() {
        return Err(ToolResult::fatal("NOT_PLANNED", "Other changes than these were planned."));
    }
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    before_writing(&changes);
    for (index, change) in changes.iter().enumerate() {
        if let Err(mut refusal) = change.save(workspace) {
            let made = changes.get(..index).unwrap_or_default();
            let left: Vec<String> = made
                .iter()
                .rev()
                .filter(|change| change.take_back(workspace).is_err())
                .map(|change| change.target.told())
                .collect();
            if !left.is_empty() {
                refusal.workspace_changed = true;
                refusal.output.extend([" Changed all the same: ", &left.join(", "), "."]);
            }
            return Err(refusal);
        }
    }
    for change in &changes {
        ledger.note(&change.target.path, change.new_sha256().as_deref());
    }
    let output: String = changes.iter().map(Change::told).collect();
    let result = ToolResult::success(output.trim_end());
    let changed = changes.iter().filter(|change| change.target.content != change.new);
    let diff: String = changed.map(Change::diff).collect();
    Ok(if diff.is_empty() { result } else { result.with_diff(diff) })
}

/// Refuses to change a file that the session does not know.
pub(super) fn check_known(ledger: &FileLedger, target: &Target) -> Result<(), ToolResult> {
    let Some(content) = &target.content else { return Ok(()) };
    match ledger.seen(&target.path) {
        Some(seen) if seen == sha256(content) => Ok(()),
        Some(_) => Err(stale(target, content)),
        None => Err(ToolResult::fatal(
            "NOT_READ",
            format!(
                "'{}' exists and was not read in this session; read it with read_file before it is \
                 changed.",
                target.told()
            ),
        )),
    }
}

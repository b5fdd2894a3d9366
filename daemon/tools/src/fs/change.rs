//! A change of one file: what is planned of it, and carrying it out as planned.

use agentd_domain::{Action, ActionTarget, ToolResult};
use tokio_util::sync::CancellationToken;

use super::save::{Target, lock, sha256, stale};
use super::workspace::{Workspace, told};
use super::{FileLedger, diff, protected, syntax};
use crate::run::interrupted;

/// What a file will hold.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) target: Target,
    pub(super) new: Vec<u8>,
    /// What is to be said of how it was made.
    pub(super) notes: Vec<String>,
}

impl Change {
    /// What it will do. `verb` says it for people.
    pub(super) fn action(&self, verb: &str) -> Action {
        let later = if protected::runs_later(&self.target.place) {
            " (it runs later, outside of the sandbox)"
        } else {
            ""
        };
        let target = ActionTarget::Write {
            path: told(&self.target.place),
            base_sha256: self.target.sha256(),
            new_sha256: Some(sha256(&self.new)),
            diff: self.diff(),
        };
        Action { summary: format!("{verb} {}{later}", self.target.told()), targets: vec![target] }
    }

    fn diff(&self) -> String {
        diff::unified(&self.target.told(), self.target.content.as_deref(), Some(&self.new))
    }

    /// Writes the file and remembers what it holds.
    fn save(
        &self,
        workspace: &Workspace<'_>,
        ledger: &FileLedger,
    ) -> Result<ToolResult, ToolResult> {
        let Self { target, new, notes } = self;
        let hash = sha256(new);
        let told = target.told();
        if target.content.as_deref() == Some(new.as_slice()) {
            ledger.note(&target.path, &hash);
            return Ok(ToolResult::success(format!("'{told}' holds this already.")));
        }
        workspace.save(target, new)?;
        ledger.note(&target.path, &hash);
        let diff = self.diff();
        let mut output = match target.sha256() {
            // All of it is new, and was just sent.
            None => format!("Made '{told}', {} bytes, sha256 {hash}.\n", new.len()),
            Some(old) => format!("Changed '{told}', sha256 {old} -> {hash}.\n{diff}"),
        };
        for note in notes.iter().cloned().chain(syntax::note(&target.place, new)) {
            output.push_str(&note);
            output.push('\n');
        }
        Ok(ToolResult::success(output.trim_end()).with_diff(diff))
    }
}

/// Carries out what was planned, or nothing. `make` makes the change from the file as it is now.
pub(super) fn carry_out(
    workspace: &Workspace<'_>,
    ledger: &FileLedger,
    planned: &Action,
    cancel: &CancellationToken,
    make: impl FnOnce() -> Result<Change, ToolResult>,
) -> Result<ToolResult, ToolResult> {
    let Some(ActionTarget::Write { path, base_sha256, new_sha256, .. }) = planned.targets.first()
    else {
        return Err(ToolResult::fatal("NOT_PLANNED", "No change of a file was planned."));
    };
    // Nobody of this process changes it between the look and the write.
    let _lock = lock(&workspace.absolute(path.as_ref()));
    let change = make()?;
    let is_as_planned = told(&change.target.place) == *path
        && change.target.sha256() == *base_sha256
        && Some(sha256(&change.new)) == *new_sha256;
    if !is_as_planned {
        return Err(stale(&change.target, change.target.content.as_deref().unwrap_or_default()));
    }
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    change.save(workspace, ledger)
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

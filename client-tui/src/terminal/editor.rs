//! A text in the editor of whoever sits here.

use std::env;
use std::io::{self, Write as _};
use std::process::{Command, ExitStatus};

/// Bytes of the longest text that is taken back, as the daemon takes a message.
const MAX_BYTES: u64 = 1 << 20;
/// What is run when nobody has said which editor.
const DEFAULT: &str = "vi";

/// Why a text did not come back.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The text cannot be written to a file or read again.
    #[error("cannot keep the message in a file: {0}")]
    File(#[from] io::Error),
    /// The editor cannot be started.
    #[error("cannot start {editor} (set VISUAL or EDITOR): {source}")]
    Start {
        /// Its command line.
        editor: String,
        /// Why.
        source: io::Error,
    },
    /// The editor said that it went wrong; the message stays as it was.
    #[error("{editor} ended with {status}; the message stays as it was")]
    Failed {
        /// Its command line.
        editor: String,
        /// What it ended with.
        status: ExitStatus,
    },
    /// The text is too long to send.
    #[error("the edited message has more than 1 MiB; it stays as it was")]
    TooLong,
}

/// Lets an editor change a text. `None` when it is the same afterwards.
///
/// # Errors
/// [`EditError`]; nothing is changed then.
pub fn edit(text: &str) -> Result<Option<String>, EditError> {
    // Readable by us alone, and gone afterwards.
    let mut file = tempfile::Builder::new().prefix("agentd-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let named = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| DEFAULT.to_owned());
    // As git does it: the variable may hold options, which a shell splits.
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{editor} \"$@\""), "sh"]).arg(file.path());
    let status = shell.status();
    let status = status.map_err(|source| EditError::Start { editor: editor.clone(), source })?;
    if !status.success() {
        return Err(EditError::Failed { editor, status });
    }
    // Editors put another file in place of the one that they were given.
    if std::fs::metadata(file.path())?.len() > MAX_BYTES {
        return Err(EditError::TooLong);
    }
    let edited = std::fs::read_to_string(file.path())?;
    let edited = edited.strip_suffix('\n').unwrap_or(&edited);
    Ok((edited != text).then(|| edited.to_owned()))
}

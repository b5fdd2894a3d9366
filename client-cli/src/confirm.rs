//! Asks the user for a yes on the terminal.

use std::io::{BufRead as _, IsTerminal as _};

use crate::app::App;
use crate::exit::{Exit, Failure};

/// Asks a question whose answer is no unless somebody says yes. `what` is what needs the yes.
///
/// # Errors
/// A report when nobody can be asked.
///
/// # Cancel safety
/// Safe: the thread that reads is left behind, and ends with the process.
pub(crate) async fn confirm(app: &App, what: &str, question: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new(Exit::Usage, format!("{what} needs a yes"))
            .because("stdin is not a terminal, so nobody can be asked")
            .hint("add --yes"));
    }
    app.output.ask(&format!("{question} [y/N]"));
    // On a thread of its own: who waits for it must see a Ctrl-C.
    let read = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    let unread = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Failed, "cannot read the answer").because(error)
    };
    let answer = read.await.map_err(|error| unread(&error))?.map_err(|error| unread(&error))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

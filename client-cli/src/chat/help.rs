//! What `/help` shows in a chat.

use agentd_shared::input::slash::{self, Surface};

/// Keys, and what stands at the beginning of a line.
const KEYS: [&str; 8] = [
    "",
    "  Enter      sends; after a backslash, with Alt, or as Ctrl-J: a new line",
    "  Tab        completes commands and ids",
    "  Up, Ctrl-R look into the history",
    "  Ctrl-C     cancels the running turn, else clears the line; twice leaves",
    "  Ctrl-D     leaves; the session and its turn go on",
    "  >TEXT      reaches the running turn; !TEXT interrupts it; else TEXT waits",
    "  //TEXT     is a message that begins with a slash",
];

/// The help text, in lines.
pub(super) fn lines() -> Vec<String> {
    let mut lines = slash::help(Surface::Chat);
    lines.extend(KEYS.map(str::to_owned));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_into_a_terminal() {
        let wide = |line: &&String| line.chars().count() >= 80;
        assert_eq!(lines().iter().find(wide), None, "a terminal has 80 columns");
    }
}

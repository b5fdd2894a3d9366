//! Texts that every server takes.

/// What the model sees where a tool put out nothing.
pub(super) const NO_OUTPUT: &str = "(no output)";

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Joins texts that must share a message by an empty line.
pub(super) fn join(text: &mut String, more: &str) {
    if is_blank(more) {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// True for characters that some servers refuse, NUL above all. Text cannot hold halves of UTF-16 pairs.
pub(super) fn is_refused(char: char) -> bool {
    char.is_control() && !matches!(char, '\n' | '\r' | '\t')
}

/// Replaces refused characters by U+FFFD. Also tells whether there were any.
pub(super) fn clean(text: String) -> (String, bool) {
    if text.contains(is_refused) {
        (text.replace(is_refused, "\u{FFFD}"), true)
    } else {
        (text, false)
    }
}

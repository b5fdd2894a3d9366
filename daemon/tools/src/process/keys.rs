//! Keys by their names, and the bytes that a terminal sends for them.

/// Keys with a name of their own.
const NAMED: &[(&str, &str)] = &[
    ("backspace", "\x7f"),
    ("delete", "\x1b[3~"),
    ("enter", "\r"),
    ("escape", "\x1b"),
    ("page-down", "\x1b[6~"),
    ("page-up", "\x1b[5~"),
    ("space", " "),
    ("tab", "\t"),
];

/// Keys that have two forms; this is their last byte.
const MOVING: &[(&str, char)] =
    &[("down", 'B'), ("end", 'F'), ("home", 'H'), ("left", 'D'), ("right", 'C'), ("up", 'A')];

/// What is sent for a key; none: there is no such key.
pub(super) fn bytes(key: &str, application: bool) -> Option<String> {
    if let Some((_, bytes)) = NAMED.iter().find(|(name, _)| *name == key) {
        return Some((*bytes).to_owned());
    }
    if let Some((_, last)) = MOVING.iter().find(|(name, _)| *name == key) {
        return Some(format!("\x1b{}{last}", if application { 'O' } else { '[' }));
    }
    let letter = key.strip_prefix("ctrl-")?;
    match letter.as_bytes() {
        [letter @ b'a'..=b'z'] => Some(char::from(letter & 0x1f).to_string()),
        [b'\\'] => Some("\x1c".to_owned()),
        _ => None,
    }
}

/// The names, for whoever gave a wrong one.
pub(super) fn names() -> String {
    let named = NAMED.iter().map(|(name, _)| *name);
    let all: Vec<&str> = named.chain(MOVING.iter().map(|(name, _)| *name)).collect();
    format!("{}, ctrl-a to ctrl-z, ctrl-\\", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_a_terminal_sends() {
        let check = |key: &str, expect: Option<&str>| {
            assert_eq!(bytes(key, false).as_deref(), expect, "{key}");
        };
        check("enter", Some("\r"));
        check("ctrl-c", Some("\x03"));
        check("ctrl-\\", Some("\x1c"));
        check("up", Some("\x1b[A"));
        check("ctrl-C", None);
        check("ctrl-", None);
        check("f13", None);
        assert_eq!(bytes("up", true).as_deref(), Some("\x1bOA"));
        assert!(names().starts_with("backspace, delete, enter,"));
    }
}

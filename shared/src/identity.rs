//! Who this terminal is.
//!
//! The id must be the same each time a client starts in a terminal, because the daemon keeps what
//! the terminal has read by it. Scripts get an id of their own for each run.

use std::ffi::OsString;

/// Longest id or name in bytes; the daemon refuses longer ones.
pub const MAX_ID_BYTES: usize = 128;

/// A terminal or script, as the daemon and other terminals know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Stable across restarts of the client, at most [`MAX_ID_BYTES`], without control characters.
    pub client_id: String,
    /// What other terminals show, such as "ann@pts/3".
    pub name: String,
}

impl Identity {
    /// Takes `wanted` (the option `--client`), else `AGENTCTL_CLIENT`, else the terminal's name.
    pub fn detect(wanted: Option<&str>) -> Self {
        let surroundings = Surroundings {
            user: user_name(),
            tty: tty_name(),
            pid: std::process::id(),
            client: env_text("AGENTCTL_CLIENT"),
            tmux_pane: env_text("TMUX_PANE"),
        };
        surroundings.identity(wanted)
    }

    /// Tells whether the same one comes again. A script without a name is another one each time, so
    /// that nothing is worth keeping for it.
    pub fn is_lasting(&self) -> bool {
        !self.client_id.ends_with(&format!("@{}", pipe_name(std::process::id())))
    }

    /// This terminal as requests name it.
    #[cfg(feature = "connect")]
    pub fn author(&self) -> agentd_proto::v1::Author {
        agentd_proto::v1::Author { client_id: self.client_id.clone(), name: self.name.clone() }
    }
}

#[derive(Debug, Clone)]
struct Surroundings {
    user: String,
    tty: Option<String>,
    pid: u32,
    client: Option<String>,
    tmux_pane: Option<String>,
}

impl Surroundings {
    fn identity(&self, wanted: Option<&str>) -> Identity {
        let user = &self.user;
        let place = self.tty.clone().unwrap_or_else(|| pipe_name(self.pid));
        let given = wanted.or(self.client.as_deref()).map(clean).filter(|id| !id.is_empty());
        // Who names a terminal wants others to see the name.
        if let Some(name) = given {
            return Identity { client_id: name.clone(), name };
        }
        let name = clean(&format!("{user}@{place}"));
        let client_id = match (&self.tty, &self.tmux_pane) {
            // A pane keeps its number while terminals are handed out anew.
            (Some(_), Some(pane)) => clean(&format!("{user}@tmux{pane}")),
            _ => name.clone(),
        };
        Identity { client_id, name }
    }
}

fn pipe_name(pid: u32) -> String {
    format!("pipe-{pid}")
}

fn user_name() -> String {
    env_text("USER")
        .or_else(|| env_text("LOGNAME"))
        .unwrap_or_else(|| format!("uid{}", rustix::process::getuid().as_raw()))
}

fn env_text(name: &str) -> Option<String> {
    std::env::var_os(name).map(OsString::into_string)?.ok().filter(|text| !text.trim().is_empty())
}

fn tty_name() -> Option<String> {
    let found = rustix::termios::ttyname(std::io::stdin(), Vec::new())
        .or_else(|_| rustix::termios::ttyname(std::io::stdout(), Vec::new()))
        .or_else(|_| rustix::termios::ttyname(std::io::stderr(), Vec::new()))
        .ok()?;
    let path = found.into_string().ok()?;
    Some(path.strip_prefix("/dev/").unwrap_or(&path).to_owned())
}

/// Drops what the daemon refuses: control characters, and bytes over the limit.
fn clean(text: &str) -> String {
    let mut kept = String::new();
    for character in text.trim().chars().filter(|character| !character.is_control()) {
        if kept.len() + character.len_utf8() > MAX_ID_BYTES {
            break;
        }
        kept.push(character);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(tty: Option<&str>, client: Option<&str>, pane: Option<&str>) -> Surroundings {
        Surroundings {
            user: "ann".to_owned(),
            tty: tty.map(str::to_owned),
            pid: 77,
            client: client.map(str::to_owned),
            tmux_pane: pane.map(str::to_owned),
        }
    }

    #[test]
    fn the_id_comes_from_the_option_then_the_variable_then_the_terminal() {
        let check = |surroundings: Surroundings, wanted: Option<&str>, id: &str, name: &str| {
            let expect = Identity { client_id: id.to_owned(), name: name.to_owned() };
            assert_eq!(surroundings.identity(wanted), expect);
        };
        check(at(Some("pts/3"), None, None), None, "ann@pts/3", "ann@pts/3");
        check(at(Some("pts/3"), None, Some("%5")), None, "ann@tmux%5", "ann@pts/3");
        check(at(Some("pts/3"), Some("desk"), Some("%5")), None, "desk", "desk");
        check(at(Some("pts/3"), Some("desk"), None), Some("left"), "left", "left");
        check(at(None, None, Some("%5")), None, "ann@pipe-77", "ann@pipe-77");
        check(at(None, None, None), Some(" \u{1b} "), "ann@pipe-77", "ann@pipe-77");
    }

    #[test]
    fn only_a_script_without_a_name_is_another_one_each_time() {
        let mut script = at(None, None, None);
        script.pid = std::process::id();
        assert!(!script.identity(None).is_lasting());
        assert!(script.identity(Some("nightly")).is_lasting());
        assert!(at(Some("pts/3"), None, None).identity(None).is_lasting());
    }

    #[test]
    fn ids_are_cut_on_a_character_and_hold_no_controls() {
        let long = format!("{}世\u{7}界", "x".repeat(125));
        let id = at(None, None, None).identity(Some(&long)).client_id;
        assert_eq!(id, format!("{}世", "x".repeat(125)));
        let id = at(None, None, None).identity(Some(&format!("x{long}"))).client_id;
        assert_eq!(id, format!("x{}", "x".repeat(125)));
    }
}

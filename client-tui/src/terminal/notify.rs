//! Calling whoever looks elsewhere: the bell, and a notice of the desktop where the terminal shows one.

use std::env;
use std::io::{self, Write as _};

use agentd_shared::text::one_line;

/// Columns of a notice.
const WIDTH: usize = 120;

/// How a terminal takes a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// Not at all: only the bell.
    Bell,
    /// OSC 9, of iTerm2.
    Osc9,
    /// OSC 777, of rxvt-unicode.
    Osc777,
}

/// Rings, and shows a text where the terminal is known to show one.
///
/// # Errors
/// When the terminal is gone.
pub fn notify(text: &str) -> io::Result<()> {
    let set = |name: &str| env::var(name).unwrap_or_default();
    let multiplexed = env::var_os("TMUX").is_some() || env::var_os("STY").is_some();
    let protocol = protocol(&set("TERM_PROGRAM"), &set("TERM"), multiplexed);
    let mut out = io::stdout();
    out.write_all(sequence(protocol, text).as_bytes())?;
    out.flush()
}

/// What a terminal takes. Others would print what they do not know.
fn protocol(program: &str, term: &str, multiplexed: bool) -> Protocol {
    // A multiplexer keeps it, and the variables may be of a terminal that is gone.
    if multiplexed {
        return Protocol::Bell;
    }
    match (program, term) {
        ("iTerm.app" | "WezTerm" | "ghostty", _) | (_, "xterm-kitty" | "xterm-ghostty") => {
            Protocol::Osc9
        }
        (_, "foot" | "foot-extra" | "rxvt-unicode" | "rxvt-unicode-256color") => Protocol::Osc777,
        _ => Protocol::Bell,
    }
}

fn sequence(protocol: Protocol, text: &str) -> String {
    // A semicolon parts the fields of the sequence.
    let text = one_line(text, WIDTH).replace(';', ",");
    match protocol {
        Protocol::Bell => "\x07".to_owned(),
        Protocol::Osc9 => format!("\x07\x1b]9;{text}\x1b\\"),
        Protocol::Osc777 => format!("\x07\x1b]777;notify;agentd;{text}\x1b\\"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_that_are_known_to_take_it_are_sent_a_notice() {
        let check = |program: &str, term: &str, multiplexed: bool, expect: Protocol| {
            assert_eq!(protocol(program, term, multiplexed), expect, "{program} {term}");
        };
        check("iTerm.app", "xterm-256color", false, Protocol::Osc9);
        check("", "xterm-kitty", false, Protocol::Osc9);
        check("", "foot", false, Protocol::Osc777);
        check("", "xterm-256color", false, Protocol::Bell);
        check("Apple_Terminal", "xterm-256color", false, Protocol::Bell);
        check("WezTerm", "tmux-256color", true, Protocol::Bell);
    }

    #[test]
    fn a_notice_cannot_end_its_sequence_or_begin_another() {
        let hostile = "a\x1b\\\x07;b\x1b]0;t\nc";
        assert_eq!(sequence(Protocol::Bell, hostile), "\x07");
        let sent = sequence(Protocol::Osc777, hostile);
        let body = sent.strip_prefix("\x07\x1b]777;notify;agentd;").unwrap();
        let body = body.strip_suffix("\x1b\\").unwrap();
        assert!(!body.contains(['\x1b', '\x07', ';', '\n']), "{body:?}");
    }
}

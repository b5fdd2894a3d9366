//! An approval as people read it: exactly what will run, with nothing in it that hides.
//!
//! What is shown decides what is allowed, so no character is left to be guessed: control characters,
//! invisible ones and those that turn the direction of writing are escapes, blanks in a row are
//! counted, and what is left out is said. Only what can be long is left out: never where something
//! is done or how far it can reach, and never that there is another target.

use agentd_proto::v1;
use agentd_proto::v1::action_target::Target;
use agentd_proto::v1::rule_matcher::Matcher;
use unicode_width::UnicodeWidthChar as _;

/// Characters of one line of an action, and lines of it, before it is cut.
const SHORT: Limits = Limits { chars: 300, lines: 24 };
/// Lines that each target keeps, however many there are.
const FEWEST_LINES: usize = 3;
/// The same when all of it is asked for: more than any tool makes.
const WHOLE: Limits = Limits { chars: 100_000, lines: 20_000 };
/// Blanks in a row that are shown as they are.
const BLANKS: usize = 3;

#[derive(Debug, Clone, Copy)]
struct Limits {
    chars: usize,
    lines: usize,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What decides; cut where it is long.
    Short,
    /// All of it.
    Whole,
}

/// The lines of an approval, without how to answer.
pub fn lines(request: &v1::ApprovalRequested, extent: Extent) -> Vec<String> {
    let limits = if extent == Extent::Short { SHORT } else { WHOLE };
    let action = request.action.clone().unwrap_or_default();
    let mut lines = vec![format!(
        "{} wants to: {}",
        visible(&request.tool, limits.chars),
        visible(&action.summary, limits.chars)
    )];
    let targets: Vec<&Target> =
        action.targets.iter().filter_map(|target| target.target.as_ref()).collect();
    // The lines are shared out: what comes later does not hide behind what comes first.
    let fair = limits.lines / targets.len().max(1);
    let limits = Limits { lines: fair.max(FEWEST_LINES), ..limits };
    for target in targets {
        let Shown { head, mut rest } = shown(target, limits.chars);
        let left_out = rest.len().saturating_sub(limits.lines);
        rest.truncate(limits.lines);
        lines.extend(head.into_iter().chain(rest).map(|line| format!("  {line}")));
        if left_out > 0 {
            lines.push(format!("  … {left_out} more lines are NOT shown here"));
        }
    }
    lines.push(format!("asked because {}", visible(&request.because, limits.chars)));
    lines
}

/// A target in lines.
#[derive(Debug)]
struct Shown {
    /// What is never left out: where it is done, and how far it can reach.
    head: Vec<String>,
    /// The rest, which may be long.
    rest: Vec<String>,
}

fn shown(target: &Target, chars: usize) -> Shown {
    let text = |text: &str| visible(text, chars);
    match target {
        Target::Read(v1::ReadTarget { path }) => {
            Shown { head: vec![format!("read {}", text(path))], rest: Vec::new() }
        }
        Target::Write(v1::WriteTarget { path, new_sha256, diff, .. }) => {
            let verb = if new_sha256.is_empty() { "remove" } else { "write" };
            // Not `lines`, which takes a carriage return for the end of a line.
            let lines = diff.split_terminator('\n').map(|line| {
                // The blank before a line that stays is none of the line's own.
                let (sign, line) = line.strip_prefix(' ').map_or(("", line), |line| (" ", line));
                format!("| {sign}{}", text(line))
            });
            Shown { head: vec![format!("{verb} {}", text(path))], rest: lines.collect() }
        }
        Target::Run(v1::RunTarget { argv, cwd, confinement }) => {
            let cwd = if cwd.is_empty() { "." } else { cwd };
            let confined = match confinement {
                None => "NOT confined: it can do whatever you can".to_owned(),
                Some(v1::Confinement { backend, writes, network, hosts }) => format!(
                    "kept in by {}: {}, {}",
                    text(backend),
                    if *writes { "may change the workspace" } else { "can change nothing" },
                    match (network, hosts.as_slice()) {
                        (false, _) => "has no network".to_owned(),
                        (true, []) => "may use all of the network".to_owned(),
                        (true, [any]) if any == "*" => "may reach any public host".to_owned(),
                        (true, hosts) => {
                            let hosts: Vec<String> = hosts.iter().map(|host| text(host)).collect();
                            format!("may reach {}", hosts.join(", "))
                        }
                    },
                ),
            };
            let head = vec![format!("in directory {}", text(cwd)), confined];
            Shown { head, rest: words(argv, chars) }
        }
        Target::Request(v1::RequestTarget { method, url, host }) => {
            // What counts is whom it reaches: an address may name somebody else in its first part.
            let head =
                vec![format!("at host {}", text(host)), format!("{} {}", text(method), text(url))];
            Shown { head, rest: Vec::new() }
        }
    }
}

/// A command: in one line where every word of it is plain, else a line for each.
fn words(argv: &[String], chars: usize) -> Vec<String> {
    if argv.iter().all(|word| is_plain(word)) && argv.len() < 20 {
        return vec![format!("run {}", argv.join(" "))];
    }
    let mut lines = vec!["run".to_owned()];
    for (number, word) in argv.iter().enumerate() {
        // A script has lines, and each is shown as one.
        for (at, line) in word.split('\n').enumerate() {
            let mark = if at == 0 { format!("[{number}]") } else { "  |".to_owned() };
            lines.push(format!("{mark} {}", visible(line, chars)));
        }
    }
    lines
}

/// Words that need no quoting and look like what they are.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 80
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&b))
}

/// A rule as it is written for `agentctl`.
pub fn rule(rule: &v1::RuleMatcher) -> String {
    let text = |text: &str| visible(text, SHORT.chars);
    match &rule.matcher {
        None => "something that this version does not know".to_owned(),
        Some(Matcher::Tool(name)) => format!("tool {}", text(name)),
        Some(Matcher::ReadGlob(glob)) => format!("read {}", text(glob)),
        Some(Matcher::WriteGlob(glob)) => format!("write {}", text(glob)),
        Some(Matcher::Command(v1::CommandMatcher { argv, more })) => {
            let quoted = |word: &String| {
                if is_plain(word) {
                    return word.clone();
                }
                // A quote within does not end the word.
                format!("\"{}\"", text(&word.replace('\\', "\\\\").replace('"', "\\\"")))
            };
            let words: Vec<String> = argv.iter().map(quoted).collect();
            format!("command {}{}", words.join(" "), if *more { " *" } else { "" })
        }
        Some(Matcher::Host(host)) => format!("host {}", text(host)),
        Some(Matcher::McpServer(server)) => format!("mcp {}", text(server)),
    }
}

/// A text in which every character can be seen, at most `max` of them.
pub fn visible(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut shown = 0;
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        if shown >= max {
            let left = rest.count() + 1;
            return format!("{out}… [{left} more characters are NOT shown here]");
        }
        shown += 1;
        if char == ' ' {
            let mut blanks = 1;
            while rest.next_if_eq(&' ').is_some() {
                blanks += 1;
            }
            let is_last = rest.peek().is_none();
            match blanks {
                1 if is_last => out.push_str("⟨1 blank⟩"),
                2.. if is_last || blanks > BLANKS => {
                    out.push('⟨');
                    out.push_str(&blanks.to_string());
                    out.push_str(" blanks⟩");
                }
                _ => out.push_str(&" ".repeat(blanks)),
            }
        } else if hides(char) {
            out.extend(char.escape_unicode());
        } else {
            out.push(char);
        }
    }
    out
}

/// True for what cannot be seen, or changes how others are seen: control and format characters,
/// marks that lie on others, blanks other than the usual one.
fn hides(char: char) -> bool {
    char.is_control()
        || (char.is_whitespace() && char != ' ')
        || char.width().is_none_or(|width| width == 0)
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;

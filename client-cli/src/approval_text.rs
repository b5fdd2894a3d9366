//! An approval as people read it: exactly what will run, with nothing in it that hides.
//!
//! What is shown decides what is allowed, so no character is left to be guessed: control characters,
//! invisible ones and those that turn the direction of writing are escapes, blanks in a row are
//! counted, and what is left out is said.

use agentd_proto::v1;
use agentd_proto::v1::action_target::Target;
use agentd_proto::v1::rule_matcher::Matcher;
use unicode_width::UnicodeWidthChar as _;

/// Characters of one line of an action, and lines of it, before it is cut.
const SHORT: Limits = Limits { chars: 300, lines: 24 };
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
pub(crate) enum Extent {
    /// What decides; cut where it is long.
    Short,
    /// All of it.
    Whole,
}

/// The lines of an approval, without how to answer.
pub(crate) fn lines(request: &v1::ApprovalRequested, extent: Extent) -> Vec<String> {
    let limits = if extent == Extent::Short { SHORT } else { WHOLE };
    let action = request.action.clone().unwrap_or_default();
    let mut lines = vec![format!(
        "{} wants to: {}",
        visible(&request.tool, limits.chars),
        visible(&action.summary, limits.chars)
    )];
    let mut body = Vec::new();
    for target in action.targets.iter().filter_map(|target| target.target.as_ref()) {
        target_lines(target, limits, &mut body);
    }
    let left_out = body.len().saturating_sub(limits.lines);
    body.truncate(limits.lines);
    lines.extend(body.into_iter().map(|line| format!("  {line}")));
    if left_out > 0 {
        lines.push(format!("  … {left_out} more lines are NOT shown here"));
    }
    lines.push(format!("asked because {}", visible(&request.because, limits.chars)));
    lines
}

fn target_lines(target: &Target, limits: Limits, out: &mut Vec<String>) {
    let text = |text: &str| visible(text, limits.chars);
    match target {
        Target::Read(v1::ReadTarget { path }) => out.push(format!("read {}", text(path))),
        Target::Write(v1::WriteTarget { path, new_sha256, diff, .. }) => {
            let verb = if new_sha256.is_empty() { "remove" } else { "write" };
            out.push(format!("{verb} {}", text(path)));
            out.extend(diff.lines().map(|line| format!("| {}", text(line))));
        }
        Target::Run(v1::RunTarget { argv, cwd, confinement }) => {
            if argv.iter().all(|word| is_plain(word)) && argv.len() < 20 {
                out.push(format!("run {}", argv.join(" ")));
            } else {
                out.push("run".to_owned());
                for (number, word) in argv.iter().enumerate() {
                    // A script has lines, and each is shown as one.
                    for (at, line) in word.split('\n').enumerate() {
                        let mark = if at == 0 { format!("[{number}]") } else { "   ".to_owned() };
                        out.push(format!("{mark} {}", text(line)));
                    }
                }
            }
            let cwd = if cwd.is_empty() { "." } else { cwd };
            out.push(format!("in directory {}", text(cwd)));
            out.push(match confinement {
                None => "NOT confined: it can do whatever you can".to_owned(),
                Some(v1::Confinement { backend, writes, network }) => format!(
                    "kept in by {}: {}, {}",
                    text(backend),
                    if *writes { "may change the workspace" } else { "can change nothing" },
                    if *network { "may use the network" } else { "has no network" },
                ),
            });
        }
        Target::Request(v1::RequestTarget { method, url, host }) => {
            out.push(format!("{} {}", text(method), text(url)));
            out.push(format!("at host {}", text(host)));
        }
    }
}

/// Words that need no quoting and look like what they are.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 80
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&b))
}

/// A rule as it is written for `agentctl`.
pub(crate) fn rule(rule: &v1::RuleMatcher) -> String {
    let text = |text: &str| visible(text, SHORT.chars);
    match &rule.matcher {
        None => "something that this version does not know".to_owned(),
        Some(Matcher::Tool(name)) => format!("tool {}", text(name)),
        Some(Matcher::ReadGlob(glob)) => format!("read {}", text(glob)),
        Some(Matcher::WriteGlob(glob)) => format!("write {}", text(glob)),
        Some(Matcher::Command(v1::CommandMatcher { argv, more })) => {
            let quoted = |word: &String| {
                if is_plain(word) { word.clone() } else { format!("\"{}\"", text(word)) }
            };
            let words: Vec<String> = argv.iter().map(quoted).collect();
            format!("command {}{}", words.join(" "), if *more { " *" } else { "" })
        }
        Some(Matcher::Host(host)) => format!("host {}", text(host)),
        Some(Matcher::McpServer(server)) => format!("mcp {}", text(server)),
    }
}

/// A text in which every character can be seen, at most `max` of them.
pub(crate) fn visible(text: &str, max: usize) -> String {
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
            if blanks > BLANKS {
                out = format!("{out}⟨{blanks} blanks⟩");
            } else {
                out.push_str(&" ".repeat(blanks));
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

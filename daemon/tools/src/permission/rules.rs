//! Whether a rule is about a call.

use std::path::{Path, PathBuf};

use agentd_domain::{ActionTarget, PathAccess, RuleEffect, RuleMatcher, host_matches};
use globset::GlobBuilder;

use super::ANY_HOST;
use super::programs::{base_name, is_launcher};
use super::script::Script;

/// Which call a target belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// Name of the tool.
    pub(super) tool: &'a str,
    /// MCP server that the tool comes from.
    pub(super) mcp_server: Option<&'a str>,
    /// The target; none when the call has none.
    pub(super) target: Option<&'a ActionTarget>,
    /// What the target runs, if it runs something.
    pub(super) script: Option<&'a Script>,
    /// The directories of the session, its workspace first.
    pub(super) roots: &'a [PathBuf],
}

/// True when the rule is about the subject. A rule that allows must be about all of it, one that
/// asks or denies about any of it.
pub(super) fn matches(matcher: &RuleMatcher, effect: RuleEffect, subject: Subject<'_>) -> bool {
    match matcher {
        RuleMatcher::Tool { name } => name == subject.tool,
        RuleMatcher::McpServer { server } => subject.mcp_server == Some(server),
        RuleMatcher::Path { glob, access } => match subject.target {
            Some(ActionTarget::Read { path, .. }) => {
                *access == PathAccess::Read && is_about(glob, path, effect, subject.roots)
            }
            Some(ActionTarget::Write { path, .. }) => {
                *access == PathAccess::Write && is_about(glob, path, effect, subject.roots)
            }
            _ => false,
        },
        RuleMatcher::Host { host } => match subject.target {
            Some(ActionTarget::Request { host: asked, .. }) => match effect {
                RuleEffect::Allow => host_matches(host, asked),
                RuleEffect::Ask | RuleEffect::Deny => hosts_meet(host, asked),
            },
            _ => false,
        },
        RuleMatcher::Command { argv, more } => {
            let Some(script) = subject.script else { return false };
            match effect {
                RuleEffect::Allow => false,
                RuleEffect::Ask | RuleEffect::Deny => {
                    script.all_commands().any(|command| names(command, argv, *more))
                }
            }
        }
    }
}

/// True when the command is certainly what an allowing rule names.
pub(super) fn command_is(command: &[&str], argv: &[String], more: bool) -> bool {
    let Some(program) = argv.first() else { return false };
    let same = command.len() >= argv.len() && command.iter().zip(argv).all(|(a, b)| a == b);
    // Further arguments of a launcher would be any program.
    same && (command.len() == argv.len() || (more && !is_launcher(program)))
}

/// True when the command may be what a rule names, or starts it with its arguments.
fn names(command: &[Option<String>], argv: &[String], more: bool) -> bool {
    if may_be(command, argv, more) {
        return true;
    }
    let launches = command.first().is_some_and(|word| word.as_deref().is_some_and(is_launcher));
    if !launches {
        return false;
    }
    let is_started = |at: usize| {
        let rest = command.get(at..).unwrap_or_default();
        // `find x -exec rm {} ;`: what follows belongs to the one or the other.
        may_be(rest, argv, true)
            || rest.first().is_some_and(|word| {
                let nested = word.as_deref().filter(|word| word.contains(char::is_whitespace));
                nested.is_some_and(|script| {
                    let found = Script::parse(script);
                    found.all_commands().any(|command| may_be(command, argv, more))
                })
            })
    };
    (1..command.len()).any(is_started)
}

/// True when the command may be what a rule names; a word that is not known may be any.
fn may_be(command: &[Option<String>], argv: &[String], more: bool) -> bool {
    if command.len() < argv.len() || (command.len() > argv.len() && !more) {
        return false;
    }
    command.iter().zip(argv).enumerate().all(|(index, (word, wanted))| match word {
        // The program must be known: a name that is made up is asked about in any case.
        None => index > 0,
        Some(word) if index == 0 => word == wanted || base_name(word) == base_name(wanted),
        Some(word) => word == wanted,
    })
}

/// True when a glob is about a path of an action: a relative one about the workspace, an absolute one
/// about what is anywhere. What forbids or asks holds in further roots as in the workspace.
fn is_about(glob: &str, path: &str, effect: RuleEffect, roots: &[PathBuf]) -> bool {
    match (glob.starts_with('/'), path.starts_with('/')) {
        (false, false) | (true, true) => path_matches(glob, path),
        (true, false) => roots
            .first()
            .and_then(|workspace| {
                workspace.join(path).to_str().map(|path| path_matches(glob, path))
            })
            .unwrap_or(false),
        (false, true) => {
            let below = |root: &PathBuf| {
                let below = Path::new(path).strip_prefix(root).ok()?.to_str()?;
                Some(path_matches(glob, if below.is_empty() { "." } else { below }))
            };
            effect != RuleEffect::Allow && roots.iter().skip(1).filter_map(below).any(|is| is)
        }
    }
}

fn path_matches(glob: &str, path: &str) -> bool {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

/// The one path that a glob is about; none when it may be about several.
pub(super) fn exact_path(glob: &str) -> Option<String> {
    let mut path = String::with_capacity(glob.len());
    let mut characters = glob.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => path.push(characters.next()?),
            // A choice of one is how a character is taken as it is, too.
            '[' => match (characters.next()?, characters.next()?) {
                ('!' | '^', _) => return None,
                (one, ']') => path.push(one),
                _ => return None,
            },
            '*' | '?' | ']' | '{' | '}' => return None,
            other => path.push(other),
        }
    }
    Some(path)
}

/// True when there may be a host that is meant by both a rule and what a program asks for, which may
/// be `*` for any.
fn hosts_meet(rule: &str, asked: &str) -> bool {
    asked == ANY_HOST || host_matches(rule, asked) || host_matches(asked, rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_meets_a_wildcard_that_holds_its_host() {
        let check = |rule: &str, asked: &str, expect: bool| {
            assert_eq!(hosts_meet(rule, asked), expect, "{rule} {asked}");
        };
        check("a.docs.rs", "*.docs.rs", true);
        check("*.a.docs.rs", "*.docs.rs", true);
        check("*.docs.rs", "*.a.docs.rs", true);
        check("docs.rs", "*.docs.rs", false);
        check("docs.rs", "*", true);
        check("docs.rs", "crates.io", false);
    }

    #[test]
    fn paths_are_matched_by_directories() {
        let check = |glob: &str, path: &str, expect: bool| {
            assert_eq!(path_matches(glob, path), expect, "{glob} {path}");
        };
        check("src/*.rs", "src/a.rs", true);
        check("src/*.rs", "src/a/b.rs", false);
        check("src/**", "src/a/b.rs", true);
        check("**/*.lock", "Cargo.lock", true);
        check("[", "[", false);
    }

    #[test]
    fn a_glob_without_patterns_is_one_path() {
        let check = |glob: &str, expect: Option<&str>| {
            assert_eq!(exact_path(glob).as_deref(), expect, "{glob}");
        };
        check(".env", Some(".env"));
        check("a/世.pem", Some("a/世.pem"));
        check(r"a\[1\].pem", Some("a[1].pem"));
        check(&globset::escape("a*[1]{}?.pem"), Some("a*[1]{}?.pem"));
        check("[.]env", Some(".env"));
        for glob in ["**", "*.env", ".en?", "[.x]env", "[!x]env", "{.env,x}", "**/.env", "[", r"\"]
        {
            check(glob, None);
        }
    }

    #[test]
    fn a_rule_names_words_and_not_beginnings() {
        let check = |command: &str, rule: &str, more, expect: bool| {
            let command: Vec<&str> = command.split(' ').collect();
            let argv: Vec<String> = rule.split(' ').map(str::to_owned).collect();
            assert_eq!(command_is(&command, &argv, more), expect, "{command:?} {rule}");
        };
        check("git status", "git status", false, true);
        check("git status -s", "git status", false, false);
        check("git status -s", "git status", true, true);
        check("git statusx", "git status", true, false);
        check("git -c x=y status", "git status", true, false);
        check("./git status", "git status", true, false);
        check("env rm -rf /", "env", true, false);
        check("env", "env", true, true);
        check("python3 x.py", "python3 x.py", true, true);
        check("python3 x.py -c y", "python3 x.py", true, false);
    }
}

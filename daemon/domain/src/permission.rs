//! What an agent may do by itself: modes, and rules that users made.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::named::named;
use crate::{Author, TimestampMs};

/// How much an agent may do without asking, per session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionMode {
    /// It only looks.
    Plan,
    /// It asks before it changes, starts or fetches anything.
    #[default]
    Ask,
    /// It changes the workspace without asking, and asks for the rest.
    AutoEdit,
    /// It asks for nothing but what a rule names.
    Full,
}

/// What an agent is working on, per session. It takes away, never adds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkMode {
    /// Thinking something up: documents, no code.
    Design,
    /// Writing code.
    #[default]
    Develop,
    /// Testing it.
    Test,
    /// Reading it: nothing is changed.
    Review,
    /// Writing documents, no code.
    Docs,
    /// Running it.
    Devops,
}

named!(PermissionMode, "permission mode",
    "plan" => Plan, "ask" => Ask, "auto-edit" => AutoEdit, "full" => Full,);
named!(WorkMode, "work mode",
    "design" => Design, "develop" => Develop, "test" => Test, "review" => Review, "docs" => Docs,
    "devops" => Devops,);

/// What a rule says about what it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// Do it without asking.
    Allow,
    /// Ask, whatever the mode.
    Ask,
    /// Never do it.
    Deny,
}

/// How a file is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathAccess {
    /// It is read.
    Read,
    /// It is written or removed.
    Write,
}

/// What a rule is about. It is matched against what a call will do, not against text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RuleMatcher {
    /// Every call of a tool.
    Tool {
        /// Its name.
        name: String,
    },
    /// Files of the workspace.
    Path {
        /// A glob relative to the workspace root; `*` stays within a directory, `**` does not.
        glob: String,
        /// How they are touched.
        access: PathAccess,
    },
    /// Programs.
    Command {
        /// The program and its first arguments, word for word.
        argv: Vec<String>,
        /// Further arguments may follow.
        more: bool,
    },
    /// Hosts.
    Host {
        /// `example.org`, or `*.example.org` for all below it.
        host: String,
    },
    /// All tools of an MCP server.
    McpServer {
        /// Its name.
        server: String,
    },
}

/// Where a rule holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum RuleScope {
    /// In one session.
    Session {
        /// Its id.
        session_id: crate::SessionId,
    },
    /// In all sessions of a workspace.
    Workspace {
        /// Its absolute path without links.
        root: String,
    },
    /// Everywhere.
    User,
}

/// A rule and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRule {
    /// Unique in the daemon.
    pub rule_id: String,
    /// What it says.
    pub effect: RuleEffect,
    /// What about.
    pub matcher: RuleMatcher,
    /// Where.
    pub scope: RuleScope,
    /// Who made it; none for the configuration.
    #[serde(default)]
    pub by: Option<Author>,
    /// When.
    pub at: TimestampMs,
}

/// True when `host` is `pattern`, or below it when the pattern begins with `*.`.
pub fn host_matches(pattern: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.');
    match pattern.strip_prefix("*.") {
        Some(parent) => host.len().checked_sub(parent.len() + 1).is_some_and(|at| {
            host.get(at..).is_some_and(|tail| {
                tail.strip_prefix('.').is_some_and(|rest| rest.eq_ignore_ascii_case(parent))
            })
        }),
        None => host.eq_ignore_ascii_case(pattern),
    }
}

impl fmt::Display for RuleMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { name } => write!(f, "tool {name}"),
            Self::Path { glob, access: PathAccess::Read } => write!(f, "read {glob}"),
            Self::Path { glob, access: PathAccess::Write } => write!(f, "write {glob}"),
            Self::Command { argv, more } => {
                f.write_str("command")?;
                for word in argv {
                    let plain = !word.is_empty()
                        && word
                            .bytes()
                            .all(|b| b.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&b));
                    if plain { write!(f, " {word}")? } else { write!(f, " {word:?}")? }
                }
                if *more { f.write_str(" *") } else { Ok(()) }
            }
            Self::Host { host } => write!(f, "host {host}"),
            Self::McpServer { server } => write!(f, "mcp {server}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_as_they_are_written() {
        for name in PermissionMode::NAMES {
            assert_eq!(name.parse::<PermissionMode>().unwrap().name(), *name);
        }
        for name in WorkMode::NAMES {
            assert_eq!(name.parse::<WorkMode>().unwrap().name(), *name);
        }
        let error = "yolo".parse::<PermissionMode>().unwrap_err();
        assert_eq!(error, "'yolo' is no permission mode; use one of plan, ask, auto-edit, full");
    }

    #[test]
    fn hosts_are_matched_by_whole_labels() {
        let check = |pattern: &str, host: &str, expect: bool| {
            assert_eq!(host_matches(pattern, host), expect, "{pattern} {host}");
        };
        check("docs.rs", "docs.rs", true);
        check("docs.rs", "DOCS.rs.", true);
        check("docs.rs", "evil-docs.rs", false);
        check("*.docs.rs", "a.docs.rs", true);
        check("*.docs.rs", "a.b.docs.rs", true);
        check("*.docs.rs", "docs.rs", false);
        check("*.docs.rs", "adocs.rs", false);
        check("*.docs.rs", "docs.rs.evil.org", false);
        check("*.docs.rs", "*.docs.rs", true);
        check("*.docs.rs", "*", false);
        check("*.世界", "a.世界", true);
    }

    #[test]
    fn a_matcher_shows_every_word_of_a_command() {
        let check = |argv: &[&str], more, expect: &str| {
            let argv = argv.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(RuleMatcher::Command { argv, more }.to_string(), expect);
        };
        check(&["git", "log"], true, "command git log *");
        check(&["echo", "a b", "", "*"], false, r#"command echo "a b" "" "*""#);
        check(&["echo", "\u{202e}"], false, r#"command echo "\u{202e}""#);
    }
}

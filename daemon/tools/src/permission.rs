//! Whether a call may run: a pure function of modes, rules and what the call will do.
//!
//! The strictest answer to any part of a call holds for all of it. In order: what the work mode
//! takes away and what the mode `plan` does not let happen is denied, whatever rules say; then rules
//! that deny, rules that ask, rules that allow; then the mode.

mod check;
mod fed;
mod handed;
mod programs;
mod rules;
mod script;

use std::path::{Path, PathBuf};

use agentd_domain::{
    Action, ActionTarget, Capabilities, Confinement, PathAccess, PermissionMode, PermissionRule,
    RuleEffect, RuleMatcher, ToolEffect, WorkMode,
};

pub use check::check_rule;
use serde_json::Value;

use crate::fs::is_secret_place;
use rules::Subject;
use script::Script;

/// Stands for every host.
pub(crate) const ANY_HOST: &str = "*";

/// How a request is called that a program makes by itself.
const OF_PROGRAM: &str = "CONNECT";

/// The first word of an action that types into a terminal: its id, the text, then keys.
pub(crate) const TYPING: &str = "terminal";

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRequest<'a> {
    /// How much the agent may do without asking.
    pub mode: PermissionMode,
    /// What it is working on.
    pub work_mode: WorkMode,
    /// Rules that hold in the session.
    pub rules: &'a [PermissionRule],
    /// Name of the tool.
    pub tool: &'a str,
    /// MCP server that the tool comes from; none: it is built in.
    pub mcp_server: Option<&'a str>,
    /// What the tool may do.
    pub capabilities: Capabilities,
    /// What the call will do.
    pub action: &'a Action,
    /// The directories that the session works in, absolute and without links, its workspace first.
    pub roots: &'a [PathBuf],
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// It may run.
    Allow,
    /// Somebody must be asked.
    Ask {
        /// Why, for people.
        because: String,
    },
    /// It may not run.
    Deny {
        /// Why, for people and the model.
        because: String,
    },
}

impl Permission {
    fn rank(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask { .. } => 1,
            Self::Deny { .. } => 2,
        }
    }

    fn ask(because: impl Into<String>) -> Self {
        Self::Ask { because: because.into() }
    }

    fn deny(because: impl Into<String>) -> Self {
        Self::Deny { because: because.into() }
    }
}

/// Decides on a call.
pub fn permit(request: &PermissionRequest<'_>) -> Permission {
    let targets = &request.action.targets;
    if targets.is_empty() {
        return on_target(request, None);
    }
    // The first of the strictest: its reason is the one to tell.
    targets
        .iter()
        .flat_map(|target| {
            let reached = reached(target);
            let reached = reached.iter().map(|host| on_target(request, Some(host)));
            std::iter::once(on_target(request, Some(target))).chain(reached).collect::<Vec<_>>()
        })
        .fold(
            Permission::Allow,
            |strictest, answer| if answer.rank() > strictest.rank() { answer } else { strictest },
        )
}

/// The hosts that a program may ask, each of which is judged for itself.
fn reached(target: &ActionTarget) -> Vec<ActionTarget> {
    let ActionTarget::Run { confinement: Some(Confinement { network: true, hosts, .. }), .. } =
        target
    else {
        return Vec::new();
    };
    let any = [ANY_HOST.to_owned()];
    let hosts = if hosts.is_empty() { &any } else { hosts.as_slice() };
    let asked = |host: &String| ActionTarget::Request {
        method: OF_PROGRAM.to_owned(),
        url: host.clone(),
        host: host.clone(),
    };
    hosts.iter().map(asked).collect()
}

fn on_target(request: &PermissionRequest<'_>, target: Option<&ActionTarget>) -> Permission {
    let script = target.and_then(script_of);
    let subject = Subject {
        tool: request.tool,
        mcp_server: request.mcp_server,
        target,
        script: script.as_ref(),
        roots: request.roots,
    };
    if let Some(because) = taken_away(request, target) {
        return Permission::Deny { because };
    }
    let says = |effect: RuleEffect| {
        request
            .rules
            .iter()
            .find(|rule| rule.effect == effect && rules::matches(&rule.matcher, effect, subject))
    };
    if let Some(rule) = says(RuleEffect::Deny) {
        return Permission::deny(format!("the rule 'deny {}' forbids it", rule.matcher));
    }
    if let Some(rule) = says(RuleEffect::Ask) {
        return Permission::ask(format!("the rule 'ask {}' asks for it", rule.matcher));
    }
    let forbids_commands = request.rules.iter().any(|rule| {
        rule.effect != RuleEffect::Allow && matches!(rule.matcher, RuleMatcher::Command { .. })
    });
    if forbids_commands && script.as_ref().is_some_and(|script| !script.is_searched) {
        return Permission::ask(
            "there are rules about commands, and what it runs cannot be told: a name that is made up, or \
             a shell's script from a file, a pipe or a variable",
        );
    }
    if let Some(ActionTarget::Read { path, .. }) = target
        && is_secret_place(Path::new(path))
    {
        return if readable(request.rules).any(|readable| readable == *path) {
            Permission::Allow
        } else {
            Permission::deny("such files hold secrets, and no rule allows to read exactly this one")
        };
    }
    if says(RuleEffect::Allow).is_some() {
        return Permission::Allow;
    }
    if script.as_ref().is_some_and(|script| rules_allow(script, request.rules)) {
        return Permission::Allow;
    }
    by_mode(request, target, script.as_ref())
}

/// The protected files that rules open: those that a rule which allows to read names by their very path.
/// A pattern means what is usual, and no secrets.
pub fn readable(rules: &[PermissionRule]) -> impl Iterator<Item = String> {
    rules.iter().filter_map(|rule| match &rule.matcher {
        RuleMatcher::Path { glob, access: PathAccess::Read }
            if rule.effect == RuleEffect::Allow =>
        {
            rules::exact_path(glob)
        }
        _ => None,
    })
}

/// True when every command of an understood script is named by a rule that allows it.
fn rules_allow(script: &Script, rules: &[PermissionRule]) -> bool {
    let allowed = |command: &Vec<Option<String>>| {
        let words: Option<Vec<&str>> = command.iter().map(Option::as_deref).collect();
        words.is_some_and(|words| {
            rules.iter().any(|rule| match &rule.matcher {
                RuleMatcher::Command { argv, more } if rule.effect == RuleEffect::Allow => {
                    rules::command_is(&words, argv, *more)
                }
                _ => false,
            })
        })
    };
    script.is_understood && !script.commands.is_empty() && script.commands.iter().all(allowed)
}

/// What no rule can give back.
fn taken_away(request: &PermissionRequest<'_>, target: Option<&ActionTarget>) -> Option<String> {
    let effect = request.capabilities.effect;
    let is_plan = request.mode == PermissionMode::Plan;
    match target {
        Some(ActionTarget::Write { path, .. }) => {
            if is_plan {
                return Some("the session is in mode 'plan', which changes nothing".to_owned());
            }
            let why = match request.work_mode {
                WorkMode::Review => "changes nothing",
                WorkMode::Design | WorkMode::Docs if !is_document(path) => "changes documents only",
                _ => return None,
            };
            Some(format!("the work mode '{}' {why}", request.work_mode))
        }
        Some(ActionTarget::Run { confinement, .. }) => {
            let changes_nothing = confinement.as_ref().is_some_and(|inside| !inside.writes);
            let reads_only = is_plan
                || matches!(
                    request.work_mode,
                    WorkMode::Review | WorkMode::Design | WorkMode::Docs
                );
            (reads_only && !changes_nothing).then(|| {
                if is_plan {
                    "the session is in mode 'plan', in which programs run only where they can \
                     change nothing: with read_only, in a sandbox"
                        .to_owned()
                } else {
                    format!(
                        "in the work mode '{}' programs run only where they can change nothing: with \
                         read_only, in a sandbox",
                        request.work_mode
                    )
                }
            })
        }
        None if is_plan && !effect.is_repeatable() && !starts_nothing(request) => {
            Some("the session is in mode 'plan', which changes nothing".to_owned())
        }
        _ => None,
    }
}

fn by_mode(
    request: &PermissionRequest<'_>,
    target: Option<&ActionTarget>,
    script: Option<&Script>,
) -> Permission {
    let is_full = request.mode == PermissionMode::Full;
    let may_edit = is_full || request.mode == PermissionMode::AutoEdit;
    let allow_if = |allowed: bool, why: &str| {
        if allowed { Permission::Allow } else { Permission::ask(why) }
    };
    match target {
        Some(ActionTarget::Read { .. }) => Permission::Allow,
        // That is no edit: it starts a program where nothing keeps one in.
        Some(ActionTarget::Write { path, .. })
            if !is_full && agentd_sandbox::runs_later(Path::new(path)) =>
        {
            Permission::ask("it changes what runs later, outside of the sandbox")
        }
        Some(ActionTarget::Write { .. }) => allow_if(may_edit, "it changes the workspace"),
        Some(ActionTarget::Request { method, .. }) if method == OF_PROGRAM => {
            allow_if(is_full, "it starts a program that may use the network")
        }
        Some(ActionTarget::Request { .. }) => allow_if(is_full, "it uses the network"),
        Some(ActionTarget::Run { confinement: None, .. }) => {
            allow_if(is_full, "it starts a program that nothing keeps in")
        }
        // Its network is judged by its hosts.
        Some(ActionTarget::Run { confinement: Some(Confinement { writes, .. }), .. }) => {
            if request.capabilities.effect == ToolEffect::Exclusive {
                allow_if(is_full, "it does more than change files")
            } else {
                let only_reads = !writes || script.is_some_and(only_reads);
                allow_if(
                    may_edit || only_reads,
                    "it starts a program that may change the workspace",
                )
            }
        }
        None if starts_nothing(request) => Permission::Allow,
        None => match request.capabilities.effect {
            ToolEffect::Pure | ToolEffect::WorkspaceRead => Permission::Allow,
            ToolEffect::NetworkRead => allow_if(is_full, "it uses the network"),
            ToolEffect::WorkspaceWrite => allow_if(may_edit, "it changes the workspace"),
            ToolEffect::Process => allow_if(is_full, "it starts a program"),
            ToolEffect::Exclusive => allow_if(is_full, "it may change something"),
        },
    }
}

/// True for a tool of programs whose plan names none: it looks at what was started before, or ends it.
fn starts_nothing(request: &PermissionRequest<'_>) -> bool {
    let Action { summary, targets } = request.action;
    request.capabilities.effect == ToolEffect::Process && !summary.is_empty() && targets.is_empty()
}

fn only_reads(script: &Script) -> bool {
    script.is_understood
        && !script.commands.is_empty()
        && script.commands.iter().all(|command| is_all(command, programs::only_reads))
}

/// True when all words are known and the command is such a one.
fn is_all(command: &[Option<String>], is_such: fn(&[&str]) -> bool) -> bool {
    let words: Option<Vec<&str>> = command.iter().map(Option::as_deref).collect();
    words.is_some_and(|words| is_such(&words))
}

/// True when a program, or the script that a shell is given, is git changing its own files, beside
/// commands that only read. It may then do so in the sandbox.
pub(crate) fn is_plain_git(argv: &[String]) -> bool {
    let script = script_of_argv(argv);
    let is_git = |command: &Vec<Option<String>>| is_all(command, programs::is_plain_git);
    let reads = |command: &Vec<Option<String>>| is_all(command, programs::only_reads);
    script.is_understood
        && script.commands.iter().any(is_git)
        && script.commands.iter().all(|command| is_git(command) || reads(command))
}

/// What the program runs: itself, or the script that a shell is given.
fn script_of(target: &ActionTarget) -> Option<Script> {
    let ActionTarget::Run { argv, .. } = target else { return None };
    Some(script_of_argv(argv))
}

fn script_of_argv(argv: &[String]) -> Script {
    match argv {
        [program, _id, text, ..] if program == TYPING => Script::typed(argv, text),
        [shell, option, script]
            if option == "-c" && matches!(programs::base_name(shell), "sh" | "bash" | "dash") =>
        {
            Script::parse(script)
        }
        _ => Script::of_argv(argv),
    }
}

/// True when a call with these arguments has surely run a command that begins with these words, if it
/// ended well: no other way led around the command, and nothing came after that would hide its end. Calls
/// without a command line are not asked about.
pub fn surely_runs(arguments_json: &str, words: &str) -> bool {
    let arguments: Value = serde_json::from_str(arguments_json).unwrap_or_default();
    let argv: Vec<String> = match (arguments.get("command"), arguments.get("argv")) {
        (Some(Value::String(line)), _) => ["bash", "-c", line.trim()].map(str::to_owned).into(),
        (_, Some(Value::Array(argv))) => {
            argv.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => return true,
    };
    let script = script_of_argv(&argv);
    script.is_chain && script.commands.iter().any(|command| programs::begins_with(command, words))
}

/// The rules that an approval of this action may make for later, narrow ones: for a command all its
/// words and its hosts, for a file this file, for a URL its host. None when a rule could not hold for the same
/// thing only, such as for a script that is not understood.
pub fn rules_for(action: &Action) -> Vec<RuleMatcher> {
    let mut found = Vec::new();
    for target in &action.targets {
        match target {
            ActionTarget::Read { path, .. } => {
                found.push(exact_path(path, PathAccess::Read));
            }
            ActionTarget::Write { path, .. } => {
                found.push(exact_path(path, PathAccess::Write));
            }
            ActionTarget::Request { host, .. } => {
                found.push(RuleMatcher::Host { host: host.clone() });
            }
            ActionTarget::Run { .. } => {
                let Some(script) = script_of(target).filter(|script| script.is_understood) else {
                    return Vec::new();
                };
                let commands = script.commands.into_iter().filter_map(|command| {
                    let argv: Option<Vec<String>> = command.into_iter().collect();
                    Some(RuleMatcher::Command { argv: argv?, more: false })
                });
                found.extend(commands);
                for host in reached(target) {
                    match host {
                        ActionTarget::Request { host, .. } if host != ANY_HOST => {
                            found.push(RuleMatcher::Host { host });
                        }
                        // No rule is about all of the network.
                        _ => return Vec::new(),
                    }
                }
            }
        }
    }
    found.dedup();
    found
}

fn exact_path(path: &str, access: PathAccess) -> RuleMatcher {
    RuleMatcher::Path { glob: globset::escape(path), access }
}

/// True for files that hold text for people.
fn is_document(path: &str) -> bool {
    const EXTENSIONS: [&str; 8] =
        ["adoc", "asciidoc", "markdown", "md", "org", "rst", "tex", "txt"];
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
    }) && !is_instruction(name)
}

/// Text files that programs take orders from.
fn is_instruction(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(
        name.as_str(),
        "cmakelists.txt" | "requirements.txt" | "constraints.txt" | "robots.txt"
    )
}

#[cfg(test)]
mod tests;

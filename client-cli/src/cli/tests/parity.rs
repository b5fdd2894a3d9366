//! Nothing is missing: each method of the daemon has a command, and each command says what it needs to say.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Command, CommandFactory as _};
use prost::Message as _;
use prost_types::FileDescriptorSet;

use crate::cli::Cli;

/// The command of each method. A method without a line fails the test.
const COMMANDS: &[(&str, &str)] = &[
    ("AccessService/CreateToken", "token create"),
    ("AccessService/ListTokens", "token list"),
    ("AccessService/RevokeToken", "token revoke"),
    ("AdminService/BackupStore", "backup"),
    ("AdminService/GetStatus", "status"),
    ("AdminService/ReloadConfig", "reload"),
    ("AdminService/Shutdown", "shutdown"),
    ("AdminService/Upgrade", "upgrade"),
    ("ApprovalService/AnswerApproval", "approvals allow"),
    ("ApprovalService/ListApprovals", "approvals list"),
    ("ContextService/CompactContext", "context compact"),
    ("ContextService/ExpandSummary", "context expand"),
    ("ContextService/GetContext", "context"),
    ("ContextService/PinText", "context pin"),
    ("ContextService/UnpinText", "context unpin"),
    ("DiagnosticsService/RunChecks", "doctor"),
    ("DiagnosticsService/TailLogs", "logs"),
    ("EventService/Attach", "attach"),
    ("EventService/ListEvents", "tail"),
    ("EventService/SetReadCursor", "sessions mark-read"),
    ("GoalService/AddGoal", "goals add"),
    ("GoalService/DropGoal", "goals drop"),
    ("GoalService/FinishGoal", "goals done"),
    ("GoalService/ListGoals", "goals list"),
    ("MemoryService/AddMemory", "memory add"),
    ("MemoryService/ConfirmMemory", "memory confirm"),
    ("MemoryService/ConsolidateMemories", "memory consolidate"),
    ("MemoryService/ExportMemories", "memory export"),
    ("MemoryService/ForgetMemory", "memory forget"),
    ("MemoryService/GetMemory", "memory show"),
    ("MemoryService/GetMemoryStats", "memory stats"),
    ("MemoryService/ImportMemories", "memory import"),
    ("MemoryService/ListMemories", "memory list"),
    ("MemoryService/SweepMemories", "memory decay"),
    ("MemoryService/UndoMemoryChange", "memory undo"),
    ("MemoryService/UpdateMemory", "memory edit"),
    ("ModelService/ListModels", "models"),
    ("PermissionService/AddRule", "permissions allow"),
    ("PermissionService/DeleteRule", "permissions remove"),
    ("PermissionService/ListRules", "permissions list"),
    ("SandboxService/GetSandbox", "sandbox status"),
    ("SandboxService/TestSandbox", "sandbox test"),
    ("SearchService/SearchMessages", "search"),
    ("SessionService/CreateSession", "sessions create"),
    ("SessionService/DeleteSession", "sessions delete"),
    ("SessionService/ExportSession", "sessions export"),
    ("SessionService/ForkSession", "sessions fork"),
    ("SessionService/GetSession", "sessions show"),
    ("SessionService/ImportSession", "sessions import"),
    ("SessionService/ListSessions", "sessions list"),
    ("SessionService/UpdateSession", "sessions set"),
    ("SessionService/WatchSessions", "watch"),
    ("ToolService/GetTool", "tools show"),
    ("ToolService/ListChanges", "diff"),
    ("ToolService/ListTools", "tools list"),
    ("ToolService/RunTool", "tools run"),
    ("TurnService/AnswerQuestion", "answer"),
    ("TurnService/InterruptTurn", "interrupt"),
    ("TurnService/SubmitMessage", "send"),
    ("TurnService/WithdrawMessage", "withdraw"),
    ("UsageService/GetUsage", "usage"),
];

/// All commands that do something, by their words.
fn commands() -> BTreeMap<String, Command> {
    fn collect(words: &str, command: &Command, found: &mut BTreeMap<String, Command>) {
        if !command.is_subcommand_required_set() && !words.is_empty() {
            found.insert(words.to_owned(), command.clone());
        }
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let words = format!("{words} {}", inner.get_name());
            collect(words.trim_start(), inner, found);
        }
    }
    let mut found = BTreeMap::new();
    collect("", &Cli::command(), &mut found);
    found
}

fn help(command: &Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn every_method_of_the_daemon_has_a_command() {
    let set = FileDescriptorSet::decode(agentd_proto::FILE_DESCRIPTOR_SET).unwrap();
    let services = set.file.iter().flat_map(|file| &file.service);
    let methods: BTreeSet<String> = services
        .flat_map(|service| {
            service.method.iter().map(|method| format!("{}/{}", service.name(), method.name()))
        })
        .collect();
    let table: BTreeSet<String> = COMMANDS.iter().map(|(method, _)| (*method).to_owned()).collect();
    assert_eq!(table, methods, "give a new method a command, and a line here");
    assert_eq!(table.len(), COMMANDS.len(), "a method has two lines");
    let commands = commands();
    for (method, words) in COMMANDS {
        assert!(commands.contains_key(*words), "{method}: there is no `agentctl {words}`");
    }
}

#[test]
fn every_command_prints_json_or_says_why_not() {
    let mut problems = Vec::new();
    for (words, command) in commands() {
        let has_json = command.get_arguments().any(|argument| argument.get_id() == "json");
        let help = help(&command);
        let says_why = help.contains("no --json") || help.contains("no\n--json");
        if has_json == says_why {
            problems.push(format!("agentctl {words}: has it {has_json}, says why not {says_why}"));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn the_help_of_every_command_has_examples_that_are_right() {
    let mut problems = Vec::new();
    for (words, command) in commands() {
        let own = format!("agentctl {words}");
        let help = help(&command);
        let examples = help.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        // Global options may come before the command.
        if !examples.contains(&own) {
            problems.push(format!("no example of `{own}` in its help"));
        }
        let lines = examples.lines();
        for line in lines.filter_map(|line| line.trim_start().strip_prefix("agentctl ")) {
            // What a shell would make of quotes and substitutions is left alone.
            if line.contains(['\'', '"', '$', '\\', '&']) {
                continue;
            }
            let arguments = line.split(['|', '>']).next().unwrap_or(line);
            let arguments = std::iter::once("agentctl").chain(arguments.split_whitespace());
            if let Err(error) = Cli::command().try_get_matches_from(arguments)
                && error.use_stderr()
            {
                problems.push(format!("`agentctl {line}`: {error}"));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

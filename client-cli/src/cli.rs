//! The command line, as clap sees it.

use agentd_shared::ConnectArgs;
use clap::{Args, Parser, Subcommand};

use crate::command::answer::AnswerArgs;
use crate::command::approvals::ApprovalsCommand;
use crate::command::attach::AttachArgs;
use crate::command::backup::BackupArgs;
use crate::command::chat::ChatArgs;
use crate::command::completions::CompletionsArgs;
use crate::command::config::ConfigArgs;
use crate::command::context::ContextArgs;
use crate::command::diff::DiffArgs;
use crate::command::doctor::DoctorArgs;
use crate::command::goals::GoalsCommand;
use crate::command::interrupt::InterruptArgs;
use crate::command::logs::LogsArgs;
use crate::command::man::ManArgs;
use crate::command::memory::MemoryCommand;
use crate::command::models::ModelsArgs;
use crate::command::permissions::PermissionsCommand;
use crate::command::sandbox::SandboxArgs;
use crate::command::search::SearchArgs;
use crate::command::send::SendArgs;
use crate::command::service::ServiceCommand;
use crate::command::sessions::SessionsCommand;
use crate::command::tail::TailArgs;
use crate::command::token::TokenCommand;
use crate::command::tools::ToolsCommand;
use crate::command::tui::TuiArgs;
use crate::command::undo::UndoArgs;
use crate::command::upgrade::UpgradeArgs;
use crate::command::usage::UsageArgs;
use crate::command::watch::WatchArgs;
use crate::command::withdraw::WithdrawArgs;
use crate::output::ColorChoice;

const EXIT_CODES: &str = "\
Exit codes:
    0  done (also when the reader of the output went away, as with `| head`)
    1  the turn or the command failed
    2  wrong usage
    3  the daemon cannot be reached or started
    4  not found
    5  the turn was interrupted
    6  the turn waits for an answer: open it with `agentctl chat --session ID`
  130  stopped by Ctrl-C

Examples:
  agentctl chat                           talk in a new session
  agentctl chat --continue                go on where you left off
  agentctl send \"what is 17% of 2400?\"    ask once, answer on stdout
  git diff | agentctl send                send what another program prints
  agentctl attach last                    watch what another terminal does

Environment:
  AGENTD_HOME      one folder for configuration, data, state and socket
  AGENTD_BIN       the program that is started as the daemon
  AGENTD_SERVER    same as --server
  AGENTD_TOKEN     token for a daemon on another machine
  AGENTCTL_CLIENT  same as --client
  NO_COLOR         no colour, unless --color always says otherwise
  CLICOLOR_FORCE   colour into a pipe, too
  TERM             dumb: no colour, and nothing is drawn in place";

/// Talks to the agent that lives on this machine.
#[derive(Debug, Parser)]
#[command(name = "agentctl", version, after_help = EXIT_CODES, propagate_version = true)]
#[command(arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Options that every command has.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// How to find and reach the daemon.
    #[command(flatten)]
    pub(crate) connect: ConnectArgs,
    /// When to use colour
    #[arg(
        long,
        help_heading = "Global options",
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = false
    )]
    pub(crate) color: ColorChoice,
}

/// One command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk in a session
    #[command(after_help = "\
Without an option a new session begins. Type /help inside for commands and
keys. A message that is sent while a turn runs waits for its end; `/steer
TEXT` (or `>TEXT`) reaches the running turn, `!TEXT` interrupts it.
Ctrl-C cancels the turn, twice leaves; Ctrl-D leaves and lets it go on.
From a pipe each line is a message or a command, and waits for the end of
the one before. There is no --json; `agentctl send --json` is for programs.

Where no configuration was made and no model is found, it asks for one first:
an API key, a server on this machine, or neither. --no-setup does not ask.

Examples:
  agentctl chat
  agentctl chat --continue
  agentctl chat --session 01JZ3V8QK5RD
  printf 'hello\\nwhat time is it?\\n' | agentctl chat")]
    Chat(ChatArgs),
    /// Talk in the full-screen client
    #[command(after_help = "\
Becomes agent-tui, which is looked for beside agentctl and along PATH, with
the options that say which daemon is meant. There is no --json.

Examples:
  agentctl tui
  agentctl --context box tui
  agentctl tui -- --help")]
    Tui(TuiArgs),
    /// Send one message and print the answer
    #[command(after_help = "\
The answer goes to stdout as it streams, everything else to stderr. With
--json each line of stdout is a JSON object: first
{\"kind\":\"session\",\"session_id\":\"...\"}, then one for each event; with
--no-wait a single one that has session_id, item_id, seq and queue_position.
Without TEXT, or with `-`, the message is read from stdin. Ctrl-C cancels the
turn, or takes the message back when it still waits. When the turn asks, or
the one that the message is queued behind, the command ends with 6.

Examples:
  agentctl send \"list the files here\"
  agentctl send --continue \"and how long is the longest?\"
  agentctl send --session last --delivery steer \"skip the tests\"
  cat notes.txt | agentctl send -
  agentctl send --json \"hi\" | jq -r .kind
  agentctl send --json \"hi\" | jq -r 'select(.kind == \"session\").session_id'")]
    Send(SendArgs),
    /// Watch a session until Ctrl-C, without writing to it
    #[command(after_help = "\
Ctrl-C ends the watching, not the turn. What a terminal was shown is not
shown to it again, unless --from asks for it.

Examples:
  agentctl attach last
  agentctl attach 01JZ3V8QK5RD --from 1 --json")]
    Attach(AttachArgs),
    /// Watch all sessions until Ctrl-C: what runs, what waits for you, what is unread
    #[command(after_help = "\
On a terminal the overview is redrawn in place; what waits for you comes
first. Without one, each change that can be seen is a line. With --json each
line is an object whose kind is snapshot, changed or deleted. A session is
unread until a terminal has shown what came of it; a script shows nothing.

Examples:
  agentctl watch
  agentctl watch --once
  agentctl watch --json | jq -r 'select(.kind == \"changed\").session.title'")]
    Watch(WatchArgs),
    /// Print the newest events of a session, one a line
    #[command(after_help = "\
Each line has the time, the number of the event, its kind, and the beginning
of what it says; --json has all of it. With --follow it goes on until Ctrl-C,
also when the daemon restarts. Nothing counts as read by it.

Examples:
  agentctl tail
  agentctl tail -f 01JZ3V8QK5RD
  agentctl tail -n 1000 --json last | jq -r .kind | sort | uniq -c")]
    Tail(TailArgs),
    /// End the turn that runs in a session
    #[command(after_help = "\
The session stays; what the turn has done stays too. Without a turn nothing is
done, and the command succeeds.

Examples:
  agentctl interrupt last
  agentctl interrupt 01JZ3V8QK5RD --json | jq .interrupted")]
    Interrupt(InterruptArgs),
    /// Take back a message that no turn has used yet
    #[command(after_help = "\
Examples:
  agentctl withdraw last
  agentctl withdraw 01JZ3V8QK5RD 2")]
    Withdraw(WithdrawArgs),
    /// Answer what the turn of a session asks, or show it
    #[command(after_help = "\
Calls that wait for a yes are answered with `agentctl approvals`.

Examples:
  agentctl answer last
  agentctl answer last continue
  agentctl answer 01JZ3V8QK5RD 2
  agentctl answer last --json \"in the staging cluster\"")]
    Answer(AnswerArgs),
    /// List, create, show, change, delete, copy, export and import sessions
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Find what was said in all sessions
    #[command(after_help = "\
Messages of users and answers are found by their words, in any script, the
best first; what is said next to them counts, too. Each has the beginning of
its session's id and its number there. Copies of a message are shown once.

Examples:
  agentctl search where is the staging database
  agentctl search --since 7d --role user deploy
  agentctl search --json 数据库 | jq -r '.messages[].snippet'")]
    Search(SearchArgs),
    /// List and answer calls that wait until somebody says whether they may run
    #[command(subcommand)]
    #[command(after_help = "\
What is shown is exactly what runs: characters that cannot be seen, or that
change the direction of writing, are shown as escapes.

Examples:
  agentctl approvals list
  agentctl approvals allow 01JZ3V8QK5RD --always
  agentctl approvals deny 01JZ3V8QK5RD --reason \"use ripgrep\"")]
    Approvals(ApprovalsCommand),
    /// List and make rules about what agents may do without asking
    #[command(subcommand)]
    #[command(after_help = "\
Rules are about what a call will do, not about its text: a command is read as
the shell reads it, and each program that it starts must be allowed. Rules of
the configuration stand in [permission].

Examples:
  agentctl permissions list --workspace .
  agentctl permissions allow --workspace . command cargo test '*'
  agentctl permissions deny command git push '*'
  agentctl permissions ask write '**/Cargo.toml'")]
    Permissions(PermissionsCommand),
    /// List, set, finish and remove goals, which outlive sessions
    #[command(subcommand)]
    #[command(after_help = "\
A goal belongs to a workspace, or holds everywhere. Agents set goals too, with
the tool manage_goals, in the workspace of their session; a session that
begins is told how many are open, and reads them when it asks.

Examples:
  agentctl goals list --workspace .
  agentctl goals add port the parser to wasm --priority 1
  agentctl goals add --everywhere \"learn Rust\"
  agentctl goals done 01JZ3V8QK5RDWS3Y8XZ0M4B6TN")]
    Goals(GoalsCommand),
    /// List tools, show what they take, and run one by hand
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Show what the tools of a session have changed of files
    #[command(after_help = "\
Each file is compared with what it held before the first change of the
session. `agentctl undo` takes changes back.

Examples:
  agentctl diff
  agentctl diff 01JZ3V8QK5RD --json | jq -r '.files[].path'")]
    Diff(DiffArgs),
    /// Take back a change of files that the tools of a session have made
    #[command(after_help = "\
What will be changed is shown first. A file that holds something else by now
is left alone, and so are all others of the change. What a change replaced is
kept beside the store, also when the daemon stops: 256 MiB of all sessions,
files of up to 8 MiB, the last 50 changes of a session.

Examples:
  agentctl undo
  agentctl undo 01JZ3V8QK5RD --change 3 --yes")]
    Undo(UndoArgs),
    /// List, find, change and explain what is remembered between sessions
    #[command(subcommand)]
    #[command(after_help = "\
A memory is named by its id or the end of it that lists show. Memories fall
from critical to high to medium to low as they age, later when they help; a
pinned one does not. What came from text that nobody vouches for waits until
it is confirmed.

Examples:
  agentctl memory list --workspace .
  agentctl memory search deploy key
  agentctl memory why 6FAV01XY
  agentctl memory decay --dry-run --within 30d")]
    Memory(MemoryCommand),
    /// List models, what is known of them, and who has which role
    #[command(after_help = "\
Models that an endpoint offers come first, then those that have a role or
stand in the configuration; those of the catalogue only with --all, or where
there are no others. Prices are in US dollars per million tokens of requests
and of answers. `agentctl config init` shows how endpoints, roles and models
are configured.

Examples:
  agentctl models
  agentctl models --json | jq -r '.models[] | select(.available).name'")]
    Models(ModelsArgs),
    /// Show how the daemon is; none is started for that
    #[command(after_help = "\
Examples:
  agentctl status
  agentctl status --json | jq -r .provider.model")]
    Status(JsonArgs),
    /// Look at everything that can be wrong, with a remedy for each
    #[command(after_help = "\
The endpoint is asked one tiny question, unless --offline says no. The exit
code is 1 when a check failed.

Examples:
  agentctl doctor
  agentctl doctor --json | jq '.[] | select(.outcome != \"ok\")'")]
    Doctor(DoctorArgs),
    /// Show what shuts commands in, or test it
    #[command(after_help = "\
Examples:
  agentctl sandbox
  agentctl sandbox --json | jq -r .backend
  agentctl sandbox test")]
    Sandbox(SandboxArgs),
    /// Show what the daemon logs
    #[command(after_help = "\
A daemon keeps its newest records in memory, 10,000 at most. With --follow
the command waits for a daemon that goes away to come back, until Ctrl-C.

Examples:
  agentctl logs
  agentctl logs -f --level warn
  agentctl logs -n 1000 --session last --json")]
    Logs(LogsArgs),
    /// Show what model requests used and cost, and how far limits are used up
    #[command(after_help = "\
Days are UTC. Tokens and cost that providers did not report are estimates and
are marked with ~; requests to models without a known price are counted as
unpriced and cost nothing in the sums. With --by session a row is a session
that changed on one of the days, with the sums of its whole life; a copy has
those of what it copied too, so that the total may be more than was used.

Examples:
  agentctl usage
  agentctl usage --by model --days 7
  agentctl usage --session last --by purpose
  agentctl usage --json | jq .total.cost.nano_usd")]
    Usage(UsageArgs),
    /// Stop the daemon and wait until it is gone
    #[command(after_help = "\
Turns end at a safe point and are asked about, or go on, at the next start.

Examples:
  agentctl shutdown")]
    Shutdown(JsonArgs),
    /// Make the running daemon read its configuration again
    #[command(after_help = "\
Examples:
  agentctl reload
  agentctl reload --json | jq -r '.needs_restart[]'")]
    Reload(JsonArgs),
    /// Let another binary take over from the daemon that runs
    #[command(after_help = "\
The process keeps its id and its socket: clients reconnect, and turns that are
cut go on by themselves. A binary that could not start changes nothing.

Examples:
  agentctl upgrade
  agentctl upgrade ./target/release/agentd")]
    Upgrade(UpgradeArgs),
    /// Install, look at or remove the daemon as a service of systemd
    #[command(subcommand)]
    Service(ServiceCommand),
    /// Write a consistent copy of the store while the daemon runs
    #[command(after_help = "\
Examples:
  agentctl backup /mnt/usb/agentd-2025-06-01")]
    Backup(BackupArgs),
    /// Make, show or find the configuration
    #[command(after_help = "\
The daemon's program does it, also when the file cannot be read. There is no
--json: `show` prints what is in force as TOML, with where it is from.

Examples:
  agentctl config init
  ${EDITOR:-vi} \"$(agentctl config path)\" && agentctl reload
  agentctl config show")]
    Config(ConfigArgs),
    /// Show what a session's requests are made of; name daemons on other machines
    #[command(after_help = "\
Without a command it shows what the next request would hold, layer by layer.

Examples:
  agentctl context last
  agentctl context pin \"keep to the public API\"
  agentctl context expand 3
  agentctl context add home --server https://box.lan:7443 --token-file -")]
    Context(ContextArgs),
    /// Make, list and revoke the tokens of remote clients
    #[command(subcommand)]
    Token(TokenCommand),
    /// Print a completion script for a shell
    #[command(after_help = "\
There is no --json: what is printed is a script.

Examples:
  echo 'source <(agentctl completions bash)' >> ~/.bashrc
  agentctl completions fish > ~/.config/fish/completions/agentctl.fish")]
    Completions(CompletionsArgs),
    /// Print a manual page, or write those of all commands
    #[command(after_help = "\
There is no --json: what is printed is a manual page.

Examples:
  agentctl man | man -l -
  agentctl man ~/.local/share/man/man1")]
    Man(ManArgs),
    /// Print the versions of agentctl and of the running daemon
    #[command(after_help = "\
Examples:
  agentctl version --json | jq -r .agentd")]
    Version(JsonArgs),
}

/// Only `--json`.
#[derive(Debug, Clone, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests;

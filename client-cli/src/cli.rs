//! The command line, as clap sees it.

mod remote;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::output::ColorChoice;

pub(crate) use remote::{
    ContextCommand, RemoteArgs, ScopeChoice, TokenCommand, TokenCreateArgs, TokenRevokeArgs,
};

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
  NO_COLOR         no colour";

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
    /// Folder that holds configuration, data, state and socket
    #[arg(long, global = true, value_name = "DIR", env = "AGENTD_HOME", hide_env = true)]
    pub(crate) home: Option<PathBuf>,
    /// Socket of a daemon that runs already; none is started
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Name that stands for this terminal and keeps its place in each session
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) client: Option<String>,
    /// Do not start a daemon when none runs
    #[arg(long, global = true)]
    pub(crate) no_start: bool,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = false
    )]
    pub(crate) color: ColorChoice,
    /// How to reach a daemon on another machine.
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// One command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk in a session
    #[command(after_help = "\
Without an option a new session begins. Type /help inside for commands and
keys. A message that is sent while a turn runs waits for its end;
`/steer TEXT` (or `>TEXT`) reaches the running turn, `!TEXT` interrupts it.
Ctrl-C cancels the turn, twice leaves; Ctrl-D leaves and lets it go on.
From a pipe each line is a message or a command, and waits for the end of
the one before.

Examples:
  agentctl chat
  agentctl chat --continue
  agentctl chat --session 01JZ3V8QK5RD
  printf 'hello\\nwhat time is it?\\n' | agentctl chat")]
    Chat(ChatArgs),
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
    /// List, show, rename, delete, copy, export and import sessions
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// List models, what is known of them, and who has which role
    #[command(after_help = "\
Models that an endpoint offers come first; the others are those of the
catalogue. Prices are in US dollars per million tokens of requests and of
answers. `agentctl config init` shows how endpoints, roles and models are
configured.

Examples:
  agentctl models
  agentctl models --json | jq -r '.models[] | select(.available).name'")]
    Models(JsonArgs),
    /// Show how the daemon is; none is started for that
    Status(JsonArgs),
    /// Look at everything that can be wrong, with a remedy for each
    #[command(after_help = "\
The endpoint is asked one tiny question, unless --offline says no. The exit
code is 1 when a check failed.

Examples:
  agentctl doctor
  agentctl doctor --json | jq '.[] | select(.outcome != \"ok\")'")]
    Doctor(DoctorArgs),
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
that changed on one of the days, with the sums of its whole life.

Examples:
  agentctl usage
  agentctl usage --by model --days 7
  agentctl usage --session last --by purpose
  agentctl usage --json | jq .total.cost.nano_usd")]
    Usage(UsageArgs),
    /// Stop the daemon and wait until it is gone
    Shutdown,
    /// Make the running daemon read its configuration again
    Reload,
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
    Config(ConfigArgs),
    /// Name daemons on other machines and choose one
    #[command(subcommand)]
    Context(ContextCommand),
    /// Make, list and revoke the tokens of remote clients
    #[command(subcommand)]
    Token(TokenCommand),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  echo 'source <(agentctl completions bash)' >> ~/.bashrc
  agentctl completions fish > ~/.config/fish/completions/agentctl.fish")]
    Completions(CompletionsArgs),
    /// Print the versions of agentctl and of the running daemon
    Version(JsonArgs),
}

/// Which session: at most one of these.
#[derive(Debug, Clone, Default, Args)]
#[group(multiple = false)]
pub(crate) struct WhichSession {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The session that was used last, or a new one when there is none
    #[arg(long = "continue")]
    pub(crate) resume: bool,
    /// A new session (the default)
    #[arg(long)]
    pub(crate) new: bool,
}

/// Options of `chat`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChatArgs {
    /// Which session.
    #[command(flatten)]
    pub(crate) which: WhichSession,
    /// Model and effort.
    #[command(flatten)]
    pub(crate) wishes: Wishes,
}

/// What a session's turns are like from the next one on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Wishes {
    /// Model that answers from the next turn on; `default` for the daemon's
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How long it reasons from the next turn on; `default` for the model's own
    #[arg(long, value_name = "LEVEL", value_enum, hide_possible_values = false)]
    pub(crate) effort: Option<EffortArg>,
}

/// How long a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortArg {
    /// As the model does by itself.
    Default,
    /// Not at all, where the model can do without.
    Off,
    /// As little as the model can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
}

/// What happens to a message when a turn is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum DeliveryChoice {
    /// The message runs after the turn.
    #[default]
    Queue,
    /// The running turn gets the message at its next tool boundary; after it, if there is none.
    Steer,
    /// The running turn is cancelled, then the message runs.
    Interrupt,
}

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum PriorityChoice {
    /// Background work; it expires after an hour unless --ttl or the daemon's configuration says otherwise.
    Low,
    /// What users type.
    #[default]
    Normal,
    /// Before what users type.
    High,
    /// Before what is high.
    Urgent,
    /// Before everything else.
    Critical,
}

/// Options of `send`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SendArgs {
    /// The message; several words are joined by spaces
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Which session.
    #[command(flatten)]
    pub(crate) which: WhichSession,
    /// Model and effort.
    #[command(flatten)]
    pub(crate) wishes: Wishes,
    /// What to do when a turn is running
    #[arg(long, value_enum, default_value_t)]
    pub(crate) delivery: DeliveryChoice,
    /// How important the message is: among those that wait, the more important run first
    #[arg(long, value_enum, default_value_t)]
    pub(crate) priority: PriorityChoice,
    /// When it is too late to begin, such as 90s or 1h30m; without it the daemon decides
    #[arg(long, value_name = "DURATION", value_parser = crate::duration::parse)]
    pub(crate) ttl: Option<Duration>,
    /// Print events as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
    /// Return when the message is stored; do not wait for the answer
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// Options of `attach`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AttachArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// First event to show; without it: what this terminal has not seen
    #[arg(long, value_name = "SEQ")]
    pub(crate) from: Option<u64>,
    /// Print events as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Commands about sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the most recently used first
    #[command(after_help = "\
When there are more than --limit, stderr says so.

Examples:
  agentctl sessions list --limit 100
  agentctl sessions list --limit 0 --json | jq -r '.[].session_id'")]
    List(ListArgs),
    /// Show one session with its queue and open questions
    Show(ShowArgs),
    /// Give a session a title that stays
    #[command(after_help = "\
Examples:
  agentctl sessions rename last \"tax return\"")]
    Rename(RenameArgs),
    /// Set the model or the effort of a session from the next turn on
    #[command(after_help = "\
Examples:
  agentctl sessions set last --model gpt-5 --effort low
  agentctl sessions set last --effort default")]
    Set(SetArgs),
    /// Remove sessions with all they hold
    Delete(DeleteArgs),
    /// Copy a session up to an event into a new one
    Fork(ForkArgs),
    /// Write a session to a file
    #[command(after_help = "\
`jsonl` can be imported again; `markdown` is for people.

Examples:
  agentctl sessions export last --output talk.jsonl
  agentctl sessions export 01JZ3V8QK5RD --format markdown > talk.md")]
    Export(ExportArgs),
    /// Create a session from an exported file
    #[command(after_help = "\
Examples:
  agentctl sessions import talk.jsonl
  ssh host agentctl sessions export last | agentctl sessions import -")]
    Import(ImportArgs),
}

/// Options of `usage`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UsageArgs {
    /// What a row stands for
    #[arg(long, value_name = "WHAT", value_enum, default_value = "day")]
    pub(crate) by: UsageBy,
    /// How many days to look back, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    pub(crate) days: u32,
    /// Only this session: its id, a unique beginning of it, or `last`
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a row of `usage` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageBy {
    /// A day
    Day,
    /// A model
    Model,
    /// A session
    Session,
    /// A purpose, such as turns or titles
    Purpose,
}

/// Only `--json`.
#[derive(Debug, Clone, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sessions list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Most sessions to list; 0 means all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sessions show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sessions rename`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RenameArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// The title; several words are joined by spaces
    #[arg(value_name = "TITLE", required = true)]
    pub(crate) title: Vec<String>,
}

/// Options of `sessions set`.
#[derive(Debug, Clone, Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)))]
pub(crate) struct SetArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// Model that answers; `default` for the daemon's
    #[arg(long, value_name = "MODEL", group = "what")]
    pub(crate) model: Option<String>,
    /// How long it reasons; `default` for the model's own
    #[arg(long, value_name = "LEVEL", value_enum, group = "what")]
    pub(crate) effort: Option<EffortArg>,
}

/// Options of `sessions delete`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DeleteArgs {
    /// Sessions by id, or by a unique beginning, such as lists show
    #[arg(value_name = "ID", required = true)]
    pub(crate) sessions: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Options of `sessions fork`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ForkArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// Last event to copy; without it: up to the end of the last finished turn
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at: Option<u64>,
    /// Title of the copy
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object per line; can be imported.
    #[default]
    Jsonl,
    /// For people.
    Markdown,
}

/// Options of `sessions export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// File to write; without it: stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What it looks like
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ExportFormat,
}

/// Options of `sessions import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// File that `sessions export` wrote, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `upgrade`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UpgradeArgs {
    /// The new binary; without it: the path that the daemon was started from
    #[arg(value_name = "AGENTD")]
    pub(crate) binary: Option<PathBuf>,
}

/// Commands about the service.
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Write the units, enable and start them
    #[command(after_help = "\
A file that somebody has changed is not overwritten without --force: changes
belong into a drop-in (`systemctl edit agentd`). Root installs the system's
service, everybody else one of their own.

Examples:
  agentctl service install --user
  agentctl service install --dry-run
  sudo agentctl service install --agentd /usr/local/bin/agentd")]
    Install(InstallArgs),
    /// Show the units and the daemon
    Status(ServiceStatusArgs),
    /// Stop the units and remove what `install` wrote; sessions stay
    Uninstall(ServiceArgs),
}

/// Options of `service status`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServiceStatusArgs {
    /// The service of the calling user (the default for everybody but root)
    #[arg(long)]
    pub(crate) user: bool,
}

/// Options of commands that change a service.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServiceArgs {
    /// The service of the calling user (the default for everybody but root)
    #[arg(long)]
    pub(crate) user: bool,
    /// Work on files under this folder, and start or stop nothing
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Overwrite or remove files that somebody has changed, too
    #[arg(long)]
    pub(crate) force: bool,
}

/// Options of `service install`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InstallArgs {
    /// Which service.
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    /// Program that the unit starts; without it: as clients find it
    #[arg(long, value_name = "PATH")]
    pub(crate) agentd: Option<PathBuf>,
    /// Print files and commands, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Options of `backup`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BackupArgs {
    /// Directory to create
    #[arg(value_name = "DEST")]
    pub(crate) destination: PathBuf,
}

/// Options of `doctor`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DoctorArgs {
    /// Do not ask the model anything
    #[arg(long)]
    pub(crate) offline: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `logs`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LogsArgs {
    /// Go on with what comes later
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Newest records to print first
    #[arg(
        long,
        short = 'n',
        value_name = "LINES",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(..=10_000)
    )]
    pub(crate) lines: u32,
    /// The least grave to print
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    pub(crate) level: LogLevel,
    /// Only what concerns this session: an id, a unique beginning, or `last`
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// How grave a log record is. What is not logged, by `log.level`, cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum LogLevel {
    /// Something failed.
    Error,
    /// Somebody should look.
    Warn,
    /// What the daemon does.
    #[default]
    Info,
    /// How it does it.
    Debug,
    /// Everything.
    Trace,
}

impl From<LogLevel> for agentd_proto::v1::LogLevel {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::Error,
            LogLevel::Warn => Self::Warn,
            LogLevel::Info => Self::Info,
            LogLevel::Debug => Self::Debug,
            LogLevel::Trace => Self::Trace,
        }
    }
}

/// What to do with the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConfigAction {
    /// Write a commented file when there is none.
    Init,
    /// Print what is in force and where each value comes from.
    Show,
    /// Print the path of the file.
    Path,
}

/// Options of `config`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ConfigArgs {
    /// What to do
    #[arg(value_enum)]
    pub(crate) action: ConfigAction,
}

/// Options of `completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_tree_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn session_options_exclude_each_other() {
        let check = |line: &str, good: bool| {
            let parsed = Cli::try_parse_from(line.split(' '));
            assert_eq!(parsed.is_ok(), good, "{line}: {:?}", parsed.err());
        };
        check("agentctl chat", true);
        check("agentctl chat --continue", true);
        check("agentctl chat --session 01JZ --model m", true);
        check("agentctl chat --session 01JZ --new", false);
        check("agentctl chat --continue --new", false);
        check("agentctl send hello world --json --delivery steer", true);
        check("agentctl send --delivery later x", false);
        check("agentctl send --priority critical --ttl 10m x", true);
        check("agentctl send --priority loud x", false);
        check("agentctl send --ttl soon x", false);
        check("agentctl sessions fork 01JZ --at 0", false);
        check("agentctl --home /tmp/x --no-start status --json", true);
        check("agentctl status --socket /tmp/s --color never", true);
        check("agentctl models --json", true);
        check("agentctl send --effort much x", false);
        check("agentctl sessions set last --effort low", true);
        check("agentctl sessions set last", false);
        check("agentctl config show", true);
        check("agentctl status --server https://box:7443 --ca ca.pem --token-file -", true);
        check("agentctl status --server https://box:7443 --context home", false);
        check("agentctl status --socket /s --server https://box:7443", false);
        check("agentctl status --token agentd_a_b", false);
        check("agentctl context add home --server https://box:7443", true);
        check("agentctl token create phone --scope read --expires 30d --json", true);
        check("agentctl token create phone --expires soon", false);
        check("agentctl completions fish", true);
    }

    #[test]
    fn what_is_broken_by_hand_fits_a_narrow_terminal() {
        fn check(command: &clap::Command) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                assert!(line.chars().count() <= 78, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}

//! The commands that there are.

use super::Surface;

/// A command typed in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlashCommand {
    /// Shows commands and keys.
    Help,
    /// Begins a new session.
    New,
    /// Lists sessions.
    Sessions,
    /// Finds what was said.
    Search,
    /// Goes to another session.
    Switch,
    /// Shows or sets the title.
    Title,
    /// Shows or sets the model.
    Model,
    /// Shows or sets the effort.
    Effort,
    /// Shows or sets the permission mode.
    Mode,
    /// Shows or sets the work mode.
    Work,
    /// Shows what waits for an approval.
    Approvals,
    /// Lets a call run.
    Approve,
    /// Keeps a call from running.
    Deny,
    /// Shows how the daemon is.
    Status,
    /// Shows token counts.
    Stats,
    /// Shows what requests used and cost.
    Usage,
    /// Shows what the session has set out to do.
    Todo,
    /// Shows the session's plan.
    Plan,
    /// Shows what is remembered.
    Memories,
    /// Shows what requests are made of.
    Context,
    /// Folds the older turns.
    Compact,
    /// Shows what a line of the summary was made from.
    Expand,
    /// Pins a text.
    Pin,
    /// Shows what is pinned.
    Pins,
    /// Takes back what is pinned.
    Unpin,
    /// Lists the tools, or shows one.
    Tools,
    /// Shows what tools have changed.
    Diff,
    /// Takes a change back.
    Undo,
    /// Shows the newest events.
    Trace,
    /// Clears the screen.
    Clear,
    /// Writes the session to a file.
    Export,
    /// Shows what waits.
    Queue,
    /// Takes back a queued message.
    Withdraw,
    /// Cancels the running turn.
    Interrupt,
    /// Reaches the running turn.
    Steer,
    /// Shows or hides reasoning.
    Reasoning,
    /// Shows or hides what the daemon decides on the way.
    Verbose,
    /// Shows or sets the colours.
    Theme,
    /// Answers the open question.
    Answer,
    /// Answers the open question with its first choice.
    Continue,
    /// Ends a suspended turn.
    Stop,
    /// Leaves.
    Quit,
}

/// One line of the table.
#[derive(Debug)]
pub struct Entry {
    /// The command.
    pub command: SlashCommand,
    /// Its names, the shown one first, without the slash.
    pub names: &'static [&'static str],
    /// Its argument, as help shows it.
    pub argument: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What completes its argument.
    pub completes: Completes,
    /// The only place that offers it; nothing when all do.
    pub only: Option<Surface>,
}

/// What completes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Nothing.
    Nothing,
    /// Ids of sessions.
    Sessions,
    /// Names of models.
    Models,
    /// Levels of effort.
    Efforts,
    /// Permission modes.
    Modes,
    /// Work modes.
    Works,
    /// "on" and "off".
    OnOff,
    /// Ids of queued messages.
    Queue,
    /// Choices of the open question.
    Choices,
    /// Names of tools.
    Tools,
    /// Beginnings of memories.
    Memories,
    /// Names of themes.
    Themes,
}

impl Entry {
    /// How it is typed.
    pub fn usage(&self) -> String {
        let name = self.names.first().copied().unwrap_or_default();
        format!("/{name} {}", self.argument).trim_end().to_owned()
    }

    /// Tells whether a place offers it.
    pub fn is_offered(&self, surface: Surface) -> bool {
        self.only.is_none_or(|only| only == surface)
    }

    /// Whether an argument is there when it must be, and none where none is read: its text would
    /// get lost.
    pub(super) fn takes(&self, argument: &str) -> bool {
        match self.argument {
            "" => argument.is_empty(),
            "[on|off]" => matches!(argument, "" | "on" | "off"),
            "[N]" => argument.is_empty() || argument.parse::<u64>().is_ok_and(|count| count > 0),
            optional if optional.starts_with('[') => true,
            _ => !argument.is_empty(),
        }
    }
}

pub(super) const fn entry(
    command: SlashCommand,
    names: &'static [&'static str],
    argument: &'static str,
    about: &'static str,
    completes: Completes,
) -> Entry {
    Entry { command, names, argument, about, completes, only: None }
}

/// All commands, in the order of the help.
pub const TABLE: &[Entry] = &[
    entry(SlashCommand::Help, &["help", "?"], "", "show commands and keys", Completes::Nothing),
    entry(SlashCommand::New, &["new"], "", "begin a new session", Completes::Nothing),
    entry(SlashCommand::Sessions, &["sessions", "list"], "", "list sessions", Completes::Nothing),
    entry(
        SlashCommand::Search,
        &["search", "find"],
        "QUESTION",
        "find what was said in all sessions",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Switch,
        &["switch", "attach"],
        "ID",
        "go to another session (beginning of its id, or `last`)",
        Completes::Sessions,
    ),
    entry(SlashCommand::Title, &["title"], "[TEXT]", "show or set the title", Completes::Nothing),
    entry(
        SlashCommand::Model,
        &["model"],
        "[NAME]",
        "show or set the model; `default` for the daemon's",
        Completes::Models,
    ),
    entry(
        SlashCommand::Effort,
        &["effort"],
        "[LEVEL]",
        "show or set how long it reasons, or `default`",
        Completes::Efforts,
    ),
    entry(
        SlashCommand::Mode,
        &["mode"],
        "[MODE]",
        "what it may do unasked: plan, ask, auto-edit, full",
        Completes::Modes,
    ),
    entry(
        SlashCommand::Work,
        &["work"],
        "[WORK]",
        "show or set what it works on",
        Completes::Works,
    ),
    entry(
        SlashCommand::Approvals,
        &["approvals"],
        "[show N]",
        "show calls that wait for an approval, or all of one",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Approve,
        &["approve", "allow"],
        "[N] [always]",
        "let a call run (or type y; a: from now on; w: here)",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Deny,
        &["deny"],
        "[N] [REASON]",
        "keep a call from running (or type n)",
        Completes::Nothing,
    ),
    entry(SlashCommand::Status, &["status"], "", "how the daemon is", Completes::Nothing),
    entry(
        SlashCommand::Stats,
        &["stats"],
        "",
        "turns and tokens of this session",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Usage,
        &["usage", "cost"],
        "[all]",
        "what requests used and cost in 30 days, by model",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Todo,
        &["todo"],
        "",
        "what this session has set out to do",
        Completes::Nothing,
    ),
    entry(SlashCommand::Plan, &["plan"], "", "the plan of this session", Completes::Nothing),
    entry(
        SlashCommand::Memories,
        &["memories", "memory"],
        "[WORDS]",
        "what is remembered and told in this session",
        Completes::Memories,
    ),
    entry(
        SlashCommand::Context,
        &["context"],
        "",
        "what requests are made of, and how full the window is",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Compact,
        &["compact"],
        "",
        "fold all turns but the newest into a summary now",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Expand,
        &["expand"],
        "[N]",
        "the lines of the summary, or what line N was made from",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Pin,
        &["pin"],
        "TEXT",
        "have the model keep to TEXT, whatever is folded",
        Completes::Nothing,
    ),
    entry(SlashCommand::Pins, &["pins"], "", "what is pinned", Completes::Nothing),
    entry(
        SlashCommand::Unpin,
        &["unpin"],
        "N",
        "take back what is pinned (number in /pins)",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Tools,
        &["tools"],
        "[NAME]",
        "list the tools, or show what one takes",
        Completes::Tools,
    ),
    entry(
        SlashCommand::Diff,
        &["diff", "changes"],
        "",
        "show what tools have changed of files in this session",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Undo,
        &["undo"],
        "[N]",
        "take back the last change of files, or change N of /diff",
        Completes::Nothing,
    ),
    entry(SlashCommand::Trace, &["trace"], "[N]", "show the newest N events", Completes::Nothing),
    entry(SlashCommand::Clear, &["clear"], "", "clear the screen", Completes::Nothing),
    entry(
        SlashCommand::Export,
        &["export"],
        "[FILE]",
        "write the session to a file (.md for Markdown)",
        Completes::Nothing,
    ),
    entry(SlashCommand::Queue, &["queue"], "", "show messages that wait", Completes::Nothing),
    entry(
        SlashCommand::Withdraw,
        &["withdraw"],
        "[ID]",
        "take back a queued message (number in /queue, or id)",
        Completes::Queue,
    ),
    entry(
        SlashCommand::Interrupt,
        &["interrupt"],
        "[TEXT]",
        "cancel the running turn, then send TEXT (also `!TEXT`)",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Steer,
        &["steer"],
        "TEXT",
        "tell the running turn something (also `>TEXT`)",
        Completes::Nothing,
    ),
    entry(
        SlashCommand::Reasoning,
        &["reasoning", "think", "thinking"],
        "[on|off]",
        "show or hide reasoning",
        Completes::OnOff,
    ),
    Entry {
        only: Some(Surface::FullScreen),
        ..entry(
            SlashCommand::Verbose,
            &["verbose"],
            "[on|off]",
            "show or hide what is decided on the way",
            Completes::OnOff,
        )
    },
    Entry {
        only: Some(Surface::FullScreen),
        ..entry(
            SlashCommand::Theme,
            &["theme"],
            "[NAME]",
            "show or set the colours",
            Completes::Themes,
        )
    },
    entry(
        SlashCommand::Answer,
        &["answer"],
        "CHOICE",
        "answer the open question (or type the choice)",
        Completes::Choices,
    ),
    entry(
        SlashCommand::Continue,
        &["continue", "resume"],
        "[ID]",
        "answer with the first choice, or go to session ID",
        Completes::Sessions,
    ),
    entry(SlashCommand::Stop, &["stop"], "", "end the turn that waits or runs", Completes::Nothing),
    entry(
        SlashCommand::Quit,
        &["quit", "exit", "bye"],
        "",
        "leave; the session stays",
        Completes::Nothing,
    ),
];

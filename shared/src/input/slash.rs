//! Slash commands: one table drives help, completion and dispatch of every client.

/// Where commands are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// The chat of `agentctl`.
    Chat,
    /// The full screen of `agent-tui`.
    FullScreen,
}

impl Surface {
    /// The program that has it.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Chat => "agentctl",
            Self::FullScreen => "agent-tui",
        }
    }
}

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
    fn takes(&self, argument: &str) -> bool {
        match self.argument {
            "" => argument.is_empty(),
            "[on|off]" => matches!(argument, "" | "on" | "off"),
            "[N]" => argument.is_empty() || argument.parse::<u64>().is_ok_and(|count| count > 0),
            optional if optional.starts_with('[') => true,
            _ => !argument.is_empty(),
        }
    }
}

const fn entry(
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

/// What a line means.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'l> {
    /// Nothing.
    Empty,
    /// A message that waits for its turn.
    Message(&'l str),
    /// A message to the running turn.
    Steer(&'l str),
    /// A message that cancels the running turn.
    Interrupt(&'l str),
    /// A command and the rest of its line.
    Command(SlashCommand, &'l str),
    /// A command without what it needs, or with more than it takes; how it is used.
    Misused(String),
    /// No such command; what was meant, if anything is near.
    Unknown(&'l str, Option<&'static str>),
}

/// Reads a line that was typed in a place. `//text` is a message that begins with a slash. A command
/// that only another place offers is read all the same, so that it can be said where it is.
pub fn parse(line: &str, surface: Surface) -> Line<'_> {
    let text = line.trim();
    if text.is_empty() {
        return Line::Empty;
    }
    if let Some(steer) = text.strip_prefix('>').map(str::trim_start)
        && !steer.is_empty()
        // A quoted block is a message.
        && !text.contains('\n')
    {
        return Line::Steer(steer);
    }
    if let Some(interrupt) = text.strip_prefix('!').map(str::trim_start)
        && !interrupt.is_empty()
        && !text.contains('\n')
    {
        return Line::Interrupt(interrupt);
    }
    let Some(command) = text.strip_prefix('/') else { return Line::Message(text) };
    if command.starts_with('/') {
        return Line::Message(command);
    }
    let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    // "/usr/bin/env is missing" is about a path.
    if name.contains('/') {
        return Line::Message(text);
    }
    match find(name) {
        Some(entry) if entry.takes(argument.trim()) => {
            Line::Command(entry.command, argument.trim())
        }
        Some(entry) => Line::Misused(entry.usage()),
        None => Line::Unknown(name, nearest(name, surface)),
    }
}

/// Finds a command by one of its names.
pub fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.names.contains(&name))
}

/// The commands that a place offers, in the order of the help.
pub fn offered(surface: Surface) -> impl Iterator<Item = &'static Entry> + Clone {
    TABLE.iter().filter(move |entry| entry.is_offered(surface))
}

fn nearest(name: &str, surface: Surface) -> Option<&'static str> {
    let shown = |entry: &'static Entry| entry.names.first().copied();
    if !name.is_empty()
        && let Some(begun) =
            offered(surface).filter_map(shown).find(|known| known.starts_with(name))
    {
        return Some(begun);
    }
    offered(surface)
        .flat_map(|entry| entry.names)
        .map(|known| (strsim::damerau_levenshtein(known, name), *known))
        .min()
        .filter(|(distance, known)| *distance <= 2 && *distance < known.len())
        .map(|(_, known)| known)
}

/// The commands that a place offers, a line each.
pub fn help(surface: Surface) -> Vec<String> {
    offered(surface).map(|entry| format!("  {:<20} {}", entry.usage(), entry.about)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_commands_or_both_with_a_delivery() {
        let check = |line: &str, expect: Line<'_>| {
            assert_eq!(parse(line, Surface::Chat), expect, "{line:?}");
        };
        check("  ", Line::Empty);
        check("hello", Line::Message("hello"));
        check(" /help ", Line::Command(SlashCommand::Help, ""));
        check("/title  my talk ", Line::Command(SlashCommand::Title, "my talk"));
        check("/attach 01JZ", Line::Command(SlashCommand::Switch, "01JZ"));
        check("/model\tm1", Line::Command(SlashCommand::Model, "m1"));
        check("> look here", Line::Steer("look here"));
        check("!stop it", Line::Interrupt("stop it"));
        check("!", Line::Message("!"));
        check("> quoted\nand text", Line::Message("> quoted\nand text"));
        check("//etc is a path", Line::Message("/etc is a path"));
        check("/usr/bin/env fails", Line::Message("/usr/bin/env fails"));
        check("/hlep", Line::Unknown("hlep", Some("help")));
        check("/ses", Line::Unknown("ses", Some("sessions")));
        check("/xyzzyx", Line::Unknown("xyzzyx", None));
        let misused = |usage: &str| Line::Misused(usage.to_owned());
        check("/stop the server", misused("/stop"));
        check("/new talk", misused("/new"));
        check("/switch", misused("/switch ID"));
        check("/steer ", misused("/steer TEXT"));
        check("/reasoning maybe", misused("/reasoning [on|off]"));
        check("/think off", Line::Command(SlashCommand::Reasoning, "off"));
        check("/trace all", misused("/trace [N]"));
        check("/trace 5", Line::Command(SlashCommand::Trace, "5"));
        check("/undo 3", Line::Command(SlashCommand::Undo, "3"));
        check("/undo a.rs", misused("/undo [N]"));
        check("/tools grep_files", Line::Command(SlashCommand::Tools, "grep_files"));
        check("/withdraw", Line::Command(SlashCommand::Withdraw, ""));
        check("/", Line::Unknown("", None));
    }

    #[test]
    fn every_name_is_used_once_and_is_in_the_help() {
        let mut names: Vec<&str> = TABLE.iter().flat_map(|entry| entry.names).copied().collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        for surface in [Surface::Chat, Surface::FullScreen] {
            let wide = |line: &&String| line.chars().count() >= 80;
            assert_eq!(help(surface).iter().find(wide), None, "a terminal has 80 columns");
            let text = help(surface).join("\n");
            for entry in TABLE {
                let name = format!("  /{}", entry.names[0]);
                assert_eq!(text.contains(&name), entry.is_offered(surface), "{:?}", entry.command);
            }
        }
    }

    #[test]
    fn what_only_one_place_has_is_offered_there_alone() {
        let only = |only| Entry {
            only,
            ..entry(SlashCommand::Clear, &["clear"], "", "clear the screen", Completes::Nothing)
        };
        let check = |entry: &Entry, surface, expect| {
            assert_eq!(entry.is_offered(surface), expect, "{entry:?} {surface:?}");
        };
        check(&only(None), Surface::Chat, true);
        check(&only(None), Surface::FullScreen, true);
        check(&only(Some(Surface::FullScreen)), Surface::Chat, false);
        check(&only(Some(Surface::FullScreen)), Surface::FullScreen, true);
    }
}

//! Slash commands: one table drives help, completion and dispatch of every client.

mod table;

pub use table::{Completes, Entry, SlashCommand, TABLE};

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
mod tests;

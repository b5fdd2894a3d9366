use super::table::entry;
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

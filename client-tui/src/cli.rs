//! The command line.

use std::ffi::OsString;

use agentd_shared::client_config::When;
use agentd_shared::{ConnectArgs, WhichSession, Wishes};
use clap::{Parser, ValueEnum};

const AFTER: &str = "\
Exit codes:
    0  you left
    1  something went wrong
    2  wrong usage, or not on a terminal
    3  the daemon cannot be reached or started
    4  there is no such session
  130  stopped by Ctrl-C or another signal (128 and its number)

Examples:
  agent-tui                  a new session in this directory
  agent-tui --continue       go on where you left off
  agent-tui --session last   the same, and an error when there is none
  agent-tui --linear         line by line, for screen readers and plain terminals

Environment:
  AGENTD_HOME      one folder for configuration, data, state and socket
  AGENTD_BIN       the program that is started as the daemon
  AGENTD_SERVER    same as --server
  AGENTD_TOKEN     token for a daemon on another machine
  AGENTCTL_CLIENT  same as --client
  NO_COLOR         no colour
  VISUAL, EDITOR   what a message is opened in";

/// Full-screen client of agentd: shows a session, and lets you act in it.
#[derive(Debug, Clone, Default, Parser)]
#[command(name = "agent-tui", version, after_help = AFTER, max_term_width = 100)]
pub struct Cli {
    /// How to find and reach the daemon.
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Which session.
    #[command(flatten)]
    pub which: WhichSession,
    /// What its turns are like.
    #[command(flatten)]
    pub wishes: Wishes,
    /// Colours: auto (the terminal's own), dark, light or mono (none)
    #[arg(long, value_name = "NAME", value_parser = crate::theme::parse)]
    pub theme: Option<&'static str>,
    /// When to use colour: auto (unless NO_COLOR is set), always or never
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub color: Option<When>,
    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,
    /// Line by line and without a full screen, as `agentctl chat` does it; for screen readers
    #[arg(long)]
    pub linear: bool,
    /// Do not ask for a model, also where none is configured or found
    #[arg(long)]
    pub no_setup: bool,
}

impl Cli {
    /// The same as arguments of `agentctl`.
    pub fn chat_arguments(&self) -> Vec<OsString> {
        let mut arguments = Arguments(vec!["chat".into()]);
        let ConnectArgs { home, socket, client, no_start, remote } = &self.connect;
        arguments.value("--home", home.as_ref());
        arguments.value("--socket", socket.as_ref());
        arguments.value("--client", client.as_ref());
        arguments.flag("--no-start", *no_start);
        arguments.value("--server", remote.server.as_ref());
        arguments.value("--context", remote.context.as_ref());
        arguments.value("--token-file", remote.token_file.as_ref());
        arguments.value("--ca", remote.ca.as_ref());
        arguments.value("--client-cert", remote.client_cert.as_ref());
        arguments.value("--client-key", remote.client_key.as_ref());
        arguments.value("--server-name", remote.server_name.as_ref());
        let color = self.color.map(|when| match when {
            When::Auto => "auto",
            When::Always => "always",
            When::Never => "never",
        });
        arguments.value("--color", color);
        let WhichSession { session, resume, new } = &self.which;
        arguments.value("--session", session.as_ref());
        arguments.flag("--continue", *resume);
        arguments.flag("--new", *new);
        let Wishes { model, effort, mode, work, add_dir } = &self.wishes;
        arguments.value("--model", model.as_ref());
        arguments.value("--effort", effort.as_ref().and_then(name_of).as_ref());
        arguments.value("--mode", mode.as_ref().and_then(name_of).as_ref());
        arguments.value("--work", work.as_ref().and_then(name_of).as_ref());
        for dir in add_dir {
            arguments.value("--add-dir", Some(dir));
        }
        arguments.flag("--no-setup", self.no_setup);
        arguments.0
    }
}

struct Arguments(Vec<OsString>);

impl Arguments {
    /// Joined with its name, so that a value may begin with a dash.
    fn value(&mut self, name: &str, value: Option<impl Into<OsString> + Clone>) {
        if let Some(value) = value {
            let mut argument = OsString::from(name);
            argument.push("=");
            argument.push(value.into());
            self.0.push(argument);
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.0.push(name.into());
        }
    }
}

fn when(text: &str) -> Result<When, &'static str> {
    match text {
        "auto" => Ok(When::Auto),
        "always" => Ok(When::Always),
        "never" => Ok(When::Never),
        _ => Err("it is auto, always or never"),
    }
}

fn name_of(value: &impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(arguments: &[&str]) -> Cli {
        Cli::try_parse_from([&["agent-tui"], arguments].concat()).unwrap()
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_was_chosen_reaches_the_linear_client() {
        let check = |arguments: &[&str], expect: &[&str]| {
            assert_eq!(parse(arguments).chat_arguments(), expect, "{arguments:?}");
        };
        check(&["--linear", "--theme", "mono", "--no-mouse"], &["chat"]);
        check(
            &["--linear", "--home", "/h", "--session", "last", "--no-start"],
            &["chat", "--home=/h", "--no-start", "--session=last"],
        );
        check(&["--color", "never", "--linear"], &["chat", "--color=never"]);
        check(&["--no-setup", "--linear", "--new"], &["chat", "--new", "--no-setup"]);
        check(
            &["--continue", "--effort", "high", "--mode", "auto-edit", "--add-dir=-d", "--model=m"],
            &[
                "chat",
                "--continue",
                "--model=m",
                "--effort=high",
                "--mode=auto-edit",
                "--add-dir=-d",
            ],
        );
        check(
            &["--server=https://h:1", "--token-file=-", "--new", "--work=docs"],
            &["chat", "--server=https://h:1", "--token-file=-", "--new", "--work=docs"],
        );
    }

    #[test]
    fn a_theme_that_does_not_exist_is_refused_with_those_that_do() {
        let refused = Cli::try_parse_from(["agent-tui", "--theme", "blue"]).unwrap_err();
        assert!(refused.to_string().contains("auto, dark, light, mono"), "{refused}");
        assert_eq!(refused.exit_code(), 2);
        let refused = Cli::try_parse_from(["agent-tui", "--color", "blue"]).unwrap_err();
        assert!(refused.to_string().contains("auto, always or never"), "{refused}");
    }
}

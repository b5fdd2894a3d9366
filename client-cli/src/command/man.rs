//! `agentctl man`: manual pages, made from what the command line says of itself.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Options of `man`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ManArgs {
    /// Directory to write a page of each command to; without it agentctl's own goes to stdout
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints a page, or writes all.
pub(super) fn run(args: &ManArgs, output: &Output) -> Result<Exit, Failure> {
    let unmade = |error: std::io::Error| {
        Failure::new(Exit::Failed, "cannot make a manual page").because(error)
    };
    let pages = pages().map_err(unmade)?;
    let Some(dir) = &args.dir else {
        let (_own, text) = pages.first().ok_or_else(|| unmade(std::io::Error::other("none")))?;
        output.raw(text)?;
        return Ok(Exit::Ok);
    };
    write(dir, &pages)?;
    let shown = dir.display();
    output.note(&format!("wrote {} pages; `man -l {shown}/agentctl.1` shows one", pages.len()));
    Ok(Exit::Ok)
}

fn write(dir: &Path, pages: &[(String, String)]) -> Result<(), Failure> {
    let unwritten = |path: &Path, error: std::io::Error| {
        Failure::new(Exit::Failed, format!("cannot write {}", path.display())).because(error)
    };
    std::fs::create_dir_all(dir).map_err(|error| unwritten(dir, error))?;
    for (name, text) in pages {
        let path = dir.join(name);
        std::fs::write(&path, text).map_err(|error| unwritten(&path, error))?;
    }
    Ok(())
}

/// The pages of all commands, by the names of their files; agentctl's own comes first.
fn pages() -> std::io::Result<Vec<(String, String)>> {
    let mut command = Cli::command().disable_help_subcommand(true);
    // Only then has each command its whole name, and the options that all have.
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    Ok(pages)
}

fn collect(command: &Command, pages: &mut Vec<(String, String)>) -> std::io::Result<()> {
    let man = Man::new(command.clone()).manual("agentctl manual");
    pages.push((man.get_filename(), page(command, &man)?));
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .try_for_each(|inner| collect(inner, pages))
}

fn page(command: &Command, man: &Man) -> std::io::Result<String> {
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut sections = Sections::of(&help);
    if let Some(about) = sections.take(ABOUT) {
        paragraphs(about).to_writer(&mut text)?;
    }
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(lines) = sections.take("Examples") {
        verbatim("EXAMPLES", lines).to_writer(&mut text)?;
    }
    exit_status().to_writer(&mut text)?;
    if let Some(lines) = sections.take("Environment") {
        verbatim("ENVIRONMENT", lines).to_writer(&mut text)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// What stands before the first heading.
const ABOUT: &str = "";
/// Headings of the help that become sections. Exit codes have one on every page.
const HEADINGS: [&str; 3] = ["Exit codes", "Examples", "Environment"];

/// The help of a command, by its headings.
struct Sections<'a>(Vec<(&'a str, Vec<&'a str>)>);

impl<'a> Sections<'a> {
    fn of(help: &'a str) -> Self {
        let mut sections = vec![(ABOUT, Vec::new())];
        for line in help.lines() {
            match line.strip_suffix(':').filter(|heading| HEADINGS.contains(heading)) {
                Some(heading) => sections.push((heading, Vec::new())),
                None => {
                    if let Some((_, lines)) = sections.last_mut() {
                        lines.push(line);
                    }
                }
            }
        }
        Self(sections)
    }

    fn take(&mut self, heading: &str) -> Option<Vec<&'a str>> {
        let at = self.0.iter().position(|(name, _)| *name == heading)?;
        let (_, lines) = self.0.swap_remove(at);
        lines.iter().any(|line| !line.trim().is_empty()).then_some(lines)
    }
}

/// Text in paragraphs; lines that are set in stay as they are.
fn paragraphs(lines: Vec<&str>) -> Roff {
    let mut roff = Roff::new();
    roff.control("PP", []);
    for line in lines {
        if line.trim().is_empty() {
            roff.control("PP", []);
        } else if line.starts_with(' ') {
            roff.control("br", []);
            roff.text([roman(line)]);
        } else {
            roff.text([roman(line)]);
        }
    }
    roff
}

fn verbatim(heading: &str, lines: Vec<&str>) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [heading]);
    roff.control("nf", []);
    for line in lines.into_iter().filter(|line| !line.is_empty()) {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

fn exit_status() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for exit in Exit::ALL {
        roff.control("TP", []);
        roff.text([bold(exit.code().to_string())]);
        roff.text([roman(exit.meaning())]);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(command: &Command) -> usize {
        1 + command.get_subcommands().map(count).sum::<usize>()
    }

    #[test]
    fn every_command_has_a_page_that_tells_its_exit_codes() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("man1");
        write(&dir, &pages().unwrap()).unwrap();
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), count(&Cli::command()));
        for file in std::fs::read_dir(&dir).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            for section in ["NAME", "SYNOPSIS", "OPTIONS", "\"EXIT STATUS\""] {
                let heading = format!(".SH {section}\n");
                assert!(text.contains(&heading), "{}: {section}", path.display());
            }
            assert!(text.contains("130"), "{}", path.display());
        }
        let nested = std::fs::read_to_string(dir.join("agentctl-sessions-list.1")).unwrap();
        assert!(nested.contains("agentctl sessions list"), "{nested}");
        assert!(nested.contains(".SH EXAMPLES\n.nf\n"), "{nested}");
    }

    #[test]
    fn a_help_is_parted_by_its_headings() {
        let mut sections = Sections::of("One.\n\nExamples:\n  a\nEnvironment:\n  B  c\n");
        assert_eq!(sections.take(ABOUT), Some(vec!["One.", ""]));
        assert_eq!(sections.take("Examples"), Some(vec!["  a"]));
        assert_eq!(sections.take("Exit codes"), None);
        assert_eq!(sections.take("Environment"), Some(vec!["  B  c"]));
    }
}

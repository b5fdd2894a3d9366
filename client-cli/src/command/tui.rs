//! `agentctl tui`: becomes the full-screen client.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use clap::Args;

use agentd_shared::{ConnectArgs, RemoteArgs};

use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::output::ColorChoice;

/// Options of `tui`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TuiArgs {
    /// Options of the full-screen client itself; `agent-tui --help` lists them
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Name of the program.
const PROGRAM: &str = "agent-tui";

/// Becomes the full-screen client. Returns only when it cannot be.
pub(super) fn run(args: &TuiArgs, global: &Global) -> Result<Exit, Failure> {
    let program = find(places())?;
    let error =
        std::process::Command::new(&program).args(passed_on(global)).args(&args.rest).exec();
    Err(Failure::new(Exit::Failed, format!("cannot run {}", program.display())).because(error))
}

/// Beside our own program, then along PATH.
fn places() -> Vec<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|program| program.parent().map(PathBuf::from));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    folders.filter(|folder| !folder.as_os_str().is_empty()).map(|dir| dir.join(PROGRAM)).collect()
}

fn find(places: Vec<PathBuf>) -> Result<PathBuf, Failure> {
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        Failure::new(Exit::NotFound, "the full-screen client is not installed")
            .because(format!("{PROGRAM} is neither beside agentctl nor in a folder of PATH"))
            .hint(format!("install {PROGRAM} beside agentctl; `agentctl chat` works without it"))
    })
}

/// The options that say which daemon is meant and who we are.
fn passed_on(global: &Global) -> Vec<OsString> {
    let Global { connect, color } = global;
    let ConnectArgs { home, socket, client, no_start, remote } = connect;
    let RemoteArgs { server, context, token_file, ca, client_cert, client_key, server_name } =
        remote;
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.clone().into_os_string());
    let text = |text: &Option<String>| text.as_ref().map(OsString::from);
    let color = match color {
        ColorChoice::Auto => None,
        ColorChoice::Always => Some(OsString::from("always")),
        ColorChoice::Never => Some(OsString::from("never")),
    };
    let options = [
        ("--home", path(home)),
        ("--socket", path(socket)),
        ("--client", text(client)),
        ("--color", color),
        ("--server", text(server)),
        ("--context", text(context)),
        ("--token-file", path(token_file)),
        ("--ca", path(ca)),
        ("--client-cert", path(client_cert)),
        ("--client-key", path(client_key)),
        ("--server-name", text(server_name)),
    ];
    let given = options.into_iter().filter_map(|(name, value)| Some([name.into(), value?]));
    let no_start = no_start.then(|| OsString::from("--no-start"));
    given.flatten().chain(no_start).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn what_says_which_daemon_is_meant_is_passed_on() {
        let check = |line: &str, expect: &str| {
            let mut global = Cli::try_parse_from(line.split(' ')).unwrap().global;
            // The tests themselves may run under AGENTD_HOME.
            if !line.contains("--home") {
                global.connect.home = None;
            }
            let passed: Vec<String> =
                passed_on(&global).into_iter().map(|word| word.into_string().unwrap()).collect();
            assert_eq!(passed.join(" "), expect);
        };
        check("agentctl tui", "");
        check(
            "agentctl --home /h --no-start --color never tui",
            "--home /h --color never --no-start",
        );
        check(
            "agentctl tui --server https://b:1 --token-file t --client desk",
            "--client desk --server https://b:1 --token-file t",
        );
    }

    #[test]
    fn the_first_place_that_has_it_counts_and_nowhere_is_told_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().join(PROGRAM);
        let nowhere = dir.path().join("nowhere").join(PROGRAM);
        let Err(Failure::Report(report)) = find(vec![here.clone(), nowhere.clone()]) else {
            panic!("it is nowhere")
        };
        assert_eq!(report.exit, Exit::NotFound);
        assert!(report.hint.contains("agentctl chat"), "{report:?}");
        std::fs::write(&here, "").unwrap();
        assert_eq!(find(vec![nowhere, here.clone()]), Ok(here));
    }
}

//! `agentd config`: shows or makes the configuration.

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::ExitCode;

use agentd::Environment;
use agentd::config::{self, ConfigSource, TEMPLATE};
use agentd_shared::{Paths, ensure_private_dir};
use clap::Subcommand;

use super::{complain, print};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Writes a file in which every key is explained; never over an existing one.
    Init,
    /// Shows the values in force and where they come from.
    Show,
    /// Names the file.
    Path,
}

pub(crate) fn run(command: &ConfigCommand, paths: &Paths) -> ExitCode {
    let file = paths.config_file();
    match command {
        ConfigCommand::Path => {
            print(&format!("{}\n", file.display()));
            ExitCode::SUCCESS
        }
        ConfigCommand::Init => {
            if let Err(error) = ensure_private_dir(&paths.config_dir) {
                complain(&error.to_string(), error.hint());
                return ExitCode::FAILURE;
            }
            let created = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&file)
                .and_then(|mut file| file.write_all(TEMPLATE.as_bytes()));
            match created {
                Ok(()) => {
                    print(&format!("wrote {}\n", file.display()));
                    ExitCode::SUCCESS
                }
                Err(error) => {
                    let hint = "an existing file is never overwritten: edit it, or move it away";
                    let problem = match error.kind() {
                        std::io::ErrorKind::AlreadyExists => "exists already".to_owned(),
                        _ => format!("cannot be written: {error}"),
                    };
                    complain(&format!("{} {problem}", file.display()), hint);
                    ExitCode::FAILURE
                }
            }
        }
        ConfigCommand::Show => show(paths),
    }
}

fn show(paths: &Paths) -> ExitCode {
    let loaded = match config::load(&paths.config_file(), &Environment::of_process()) {
        Ok(loaded) => loaded,
        Err(error) => {
            complain(&error.to_string(), "correct it; all keys and their defaults follow");
            print(TEMPLATE);
            return ExitCode::from(2);
        }
    };
    let mut text = match &loaded.file {
        Some(file) => format!("# {}\n", file.display()),
        None => format!("# {} does not exist: defaults\n", paths.config_file().display()),
    };
    let values = toml::to_string(&loaded.config).unwrap_or_default();
    let mut section = String::new();
    for line in values.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut section);
        }
        let key = line.split(" =").next().map(|key| format!("{section}.{key}"));
        let source = match key.and_then(|key| loaded.sources.get(&key)) {
            None => String::new(),
            Some(ConfigSource::File) => "  # file".to_owned(),
            Some(ConfigSource::Environment(name)) => format!("  # {name}"),
        };
        // Writing to a String cannot fail.
        let _infallible = writeln!(text, "{line}{source}");
    }
    print(&text);
    ExitCode::SUCCESS
}

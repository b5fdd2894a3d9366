//! The files of a service: what belongs into them, and whether one that is there is as it was
//! written.
//!
//! The first line holds a checksum of the rest. So a file of an older version is told from one that
//! somebody has changed, and only the former is replaced or removed.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::Scope;

/// The beginning of the first line.
const SEAL: &str =
    "# Written by `agentctl service install`; once changed it is left alone. Checksum: ";
/// What the units in `systemd/` call the program.
const PROGRAM: &str = "ExecStart=/usr/bin/agentd\n";

const SYSTEM: [(&str, &str); 4] = [
    (
        "/etc/systemd/system/agentd.service",
        include_str!("../../../../systemd/system/agentd.service"),
    ),
    ("/etc/systemd/system/agentd.socket", include_str!("../../../../systemd/system/agentd.socket")),
    ("/etc/sysusers.d/agentd.conf", include_str!("../../../../systemd/sysusers.d/agentd.conf")),
    ("/etc/tmpfiles.d/agentd.conf", include_str!("../../../../systemd/tmpfiles.d/agentd.conf")),
];

const USER: [(&str, &str); 2] = [
    ("systemd/user/agentd.service", include_str!("../../../../systemd/user/agentd.service")),
    ("systemd/user/agentd.socket", include_str!("../../../../systemd/user/agentd.socket")),
];

/// A file of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnitFile {
    /// Where it belongs.
    pub(super) path: PathBuf,
    /// What belongs into it.
    pub(super) text: String,
}

/// What is at its place now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Missing,
    /// Exactly this text.
    Same,
    /// What another version has written.
    Older,
    /// Something that somebody has written or changed.
    Changed,
}

/// The files of a service. `config_dir` is the folder above a user's units, `root` is put before all
/// paths, `agentd` is the program's absolute path.
pub(super) fn all(
    scope: Scope,
    config_dir: &Path,
    root: Option<&Path>,
    agentd: &Path,
) -> Result<Vec<UnitFile>, String> {
    let program = format!("ExecStart={}\n", escaped(agentd)?);
    let place = |path: PathBuf| match root {
        Some(root) => root.join(path.strip_prefix("/").unwrap_or(&path)),
        None => path,
    };
    let unit = |path: PathBuf, text: &str| UnitFile {
        path: place(path),
        text: sealed(&text.replace(PROGRAM, &program)),
    };
    Ok(match scope {
        Scope::System => SYSTEM.iter().map(|(path, text)| unit(path.into(), text)).collect(),
        Scope::User => USER.iter().map(|(path, text)| unit(config_dir.join(path), text)).collect(),
    })
}

/// A path as the first word of `ExecStart=`: quoted, and without meaning for specifiers.
fn escaped(program: &Path) -> Result<String, String> {
    let Some(path) = program.to_str().filter(|path| !path.chars().any(char::is_control)) else {
        return Err(format!("{} cannot be written into a unit", program.display()));
    };
    if !program.is_absolute() {
        return Err(format!("{} is not an absolute path", program.display()));
    }
    let escaped = path.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    let plain = escaped == path && !path.contains([' ', '\'', '$', ';']);
    Ok(if plain { escaped } else { format!("\"{}\"", escaped.replace('$', "$$")) })
}

fn sealed(text: &str) -> String {
    format!("{SEAL}{:08x}\n{text}", crc32fast::hash(text.as_bytes()))
}

/// True when this is a text as [`sealed`] made it.
fn is_sealed(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(_seal, rest)| sealed(rest) == text)
}

impl UnitFile {
    /// Looks at what is there.
    pub(super) fn look(&self) -> io::Result<Found> {
        match std::fs::read(&self.path) {
            Ok(bytes) if bytes == self.text.as_bytes() => Ok(Found::Same),
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) if is_sealed(&text) => Ok(Found::Older),
                _ => Ok(Found::Changed),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Missing),
            Err(error) => Err(error),
        }
    }

    /// Writes it whole or not at all.
    pub(super) fn write(&self) -> io::Result<()> {
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(dir)?;
        let new = self.path.with_extension(format!("new.{}", std::process::id()));
        let written = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(&new)
            .and_then(|mut file| {
                file.write_all(self.text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| std::fs::rename(&new, &self.path));
        if written.is_err() {
            // What is wrong with the write is told; the rest of it is of no use.
            drop(std::fs::remove_file(&new));
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(root: &Path) -> UnitFile {
        let files = all(Scope::System, Path::new("/x"), Some(root), Path::new("/opt/agentd"));
        files.unwrap().swap_remove(0)
    }

    #[test]
    fn a_file_is_known_again_until_somebody_changes_it() {
        let root = tempfile::tempdir().unwrap();
        let file = unit(root.path());
        assert!(file.path.ends_with("etc/systemd/system/agentd.service"));
        assert_eq!(file.look().unwrap(), Found::Missing);
        file.write().unwrap();
        assert_eq!(file.look().unwrap(), Found::Same);
        let older = UnitFile { text: sealed("[Unit]\nDescription=Before\n"), ..file.clone() };
        older.write().unwrap();
        assert_eq!(file.look().unwrap(), Found::Older);
        for changed in
            ["", "[Unit]\n", &file.text.replace("30s", "31s"), &format!("{}\n", file.text)]
        {
            std::fs::write(&file.path, changed).unwrap();
            assert_eq!(file.look().unwrap(), Found::Changed, "{changed}");
        }
    }

    #[test]
    fn the_real_program_is_started_whatever_its_path() {
        let check = |path: &str, expect: &str| {
            let files = all(Scope::User, Path::new("/home/ann/.config"), None, Path::new(path));
            let service = files.unwrap().swap_remove(0);
            assert_eq!(service.path, Path::new("/home/ann/.config/systemd/user/agentd.service"));
            let line = service.text.lines().find(|line| line.starts_with("ExecStart="));
            assert_eq!(line, Some(expect));
        };
        check("/opt/agentd", "ExecStart=/opt/agentd");
        check("/opt/my tools/agentd", "ExecStart=\"/opt/my tools/agentd\"");
        check("/opt/100%/$x\"y", "ExecStart=\"/opt/100%%/$$x\\\"y\"");
        for wrong in ["agentd", "/a\nExecStartPre=/bin/evil"] {
            assert!(
                all(Scope::User, Path::new("/c"), None, Path::new(wrong)).is_err(),
                "{wrong:?}"
            );
        }
    }
}

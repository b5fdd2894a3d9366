//! How a program is started in a terminal.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use tokio::sync::watch;

use super::emulator::Emulator;
use super::{Pty, line_modes};

/// What the shell of [`PtyBuilder::in_shell`] says when it waits for a command.
pub(super) const SHELL_PROMPT: &str = "shell> ";

/// What the program's standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stdin {
    Terminal,
    Null,
    Closed,
}

/// A program to be started in a terminal.
#[derive(Debug)]
pub struct PtyBuilder {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(String, OsString)>,
    dir: Option<PathBuf>,
    size: PtySize,
    stdin: Stdin,
    in_shell: bool,
}

impl PtyBuilder {
    pub(super) fn new(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            args: Vec::new(),
            env: vec![
                ("PATH".to_owned(), "/usr/bin:/bin".into()),
                ("TERM".to_owned(), "xterm-256color".into()),
            ],
            dir: None,
            size: PtySize { rows: 30, cols: 100, ..PtySize::default() },
            stdin: Stdin::Terminal,
            in_shell: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds an environment variable. `PATH` and `TERM` are there at first.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Starts the program in this folder.
    #[must_use]
    pub fn current_dir(mut self, dir: &Path) -> Self {
        self.dir = Some(dir.to_owned());
        self
    }

    /// Sets the terminal's size; at first 100 columns and 30 rows.
    #[must_use]
    pub fn size(mut self, cols: u16, rows: u16) -> Self {
        self.size = PtySize { rows, cols, ..self.size };
        self
    }

    /// Gives the program `/dev/null` to read; it still writes to the terminal.
    #[must_use]
    pub fn stdin_null(mut self) -> Self {
        self.stdin = Stdin::Null;
        self
    }

    /// Gives the program nothing to read, not even a descriptor; it still writes to the terminal.
    #[must_use]
    pub fn stdin_closed(mut self) -> Self {
        self.stdin = Stdin::Closed;
        self
    }

    /// Starts the program from an interactive shell with job control, so that Ctrl-Z stops it and `fg`
    /// goes on with it. The terminal closes when the shell is told `exit`.
    #[must_use]
    pub fn in_shell(mut self) -> Self {
        self.in_shell = true;
        self
    }

    /// Starts the program.
    pub fn spawn(self) -> Pty {
        let size = self.size;
        let pair = native_pty_system().openpty(size).expect("open a terminal");
        let modes_at_start = line_modes(&*pair.master);
        let child = pair.slave.spawn_command(self.command()).expect("start the program");
        let pid = child.process_id().expect("the program has started");
        // The terminal ends with the program only when nobody else holds it.
        drop(pair.slave);
        let reader = pair.master.try_clone_reader().expect("read from the terminal");
        let writer = pair.master.take_writer().expect("write to the terminal");
        let emulator = Emulator::start(size.cols, size.rows, reader, writer);
        let killer = child.clone_killer();
        let (exit_tx, exit) = watch::channel(None);
        std::thread::spawn(move || {
            let mut child = child;
            exit_tx.send_replace(Some(child.wait().expect("wait for the program")));
        });
        let pty = Pty { emulator, master: Some(pair.master), killer, exit, pid, modes_at_start };
        if self.in_shell {
            // Typed ahead of its prompt; it finds the program and its arguments in its own.
            pty.send("\"$@\"\r");
        }
        pty
    }

    fn command(&self) -> CommandBuilder {
        let shell = |options: &[&str]| {
            let mut command = CommandBuilder::new("/bin/sh");
            command.args(options);
            command.arg(&self.program);
            command
        };
        let mut command = match (self.in_shell, self.stdin) {
            (true, Stdin::Terminal) => shell(&["-i", "-s"]),
            (true, Stdin::Null | Stdin::Closed) => {
                panic!("the shell reads its commands from the terminal")
            }
            (false, Stdin::Terminal) => CommandBuilder::new(&self.program),
            (false, Stdin::Null) => shell(&["-c", "exec \"$@\" </dev/null", "sh"]),
            (false, Stdin::Closed) => shell(&["-c", "exec \"$@\" <&-", "sh"]),
        };
        command.args(&self.args);
        command.env_clear();
        if self.in_shell {
            command.env("PS1", SHELL_PROMPT);
        }
        for (name, value) in &self.env {
            command.env(name, value);
        }
        if let Some(dir) = &self.dir {
            command.cwd(dir);
        }
        command
    }
}

//! Scripts that a command hands to a shell: as one of its words, as its input, or in a file.
//!
//! Where a word is not known, or stands for a file, nobody can tell what will run: that is said, and is
//! for who decides. What programs of other kinds do by themselves (`make`, `python script.py`) is not
//! looked for here: a rule about commands is one about what is called.

use super::programs::base_name;

/// What of a command goes to shells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Handed {
    /// What is run as a script.
    pub(super) scripts: Vec<String>,
    /// Commands that are run with words which only the input tells.
    pub(super) commands: Vec<Vec<Option<String>>>,
    /// What is run as a script cannot be told.
    pub(super) is_unknown: bool,
    /// A shell takes its input for a script.
    pub(super) reads_input: bool,
}

const SHELLS: [&str; 9] = ["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"];

/// Long options of shells, which some take with one dash too.
const LONG_OPTIONS: [&str; 11] = [
    "debugger",
    "init-file",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "rcfile",
    "restricted",
    "verbose",
];

/// Programs that run the one that their arguments name, with the letters of the options whose value is
/// the next word, and how many words come before that program.
const AROUND: &[(&str, &str, usize)] = &[
    ("builtin", "", 0),
    ("busybox", "", 0),
    ("chroot", "", 1),
    ("chrt", "DPT", 1),
    ("command", "", 0),
    ("coproc", "", 0),
    ("doas", "Cu", 0),
    ("env", "CSu", 0),
    ("exec", "a", 0),
    ("flock", "Ew", 1),
    ("ionice", "cnPpu", 0),
    ("ltrace", "aeFlnopsSuwx", 0),
    ("nice", "n", 0),
    ("nohup", "", 0),
    ("setsid", "", 0),
    ("stdbuf", "eio", 0),
    ("strace", "aEeIoOPpSsuUX", 0),
    ("sudo", "CDghpRrTtUu", 0),
    ("taskset", "", 1),
    ("time", "fo", 0),
    ("timeout", "ks", 1),
    ("xargs", "adEILnPs", 0),
];

/// Programs that pass words on to a shell, here or elsewhere, in ways of their own.
const CARRIERS: [&str; 14] = [
    "at", "batch", "docker", "expect", "kubectl", "npx", "nsenter", "parallel", "podman",
    "runuser", "script", "ssh", "su", "watch",
];

/// Those of them whose words are a script, or whose input is.
const SCRIPT_CARRIERS: [&str; 9] =
    ["at", "batch", "expect", "parallel", "runuser", "script", "ssh", "su", "watch"];

/// Variables that name a script which a shell runs before its own.
const START_FILES: [&str; 2] = ["BASH_ENV", "ENV"];

/// Most words that the input of `xargs` is taken for.
const MAX_ADDED: usize = 4;

/// Most programs around each other.
const MAX_DEPTH: usize = 8;

/// Most of each kind that are found in one command. What has more cannot be told.
const MAX_FOUND: usize = 64;

/// Looks at the words of a command.
pub(super) fn handed(words: &[Option<String>]) -> Handed {
    let mut handed = Handed::default();
    handed.command(words, 0);
    handed
}

/// True when the variable names a script that shells run.
pub(super) fn is_start_file(variable: &str) -> bool {
    START_FILES.contains(&variable)
}

impl Handed {
    fn command(&mut self, words: &[Option<String>], depth: usize) {
        // A name that is made up is told where the command is looked at.
        let Some((Some(program), arguments)) = words.split_first() else { return };
        let name = base_name(program);
        if depth > MAX_DEPTH || is_script_file(program) {
            self.is_unknown = true;
        } else if SHELLS.contains(&name) {
            self.shell(arguments);
        } else if let Some((_, takes_value, before)) = AROUND.iter().find(|(of, ..)| *of == name) {
            self.around(name, arguments, (takes_value, *before), depth);
        } else if name == "find" {
            self.find(arguments, depth);
        } else if CARRIERS.contains(&name) {
            self.carrier(name, arguments);
        } else {
            match name {
                "." | "source" => self.source(arguments),
                "eval" => self.eval(arguments),
                "trap" => self.trap(arguments),
                "alias" => self.alias(arguments),
                // They call what a word names.
                "hash" | "mapfile" | "readarray" => {
                    self.is_unknown |= arguments
                        .iter()
                        .flatten()
                        .any(|word| word.starts_with('-') && word.contains(['p', 'C']));
                }
                _ => {}
            }
        }
    }

    fn script(&mut self, script: String) {
        if self.scripts.len() < MAX_FOUND {
            self.scripts.push(script);
        } else {
            self.is_unknown = true;
        }
    }

    fn further(&mut self, command: Vec<Option<String>>) {
        if self.commands.len() < MAX_FOUND {
            self.commands.push(command);
        } else {
            self.is_unknown = true;
        }
    }

    fn shell(&mut self, arguments: &[Option<String>]) {
        let (mut is_command, mut is_input) = (false, false);
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let Some(word) = word else {
                self.is_unknown = true;
                return;
            };
            let name = word.trim_start_matches('-');
            let operand = match word.as_str() {
                "--help" | "--version" => return,
                "-" | "--" => rest.next().map(Option::as_deref),
                long if long.starts_with('-') && LONG_OPTIONS.contains(&name) => {
                    if matches!(name, "rcfile" | "init-file") {
                        self.is_unknown = true;
                        return;
                    }
                    continue;
                }
                long if long.starts_with("--") => continue,
                short if short.starts_with(['-', '+']) => {
                    is_command |= short.starts_with('-') && short.contains('c');
                    is_input |= short.starts_with('-') && short.contains('s');
                    if short.ends_with(['o', 'O']) {
                        rest.next();
                    }
                    continue;
                }
                operand => Some(Some(operand)),
            };
            match operand {
                None => break,
                Some(None) => self.is_unknown = true,
                Some(Some(script)) if is_command => self.script(script.to_owned()),
                Some(Some(_)) if is_input => self.reads_input = true,
                Some(Some(file)) => self.file(file),
            }
            return;
        }
        self.reads_input |= !is_command;
    }

    /// The program that another one is run around.
    fn around(
        &mut self,
        name: &str,
        arguments: &[Option<String>],
        (takes_value, before): (&str, usize),
        depth: usize,
    ) {
        let is_xargs = name == "xargs";
        let (mut at, mut left, mut is_unsure) = (0, before, false);
        let mut replaced: Option<&str> = None;
        while let Some(Some(word)) = arguments.get(at) {
            let value = || arguments.get(at + 1).and_then(Option::as_deref);
            if let Some(long) = word.strip_prefix("--") {
                if is_xargs && long.starts_with("replace") {
                    replaced = Some(long.split_once('=').map_or("{}", |(_, with)| with));
                }
                self.is_unknown |= name == "env" && long.starts_with("split");
                at += 1;
                if long.is_empty() {
                    break;
                }
                // Its value may be the next word.
                is_unsure |= !long.contains('=');
            } else if let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) {
                let asks = matches!(name, "command") && short.contains(['v', 'V']);
                if asks {
                    return;
                }
                self.is_unknown |= name == "env" && short.contains('S');
                // A shell, as another user.
                self.reads_input |= matches!(name, "sudo" | "doas") && short.contains(['i', 's']);
                if is_xargs && short.starts_with(['I', 'i']) {
                    let attached = short.get(1..).filter(|with| !with.is_empty());
                    let is_i = short.starts_with('i');
                    replaced = attached.or(if is_i { Some("{}") } else { value() });
                }
                let has_value = short.ends_with(|letter| takes_value.contains(letter));
                at += if has_value { 2 } else { 1 };
            } else if let Some((variable, _)) = word.split_once('=')
                && matches!(name, "env" | "sudo" | "doas")
            {
                self.is_unknown |= is_start_file(variable);
                at += 1;
            } else if left > 0 {
                left -= 1;
                at += 1;
            } else {
                break;
            }
        }
        let inner = arguments.get(at..).unwrap_or_default();
        if name == "coproc" && inner.first().is_some_and(Option::is_some) {
            // Its input is a pipe.
            let mut within = Self::default();
            within.command(inner, depth + 1);
            self.is_unknown |= within.reads_input;
        }
        let further = if is_unsure { inner.get(1..) } else { None };
        for inner in std::iter::once(inner).chain(further) {
            if is_xargs {
                self.with_input(inner, replaced, depth);
            } else {
                self.named(inner, depth);
            }
        }
    }

    /// A program that the words name, if they do.
    fn named(&mut self, words: &[Option<String>], depth: usize) {
        match words.first() {
            Some(None) => self.is_unknown = true,
            Some(Some(_)) => self.command(words, depth + 1),
            None => {}
        }
    }

    /// A program that gets further words from its input.
    fn with_input(&mut self, words: &[Option<String>], replaced: Option<&str>, depth: usize) {
        let Some(replaced) = replaced else {
            if words.is_empty() {
                return;
            }
            let mut longer = words.to_vec();
            longer.push(None);
            self.named(&longer, depth);
            for _ in 0..MAX_ADDED {
                self.further(longer.clone());
                longer.push(None);
            }
            return;
        };
        let words: Vec<Option<String>> = words
            .iter()
            .map(|word| word.clone().filter(|word| replaced.is_empty() || !word.contains(replaced)))
            .collect();
        self.named(&words, depth);
        self.further(words);
    }

    fn find(&mut self, arguments: &[Option<String>], depth: usize) {
        let is = |word: &Option<String>, names: &[&str]| {
            word.as_deref().is_some_and(|word| names.contains(&word))
        };
        for (at, word) in arguments.iter().enumerate() {
            if !is(word, &["-exec", "-execdir", "-ok", "-okdir"]) {
                continue;
            }
            let inner = arguments.get(at + 1..).unwrap_or_default();
            let end = inner.iter().position(|word| is(word, &[";", "+"]));
            let inner = inner.get(..end.unwrap_or(inner.len())).unwrap_or_default();
            self.with_input(inner, Some("{}"), depth);
        }
    }

    fn carrier(&mut self, name: &str, arguments: &[Option<String>]) {
        let is_script = SCRIPT_CARRIERS.contains(&name);
        self.reads_input |= is_script;
        self.is_unknown |=
            name == "parallel" || (is_script && arguments.iter().any(Option::is_none));
        for (at, word) in arguments.iter().enumerate() {
            if word.as_deref().is_some_and(|word| SHELLS.contains(&base_name(word))) {
                self.shell(arguments.get(at + 1..).unwrap_or_default());
            }
        }
    }

    fn source(&mut self, arguments: &[Option<String>]) {
        let mut operands = arguments.iter().skip_while(|word| word.as_deref() == Some("--"));
        match operands.next() {
            Some(Some(file)) => self.file(file),
            Some(None) => self.is_unknown = true,
            None => {}
        }
    }

    fn file(&mut self, file: &str) {
        match file {
            "/dev/null" => {}
            "/dev/stdin" => self.reads_input = true,
            _ => self.is_unknown = true,
        }
    }

    fn eval(&mut self, arguments: &[Option<String>]) {
        match arguments.iter().map(Option::as_deref).collect::<Option<Vec<&str>>>() {
            Some(words) if words.is_empty() => {}
            Some(words) => self.script(words.join(" ")),
            None => self.is_unknown = true,
        }
    }

    fn alias(&mut self, arguments: &[Option<String>]) {
        for word in arguments {
            match word.as_deref().map(|word| word.split_once('=')) {
                Some(Some((_, script))) => self.script(script.to_owned()),
                Some(None) => {}
                None => self.is_unknown = true,
            }
        }
    }

    fn trap(&mut self, arguments: &[Option<String>]) {
        let mut operands = arguments.iter().skip_while(|word| word.as_deref() == Some("--"));
        match operands.next() {
            Some(Some(script)) if !script.starts_with('-') => self.script(script.clone()),
            Some(Some(_)) | None => {}
            Some(None) => self.is_unknown = true,
        }
    }
}

/// True for a program that is a shell's script by its name.
fn is_script_file(program: &str) -> bool {
    let Some((_, name)) = program.rsplit_once('/') else { return false };
    name.rsplit_once('.').is_some_and(|(_, extension)| SHELLS.contains(&extension))
}

#[cfg(test)]
mod tests;

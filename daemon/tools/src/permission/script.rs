//! What a shell script will run, as far as that can be told without running it.
//!
//! Two questions, answered on the safe side of each. To allow something without asking, every word
//! must be plain text that the shell leaves alone: the grammar is a short list, and what is not on it
//! makes the script one that is not understood. To deny something, every command that can be found
//! counts, in loops, functions and substitutions too, and a word that is not known may be any word.

use tree_sitter::{Node, Parser};

use super::fed::fed;
use super::handed::{Handed, handed, is_start_file};

/// Longest script that is looked at, in bytes. A longer one is not understood.
const MAX_SCRIPT: usize = 16 * 1024;

/// Commands that are looked at. A script with more is not understood.
const MAX_COMMANDS: usize = 200;

/// Scripts in a script that are looked at, and inputs of shells. What has more is not searched.
const MAX_INNER: usize = 50;

/// What a script will run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// Every command in it. A word is none when the shell makes it up while it runs.
    pub(crate) commands: Vec<Vec<Option<String>>>,
    /// Those that shells and others run which these start, with what they are given.
    inner: Vec<Vec<Option<String>>>,
    /// These are all commands that it can run, every word is known, and it writes to no file.
    pub(crate) is_understood: bool,
    /// Commands that follow each other run only after those before have succeeded, and the last one's
    /// success is its own: they are joined by `&&` alone.
    pub(crate) is_chain: bool,
    /// These are all commands that are named in it, and no shell is given something that is not known;
    /// others can only come from what programs do by themselves.
    pub(crate) is_searched: bool,
}

impl Script {
    /// A program that is started without a shell.
    pub(crate) fn of_argv(argv: &[String]) -> Self {
        let script =
            Self { is_understood: true, is_chain: true, is_searched: true, ..Self::default() };
        let mut search = Search { script, left: MAX_INNER };
        // It has no input, or what is typed, which is looked at for itself.
        search.add(argv.iter().cloned().map(Some).collect());
        search.script
    }

    /// The commands, and those that shells in it run.
    pub(crate) fn all_commands(&self) -> impl Iterator<Item = &Vec<Option<String>>> {
        self.commands.iter().chain(&self.inner)
    }

    /// What is typed into a terminal. It may follow what was typed before, and who reads it need not be
    /// a shell: the commands in it count where something forbids them, and it is never understood.
    pub(crate) fn typed(argv: &[String], text: &str) -> Self {
        let mut typed = Self::parse(text);
        typed.commands.push(argv.iter().cloned().map(Some).collect());
        Self { is_understood: false, is_searched: false, ..typed }
    }

    /// Looks at a script.
    pub(crate) fn parse(script: &str) -> Self {
        Search::of(script, MAX_INNER).script
    }
}

/// Looking at a script.
struct Search {
    script: Script,
    /// Scripts and inputs that may still be looked at.
    left: usize,
}

impl Search {
    fn of(script: &str, left: usize) -> Self {
        let nothing = Self { script: Script::default(), left };
        if script.len() > MAX_SCRIPT || script.contains(divides_opinions) {
            return nothing;
        }
        let mut parser = Parser::new();
        let tree = parser
            .set_language(&tree_sitter_bash::LANGUAGE.into())
            .ok()
            .and_then(|()| parser.parse(script, None));
        let Some(tree) = tree else { return nothing };
        let is_whole = !tree.root_node().has_error();
        let found = Script {
            commands: Vec::new(),
            inner: Vec::new(),
            is_understood: is_whole,
            // Lines follow each other whatever came of those before.
            is_chain: is_whole && !script.trim().contains('\n'),
            is_searched: is_whole,
        };
        let mut search = Self { script: found, left };
        search.walk(tree.root_node(), script);
        search
    }

    /// Visits every node without recursion: scripts nest as deep as they like.
    fn walk(&mut self, root: Node<'_>, script: &str) {
        let mut cursor = root.walk();
        loop {
            self.visit(cursor.node(), script);
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn visit(&mut self, node: Node<'_>, script: &str) {
        match node.kind() {
            // Words are looked at with their command; the others have no meaning by themselves.
            "program"
            | "list"
            | "pipeline"
            | "redirected_statement"
            | "comment"
            | "command_name"
            | "word"
            | "number"
            | "raw_string"
            | "string"
            | "string_content"
            | "concatenation"
            | "file_descriptor" => {}
            "command" => self.command(node, script),
            "file_redirect" => self.script.is_understood &= redirects_nothing(node, script),
            kind => {
                self.script.is_searched &= !changes_what_runs(node, script);
                self.script.is_chain &=
                    !node.is_named() && !matches!(kind, "||" | ";" | "|" | "|&" | "&" | "!");
                self.script.is_understood &= !node.is_named()
                    && matches!(
                        kind,
                        "&&" | "||"
                            | ";"
                            | "|"
                            | "\n"
                            | "\""
                            | ">"
                            | ">>"
                            | ">&"
                            | "<"
                            | "<&"
                            | "|&"
                            | "&>"
                    );
            }
        }
    }

    fn command(&mut self, node: Node<'_>, script: &str) {
        let mut words = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "command_name" => words.push(child.child(0).and_then(|name| literal(name, script))),
                "file_redirect" => {}
                "variable_assignment" | "herestring_redirect" | "heredoc_redirect" => {
                    self.script.is_understood = false;
                }
                _ => words.push(literal(child, script)),
            }
        }
        // What `exec` alone is given is the input of all that follows.
        let is_exec = matches!(words.as_slice(), [Some(exec)] if exec == "exec");
        if self.add(words) || is_exec {
            self.feed(node, script, is_exec);
        }
    }

    /// Adds a command, and what it hands to shells. True when one of them takes its input for a script.
    fn add(&mut self, words: Vec<Option<String>>) -> bool {
        if self.script.commands.len() >= MAX_COMMANDS {
            self.script.is_understood = false;
            self.script.is_searched = false;
            return false;
        }
        self.script.is_understood &= words.iter().all(Option::is_some);
        self.script.is_searched &= words.first().is_none_or(Option::is_some);
        let Handed { scripts, commands, is_unknown, reads_input } = handed(&words);
        self.script.commands.push(words);
        self.script.is_searched &= !is_unknown;
        for text in scripts {
            self.inside(&text);
        }
        for command in commands {
            self.add_inner(command);
        }
        reads_input
    }

    /// Looks at what a shell takes for its script.
    fn feed(&mut self, command: Node<'_>, script: &str, is_exec: bool) {
        if !self.may_look() {
            return;
        }
        let fed = fed(command, script);
        self.script.is_searched &= !fed.is_unknown && (!is_exec || fed.is_nothing());
        for text in fed.texts {
            self.inside(&text);
        }
    }

    /// Looks at a script in this one.
    fn inside(&mut self, text: &str) {
        if !self.may_look() {
            return;
        }
        let Self { script, left } = Self::of(text, self.left);
        self.left = left;
        self.script.is_searched &= script.is_searched;
        for command in script.commands.into_iter().chain(script.inner) {
            self.add_inner(command);
        }
    }

    fn add_inner(&mut self, command: Vec<Option<String>>) {
        if self.script.inner.len() < MAX_COMMANDS {
            self.script.inner.push(command);
        } else {
            self.script.is_searched = false;
        }
    }

    /// Takes one of the looks that are left.
    fn may_look(&mut self) -> bool {
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        self.script.is_searched &= may;
        may
    }
}

/// True for what makes shells run a script of its own, and for words of a command that stand where
/// the parser does not count them to it.
fn changes_what_runs(node: Node<'_>, script: &str) -> bool {
    match node.kind() {
        "variable_assignment" => node
            .child_by_field_name("name")
            .and_then(|name| script.get(name.byte_range()))
            .is_none_or(is_start_file),
        "heredoc_redirect" => node.child_by_field_name("argument").is_some(),
        _ => false,
    }
}

/// True for characters that a parser may take for space between words and a shell does not.
fn divides_opinions(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || (c.is_whitespace() && !c.is_ascii())
}

/// The text that the shell will pass on, when that is certain.
pub(super) fn literal(node: Node<'_>, script: &str) -> Option<String> {
    let text = node.utf8_text(script.as_bytes()).ok()?;
    match node.kind() {
        "word" | "number" => is_plain(text).then(|| text.to_owned()),
        "raw_string" => {
            let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
            (!inner.contains('\'')).then(|| inner.to_owned())
        }
        "string" => {
            let inner = text.strip_prefix('"')?.strip_suffix('"')?;
            (!inner.contains(['"', '$', '`', '\\', '!'])).then(|| inner.to_owned())
        }
        "concatenation" => {
            let mut cursor = node.walk();
            node.children(&mut cursor).map(|part| literal(part, script)).collect()
        }
        _ => None,
    }
}

/// True when the shell passes an unquoted word on as it is.
fn is_plain(word: &str) -> bool {
    !word.starts_with('~')
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:=@%+,^~".contains(c) || (!c.is_ascii() && c.is_alphanumeric()))
        // `a=~` and `a:~` are expanded in places.
        && !word.contains("=~")
        && !word.contains(":~")
}

/// True for redirections between descriptors and to nowhere.
fn redirects_nothing(node: Node<'_>, script: &str) -> bool {
    let Ok(text) = node.utf8_text(script.as_bytes()) else { return false };
    let text: String = text.split_whitespace().collect();
    let text = text.trim_start_matches(|c: char| c.is_ascii_digit());
    matches!(text, ">/dev/null" | ">>/dev/null" | "&>/dev/null" | "</dev/null" | ">&1" | ">&2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_searched_unless_a_name_is_made_up_or_it_cannot_be_read() {
        for script in ["ls; rm $X", "for i in *; do rm $i; done", ""] {
            assert!(Script::parse(script).is_searched, "{script}");
        }
        for script in ["$X y", "if", "r\\m x", "a\rb"] {
            assert!(!Script::parse(script).is_searched, "{script}");
        }
    }

    fn shown(script: &Script) -> Vec<String> {
        let words = |command: &Vec<Option<String>>| {
            let words: Vec<_> = command.iter().map(|w| w.as_deref().unwrap_or("?")).collect();
            words.join("|")
        };
        script.commands.iter().map(words).collect()
    }

    fn check(script: &str, understood: bool, commands: &[&str]) {
        let parsed = Script::parse(script);
        assert_eq!(shown(&parsed), commands, "{script:?}");
        assert_eq!(parsed.is_understood, understood, "{script:?}: {parsed:?}");
    }

    #[test]
    fn plain_commands_are_understood() {
        check("ls -la", true, &["ls|-la"]);
        check(
            "ls -la | head -5 && git log --oneline 2>&1",
            true,
            &["ls|-la", "head|-5", "git|log|--oneline"],
        );
        check(
            "grep -n 'a b' \"c d\" src/x.rs 2>/dev/null; wc",
            true,
            &["grep|-n|a b|c d|src/x.rs", "wc"],
        );
        check("git show HEAD^ HEAD~2\nls # all", true, &["git|show|HEAD^|HEAD~2", "ls"]);
        check("echo a\"b\"'c'", true, &["echo|abc"]);
    }

    #[test]
    fn what_the_shell_makes_up_is_not_understood() {
        check("echo $HOME", false, &["echo|?"]);
        check("echo \"x $HOME\"", false, &["echo|?"]);
        check("echo *.rs", false, &["echo|?"]);
        check("echo {a,b}", false, &["echo|?"]);
        check("echo ~", false, &["echo|?"]);
        check("echo a\\ b", false, &["echo|?"]);
        check("echo $'a'", false, &["echo|?"]);
        check("$CMD x", false, &["?|x"]);
        check("r\\m x", false, &["?|x"]);
        check("PATH=. ls", false, &["ls"]);
        check("ls > out", false, &["ls"]);
        check("ls >> .bashrc", false, &["ls"]);
        check("cat < /etc/passwd", false, &["cat"]);
        check("ls &", false, &["ls"]);
        check("if", false, &[]);
        check("cat <<E\nx\nE", false, &["cat"]);
        check("cat <<< x", false, &["cat"]);
        check("ls\rrm x", false, &[]);
        check("ls\u{a0}x", false, &[]);
        check("", true, &[]);
    }

    #[test]
    fn commands_are_found_wherever_they_are() {
        check("echo $(rm -rf /)", false, &["echo|?", "rm|-rf|/"]);
        check("echo `rm x`", false, &["echo|?", "rm|x"]);
        check("(cd a && rm b)", false, &["cd|a", "rm|b"]);
        check("for i in 1 2; do rm $i; done", false, &["rm|?"]);
        check("f() { rm x; }; f", false, &["rm|x", "f"]);
        check("ls <(rm x)", false, &["ls|?", "rm|x"]);
        check("if true; then rm x; fi", false, &["true", "rm|x"]);
        check("echo $((1+$(rm x)))", false, &["echo|?", "rm|x"]);
        check("! rm x", false, &["rm|x"]);
    }

    #[test]
    fn scripts_may_be_long_and_nest_deep() {
        for script in ["(".repeat(16_000), "$(".repeat(8_000), "if true; then ".repeat(1_100)] {
            assert!(!Script::parse(&script).is_understood);
        }
        let many = "ls\n".repeat(MAX_COMMANDS + 1);
        assert_eq!(Script::parse(&many).commands.len(), MAX_COMMANDS);
        assert!(!Script::parse(&many).is_understood);
        assert!(!Script::parse(&many).is_searched);
        assert_eq!(Script::parse(&"x".repeat(MAX_SCRIPT + 1)), Script::default());
    }
}

//! A unified diff as rows in colour, and how much it changes.

use super::styled::{Role, Row};
use crate::text::{one_line, one_row};

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    OldName,
    NewName,
    Hunk,
    Added,
    Removed,
    Same,
    /// Anything else, such as a note that something was left out.
    Note,
}

/// How much a diff changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files that it names.
    pub files: usize,
    /// Lines that come.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
    /// A part of it was left out, so that there are more.
    pub is_cut: bool,
}

impl Counts {
    /// Counts the lines of a diff.
    pub fn of(diff: &str) -> Self {
        let mut counts = Self::default();
        for (kind, line) in parsed(diff) {
            match kind {
                Kind::NewName => counts.files += 1,
                Kind::Added => counts.added += 1,
                Kind::Removed => counts.removed += 1,
                Kind::Note => counts.is_cut |= line.starts_with("[..."),
                Kind::OldName | Kind::Hunk | Kind::Same => {}
            }
        }
        counts
    }

    /// In words, such as `+3 -1`.
    pub fn row(self) -> Row {
        let Self { files, added, removed, is_cut } = self;
        let files = if files > 1 { format!("{files} files ") } else { String::new() };
        let more = if is_cut { "≥ " } else { "" };
        Row::from(format!("{files}{more}").as_str())
            .with(&format!("+{added}"), Role::Added)
            .with(" ", Role::Plain)
            .with(&format!("-{removed}"), Role::Removed)
    }
}

/// Whether the names of the files are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Each before its changes.
    Shown,
    /// It is said elsewhere which file it is.
    Hidden,
}

/// The rows of a diff.
pub fn rows(diff: &str, names: Names, width: usize) -> Vec<Row> {
    let mut old_name = "";
    let mut rows = Vec::new();
    for (kind, line) in parsed(diff) {
        let role = match kind {
            Kind::OldName => {
                old_name = line;
                continue;
            }
            Kind::NewName if names == Names::Hidden => continue,
            Kind::NewName => {
                let name = one_line(&file_name(old_name, line), width);
                rows.push(Row::new(&name, Role::Heading));
                continue;
            }
            Kind::Hunk | Kind::Note => Role::Dim,
            Kind::Added => Role::Added,
            Kind::Removed => Role::Removed,
            Kind::Same => Role::Plain,
        };
        rows.push(Row::new(&one_row(line, width), role));
    }
    rows
}

/// The path that two names of a diff are of, with what happens to it as a whole.
fn file_name(old: &str, new: &str) -> String {
    let path = |line: &str, side: &str| {
        let name = line.get(4..).unwrap_or_default().trim_end();
        name.strip_prefix(side).unwrap_or(name).to_owned()
    };
    match (path(old, "a/"), path(new, "b/")) {
        (old, new) if new == "/dev/null" => format!("{old} (removed)"),
        (old, new) if old == "/dev/null" => format!("{new} (new)"),
        (_, new) => new,
    }
}

/// The lines of a diff with what they are. A removed line may look like a name: how many lines a
/// hunk has says where it ends. Where a part was left out nobody knows how much of the hunk is to
/// come; then only two names that follow each other, as they are written for files, are names.
fn parsed(diff: &str) -> impl Iterator<Item = (Kind, &str)> {
    let (mut old_left, mut new_left) = (0_u64, 0_u64);
    let (mut is_cut, mut is_named) = (false, false);
    let lines = diff.split_terminator('\n');
    lines.clone().zip(lines.skip(1).chain([""])).map(move |(line, next)| {
        let in_hunk = old_left > 0 || new_left > 0;
        let was_named = std::mem::take(&mut is_named);
        let kind = match line.as_bytes() {
            [b'-', b'-', b'-', b' ', ..] if !in_hunk && (!is_cut || are_names(line, next)) => {
                is_named = true;
                Kind::OldName
            }
            [b'+', b'+', b'+', b' ', ..] if !in_hunk && (!is_cut || was_named) => {
                is_cut = false;
                Kind::NewName
            }
            [b'@', b'@', ..] => {
                is_cut = false;
                (old_left, new_left) = lengths(line).unwrap_or_default();
                Kind::Hunk
            }
            [b'+', ..] => {
                new_left = new_left.saturating_sub(1);
                Kind::Added
            }
            [b'-', ..] => {
                old_left = old_left.saturating_sub(1);
                Kind::Removed
            }
            [b' ', ..] => {
                (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1));
                Kind::Same
            }
            [b'\\', ..] => Kind::Note,
            // Something was left out, and with it the rest of the hunk.
            _ => {
                is_cut |= in_hunk || line.starts_with("[...");
                (old_left, new_left) = (0, 0);
                Kind::Note
            }
        };
        (kind, line)
    })
}

fn are_names(old: &str, new: &str) -> bool {
    let is_name = |line: &str, sign: &str, side: &str| {
        line.strip_prefix(sign)
            .is_some_and(|name| name.starts_with(side) || name.trim_end() == "/dev/null")
    };
    is_name(old, "--- ", "a/") && is_name(new, "+++ ", "b/")
}

/// The lengths that a head such as `@@ -1,3 +1,4 @@` tells.
fn lengths(head: &str) -> Option<(u64, u64)> {
    let mut words = head.split(' ').skip(1);
    let mut length = |sign: char| {
        let range = words.next()?.strip_prefix(sign)?;
        range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok())
    };
    Some((length('-')?, length('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::styled::Colors;

    const WIDTH: usize = 40;
    const DIFF: &str = "--- a/src/a.sql\n+++ b/src/a.sql\n@@ -1,3 +1,3 @@\n one\n--- a comment\n\
                        +++ another\n\tthree\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,1 @@\n+x\n\
                        \\ No newline at end of file\n";

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn a_line_that_looks_like_a_name_is_counted_as_what_it_is() {
        let diff = DIFF.replace("\n\tthree", "\n three");
        let counts = Counts::of(&diff);
        assert_eq!(counts, Counts { files: 2, added: 2, removed: 1, is_cut: false });
        assert_eq!(counts.row().text(), "2 files +2 -1");
        assert_eq!(
            texts(&rows(&diff, Names::Shown, WIDTH)),
            [
                "src/a.sql",
                "@@ -1,3 +1,3 @@",
                " one",
                "--- a comment",
                "+++ another",
                " three",
                "new (new)",
                "@@ -0,0 +1,1 @@",
                "+x",
                "\\ No newline at end of file"
            ]
        );
    }

    #[test]
    fn a_diff_that_was_cut_says_so() {
        let diff =
            "--- a/f\n+++ /dev/null\n@@ -1,90 +0,0 @@\n-a\n[... 738 bytes left out ...]\n-z\n";
        let counts = Counts::of(diff);
        assert_eq!(counts, Counts { files: 1, added: 0, removed: 2, is_cut: true });
        assert_eq!(counts.row().text(), "≥ +0 -2");
        assert_eq!(rows(diff, Names::Shown, WIDTH)[0].text(), "f (removed)");
    }

    #[test]
    fn a_line_that_looks_like_a_name_is_none_where_a_part_was_left_out() {
        let diff = "--- a/f.lua\n+++ b/f.lua\n@@ -1,90 +1,3 @@\n--- one\n\n\
                    [... 738 bytes left out ...]\n--- a comment\n+++ more\n--- a/g\n+x\n\
                    --- a/g\n+++ b/g\n@@ -1,1 +0,0 @@\n--- b\n--- /dev/null\n+++ b/h\n";
        let counts = Counts::of(diff);
        assert_eq!(counts, Counts { files: 3, added: 2, removed: 4, is_cut: true });
        let names = texts(&rows(diff, Names::Shown, WIDTH));
        let names: Vec<&String> = names.iter().filter(|row| !row.contains(' ')).collect();
        assert_eq!(names, ["f.lua", "", "+x", "g"]);
    }

    #[test]
    fn lines_come_and_go_in_colour_and_cannot_steer_the_terminal() {
        let diff = "@@ -1,1 +1,1 @@\n-\told\u{1b}[2J\n+new and long enough\n";
        let rows = rows(diff, Names::Hidden, 12);
        assert_eq!(rows[1].paint(Colors::All), "\u{1b}[31m-   old\\u{1…\u{1b}[0m");
        assert_eq!(rows[2].paint(Colors::All), "\u{1b}[32m+new and lo…\u{1b}[0m");
    }
}

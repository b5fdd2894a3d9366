//! Reading a unified diff, and putting its hunks where they belong.
//!
//! The lines that a hunk keeps and removes must be in the file: where the hunk says, else in just one
//! other place. Kept lines stay byte for byte; added ones get the line ending of those around them.

use std::ops::Range;

use agentd_domain::ToolResult;

/// Most context lines at either end of a hunk that need not fit.
const MAX_FUZZ: usize = 2;

/// What a patch does to one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FilePatch<'a> {
    /// Its path before; none when it is made.
    pub(super) old: Option<&'a str>,
    /// Its path after; none when it is removed.
    pub(super) new: Option<&'a str>,
    /// The new file may be executed.
    pub(super) executable: bool,
    hunks: Vec<Hunk<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Hunk<'a> {
    /// Line of the old file at which it begins, from 1.
    line: usize,
    steps: Vec<Step<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'a> {
    Keep(&'a str),
    Remove(&'a str),
    /// With its line ending, or without one.
    Add(&'a str, bool),
}

fn refuse(why: impl std::fmt::Display) -> ToolResult {
    ToolResult::fatal("INVALID_PATCH", format!("patch: {why} Nothing was written."))
}

/// Reads the patches of files in a unified diff, with or without the headers of git.
///
/// # Errors
/// The result of the call, with the number of the line that is not understood.
pub(super) fn parse(text: &str) -> Result<Vec<FilePatch<'_>>, ToolResult> {
    let lines: Vec<&str> = text.lines().collect();
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    // A header of git was read, and what belongs to it may follow.
    let mut is_open = false;
    let mut at = 0;
    while let Some(line) = lines.get(at).copied() {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        at += 1;
        if line.starts_with("diff --git ") {
            files.push(FilePatch::default());
            is_open = true;
        } else if let (Some(old), Some(new)) =
            (line.strip_prefix("--- "), next.strip_prefix("+++ "))
        {
            at += 1;
            if !is_open {
                files.push(FilePatch::default());
            }
            is_open = false;
            if let Some(file) = files.last_mut() {
                (file.old, file.new) = (path(old, "a/"), path(new, "b/"));
            }
        } else if line.starts_with("@@ ") {
            let Some(file) = files.last_mut().filter(|file| file.old.or(file.new).is_some()) else {
                return Err(refuse(format_args!(
                    "line {at} is a hunk without '---' and '+++' before it."
                )));
            };
            let (hunk, end) = hunk(&lines, at)?;
            file.hunks.push(hunk);
            at = end;
        } else if let Some(file) = files.last_mut() {
            if let Some(from) = line.strip_prefix("rename from ") {
                file.old = Some(from);
            } else if let Some(to) = line.strip_prefix("rename to ") {
                file.new = Some(to);
            } else if line.starts_with("new file mode ") {
                file.executable = line.ends_with("755");
            } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                return Err(refuse(format_args!("line {at}: binary files cannot be patched.")));
            } else if line.starts_with("copy from ") || line.starts_with("old mode ") {
                return Err(refuse(format_args!("line {at}: copies and modes cannot be patched.")));
            } else if !["index ", "similarity ", "dissimilarity ", "deleted ", "\\ "]
                .iter()
                .any(|known| line.starts_with(known))
                && !line.trim().is_empty()
            {
                return Err(refuse(format_args!("line {at} is not understood.")));
            }
        }
    }
    if files.is_empty() {
        return Err(refuse("it is no unified diff: there is no '---' with '+++' after it."));
    }
    if files.iter().any(|file| file.old.or(file.new).is_none()) {
        return Err(refuse("a file has neither '---' and '+++' nor a rename."));
    }
    Ok(files)
}

/// A path of a header; none for no file.
fn path<'a>(header: &'a str, prefix: &str) -> Option<&'a str> {
    let path = header.split('\t').next().unwrap_or(header).trim_end();
    (path != "/dev/null").then(|| path.strip_prefix(prefix).unwrap_or(path))
}

/// Reads the hunk whose header is the line before `at`, and says where it ends.
fn hunk<'a>(lines: &[&'a str], mut at: usize) -> Result<(Hunk<'a>, usize), ToolResult> {
    let header = lines.get(at - 1).copied().unwrap_or_default();
    let numbers = header.split(' ').filter_map(|part| part.strip_prefix(['-', '+'])).take(2);
    let ranges: Vec<(usize, usize)> = numbers
        .filter_map(|range| {
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            Some((start.parse().ok()?, count.parse().ok()?))
        })
        .collect();
    let [(line, mut old_left), (_, mut new_left)] = *ranges.as_slice() else {
        return Err(refuse(format_args!(
            "line {at}: '@@ -line,count +line,count @@' is expected."
        )));
    };
    let mut steps = Vec::new();
    while let Some(text) = lines.get(at).copied() {
        let is_done = old_left == 0 && new_left == 0;
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let is_header = text.starts_with("--- ") && next.starts_with("+++ ");
        if text.starts_with("@@ ")
            || text.starts_with("diff --git ")
            || (is_header && (old_left == 0 || new_left == 0))
            || (is_done && text.trim().is_empty())
        {
            break;
        }
        // Counts may be wrong; the lines say what is meant.
        let step = match text.split_at_checked(1) {
            None => Step::Keep(""),
            Some((" ", rest)) => Step::Keep(rest),
            Some(("-", rest)) => Step::Remove(rest),
            Some(("+", rest)) => Step::Add(rest, true),
            Some(("\\", _)) => {
                if let Some(Step::Add(_, has_ending)) = steps.last_mut() {
                    *has_ending = false;
                }
                at += 1;
                continue;
            }
            Some(_) => {
                let number = at + 1;
                return Err(refuse(format_args!(
                    "line {number} of it begins with none of ' ', '+', '-'."
                )));
            }
        };
        match step {
            Step::Keep(_) => {
                (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1));
            }
            Step::Remove(_) => old_left = old_left.saturating_sub(1),
            Step::Add(..) => new_left = new_left.saturating_sub(1),
        }
        steps.push(step);
        at += 1;
    }
    if !steps.iter().any(|step| !matches!(step, Step::Keep(_))) {
        return Err(refuse(format_args!("the hunk that ends at line {at} changes nothing.")));
    }
    Ok((Hunk { line, steps }, at))
}

impl FilePatch<'_> {
    /// True when all that it adds is ASCII.
    pub(super) fn adds_ascii_only(&self) -> bool {
        let mut steps = self.hunks.iter().flat_map(|hunk| &hunk.steps);
        steps.all(|step| !matches!(step, Step::Add(text, _) if !text.is_ascii()))
    }

    /// The text after the patch.
    ///
    /// # Errors
    /// Why a hunk has no place.
    pub(super) fn apply(&self, text: &[u8]) -> Result<Vec<u8>, ToolResult> {
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let mut patched = Vec::with_capacity(text.len());
        // Lines that are through, and by how many lines hunks were found further on than they say.
        let (mut from, mut drift) = (0_usize, 0_isize);
        for (index, hunk) in self.hunks.iter().enumerate() {
            let (place, steps, dropped) = hunk.place(&lines, from, drift).map_err(|why| {
                let name = super::shown(self.old.or(self.new).unwrap_or_default());
                let number = index + 1;
                refuse(format_args!("hunk {number} of '{name}' {why}."))
            })?;
            drift = place.start.cast_signed() - (hunk.begin() + dropped).cast_signed();
            patched.extend(lines.get(from..place.start).unwrap_or_default().concat());
            carry_out(&mut patched, steps, &lines, place.start);
            from = place.end;
        }
        patched.extend(lines.get(from..).unwrap_or_default().concat());
        Ok(patched)
    }
}

impl<'a> Hunk<'a> {
    /// The line from 0 at which it should begin.
    fn begin(&self) -> usize {
        let removes = self.steps.iter().any(|step| !matches!(step, Step::Add(..)));
        // A hunk that only adds names the line before it.
        if removes { self.line.saturating_sub(1) } else { self.line }
    }

    /// The lines that it is about, the steps to take there, and how many it lost at its beginning.
    fn place(
        &self,
        lines: &[&[u8]],
        from: usize,
        drift: isize,
    ) -> Result<(Range<usize>, &[Step<'a>], usize), String> {
        let begin = self.begin().saturating_add_signed(drift);
        for fuzz in 0..=MAX_FUZZ {
            let Some((steps, dropped)) = self.without_context(fuzz) else { break };
            let wanted: Vec<&str> = steps
                .iter()
                .filter_map(|step| match step {
                    Step::Keep(text) | Step::Remove(text) => Some(*text),
                    Step::Add(..) => None,
                })
                .collect();
            if wanted.is_empty() {
                // Nothing says where but the number, and that is not to be guessed.
                return if fuzz == 0 && (from..=lines.len()).contains(&begin) {
                    Ok((begin..begin, steps, 0))
                } else {
                    Err("has no place: the lines around it are not there".to_owned())
                };
            }
            for is_like in [same, same_but_blanks] {
                let last = (lines.len() + 1).saturating_sub(wanted.len());
                let found: Vec<usize> = (from..last)
                    .filter(|start| {
                        let window = lines.get(*start..).unwrap_or_default();
                        window.iter().zip(&wanted).all(|(line, wanted)| is_like(line, wanted))
                    })
                    .collect();
                let start = match found.as_slice() {
                    [] => continue,
                    [only] => *only,
                    several if several.contains(&(begin + dropped)) => begin + dropped,
                    several => {
                        let numbers: Vec<String> =
                            several.iter().take(10).map(|line| (line + 1).to_string()).collect();
                        return Err(format!(
                            "fits {} places, at lines {}; take in more context",
                            several.len(),
                            numbers.join(", ")
                        ));
                    }
                };
                return Ok((start..start + wanted.len(), steps, dropped));
            }
        }
        Err("has no place: what it keeps and removes is not in the file; read it again".to_owned())
    }

    /// Its steps without some lines of context at both ends, and how many the beginning lost.
    fn without_context(&self, fuzz: usize) -> Option<(&[Step<'a>], usize)> {
        let is_kept = |step: &&Step<'_>| matches!(step, Step::Keep(_));
        let before = self.steps.iter().take_while(is_kept).count();
        let after = self.steps.iter().rev().take_while(is_kept).count();
        let (first, last) = (fuzz.min(before), fuzz.min(after));
        if fuzz > 0 && before.max(after) < fuzz {
            return None;
        }
        Some((self.steps.get(first..self.steps.len() - last)?, first))
    }
}

fn carry_out(patched: &mut Vec<u8>, steps: &[Step<'_>], lines: &[&[u8]], start: usize) {
    let ending = |at: usize| {
        let near = lines.get(at).or_else(|| lines.get(at.checked_sub(1)?));
        if near.is_some_and(|line| line.ends_with(b"\r\n")) { &b"\r\n"[..] } else { &b"\n"[..] }
    };
    let mut at = start;
    for step in steps {
        match step {
            Step::Keep(_) => {
                patched.extend_from_slice(lines.get(at).copied().unwrap_or_default());
                at += 1;
            }
            Step::Remove(_) => at += 1,
            Step::Add(text, has_ending) => {
                let near = ending(at.saturating_sub(1).max(start));
                if patched.last().is_some_and(|byte| *byte != b'\n') {
                    patched.extend_from_slice(near);
                }
                patched.extend_from_slice(text.as_bytes());
                if *has_ending {
                    patched.extend_from_slice(near);
                }
            }
        }
    }
}

fn bare(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn same(line: &[u8], wanted: &str) -> bool {
    bare(line) == bare(wanted.as_bytes())
}

fn same_but_blanks(line: &[u8], wanted: &str) -> bool {
    line.trim_ascii_end() == wanted.as_bytes().trim_ascii_end()
}

#[cfg(test)]
mod tests;

//! The unified diff of a change, for people and the model.

use agentd_domain::{cut_head_tail, floor_char_boundary};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Longest diff in bytes; of a longer one head and tail are kept.
const MAX_DIFF: usize = 12_000;

/// Longest diff in bytes of a change that somebody is asked about, and of all files of one.
const MAX_PLANNED: usize = 64 * 1024;
const MAX_PLANNED_OF_ALL: usize = 512 * 1024;

/// Lines around a change.
const CONTEXT: usize = 3;

/// Most changed lines that are compared with one another. More are told as a whole that was
/// replaced, since the time of a comparison grows with the product.
const MAX_COMPARED: usize = 4_000;

/// The diff between two contents of a file; none stands for no file.
pub(super) fn unified(told: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    unified_within(told, old, new, MAX_DIFF)
}

/// The same of a change that is planned, one of this many files. It says at its head when a part of
/// it is shown nowhere: whoever permits it has not seen all of it.
pub(super) fn planned(told: &str, old: Option<&[u8]>, new: Option<&[u8]>, files: usize) -> String {
    let limit = MAX_PLANNED.min(MAX_PLANNED_OF_ALL / files.max(1));
    let whole = whole(told, old, new, limit);
    if whole.len() <= limit {
        return whole;
    }
    let shown = cut_head_tail(&whole, limit);
    // The names come first, as in any diff.
    let names = whole.match_indices('\n').nth(1).map_or(0, |(at, _)| at + 1);
    let names = floor_char_boundary(&shown, names);
    let (names, rest) = shown.split_at(names);
    format!(
        "{names}[This change is too long to be shown: what is left out below is shown nowhere.]\n{rest}"
    )
}

/// The same in about `limit` bytes at most.
pub(super) fn unified_within(
    told: &str,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
    limit: usize,
) -> String {
    cut_head_tail(&whole(told, old, new, limit), limit)
}

/// The diff as it is, as far as head and tail of `limit` bytes need it.
fn whole(told: &str, old: Option<&[u8]>, new: Option<&[u8]>, limit: usize) -> String {
    let name = |side: &str, content: Option<&[u8]>| match content {
        Some(_) => format!("{side}/{told}"),
        None => "/dev/null".to_owned(),
    };
    let mut diff = format!("--- {}\n+++ {}\n", name("a", old), name("b", new));
    let (old, new) = (lines(old.unwrap_or_default()), lines(new.unwrap_or_default()));
    // What is the same at both ends is not compared, however much it is.
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new);
    let end = end.count();
    let (first, tail) = (start.saturating_sub(CONTEXT), end.saturating_sub(CONTEXT));
    let old = old.get(first..old.len() - tail).unwrap_or_default();
    let new = new.get(first..new.len() - tail).unwrap_or_default();
    let ops = if old.len() + new.len() <= MAX_COMPARED {
        capture_diff_slices(Algorithm::Myers, old, new)
    } else {
        let (before, after) = (start - first, end - tail);
        let (old_len, new_len) = (old.len() - before - after, new.len() - before - after);
        vec![
            DiffOp::Equal { old_index: 0, new_index: 0, len: before },
            DiffOp::Replace { old_index: before, old_len, new_index: before, new_len },
            DiffOp::Equal { old_index: before + old_len, new_index: before + new_len, len: after },
        ]
    };
    for group in group_diff_ops(ops, CONTEXT) {
        hunk(&mut diff, &group, old, new, first);
        if diff.len() > 64 * limit {
            break;
        }
    }
    diff
}

fn hunk(diff: &mut String, ops: &[DiffOp], old: &[&[u8]], new: &[&[u8]], first: usize) {
    let (Some(begin), Some(end)) = (ops.first(), ops.last()) else { return };
    let range = |start: usize, end: usize| {
        // A range without lines names the line before it.
        let number = if start == end { first + start } else { first + start + 1 };
        format!("{number},{}", end - start)
    };
    let removed = range(begin.old_range().start, end.old_range().end);
    let added = range(begin.new_range().start, end.new_range().end);
    diff.extend(["@@ -", &removed, " +", &added, " @@\n"]);
    for op in ops {
        let is_equal = matches!(op, DiffOp::Equal { .. });
        for line in old.get(op.old_range()).unwrap_or_default() {
            push(diff, if is_equal { ' ' } else { '-' }, line);
        }
        if !is_equal {
            for line in new.get(op.new_range()).unwrap_or_default() {
                push(diff, '+', line);
            }
        }
    }
}

fn push(diff: &mut String, sign: char, line: &[u8]) {
    diff.push(sign);
    diff.push_str(&String::from_utf8_lossy(line));
    if !line.ends_with(b"\n") {
        diff.push_str("\n\\ No newline at end of file\n");
    }
}

fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let old: String =
            (1..=20).flat_map(|line: u8| [line.to_string(), "\n".to_owned()]).collect();
        let new = old.replace("10\n", "ten\n").replace("20\n", "20");
        assert_eq!(
            unified("a", Some(old.as_bytes()), Some(new.as_bytes())),
            "--- a/a\n+++ b/a\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n@@ -17,4 \
             +17,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n"
        );
        let made = unified("d/a", None, Some(b"x\n"));
        assert_eq!(made, "--- /dev/null\n+++ b/d/a\n@@ -0,0 +1,1 @@\n+x\n");
        let gone = unified("a", Some(b"x\n"), None);
        assert_eq!(gone, "--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n");
    }

    #[test]
    fn a_large_change_is_cut_and_a_small_one_of_a_large_file_is_not() {
        let old = "line\n".repeat(1_000_000);
        let new = format!("{}other\n{}", "line\n".repeat(500_000), "line\n".repeat(499_999));
        let diff = unified("a", Some(old.as_bytes()), Some(new.as_bytes()));
        assert!(diff.contains("@@ -499998,7 +499998,7 @@"), "{diff}");
        assert_eq!(diff.lines().count(), 11);
        let every = unified("a", Some(old.as_bytes()), Some("世\n".repeat(100_000).as_bytes()));
        assert!(every.len() < MAX_DIFF + 100, "{}", every.len());
        assert!(every.contains("bytes left out"));
    }

    #[test]
    fn a_planned_change_is_shown_whole_or_says_that_it_is_not() {
        let new = |lines: usize| "世界\n".repeat(lines).into_bytes();
        let whole = planned("a", None, Some(&new(8_000)), 1);
        assert!(whole.len() > 60_000 && !whole.contains("left out"), "{}", whole.len());
        let cut = planned("a", None, Some(&new(10_000)), 1);
        assert!(cut.len() < MAX_PLANNED + 200, "{}", cut.len());
        let head = "--- /dev/null\n+++ b/a\n[This change is too long to be shown: what is left out \
                    below is shown nowhere.]\n@@ -0,0 +1,10000 @@\n";
        assert!(cut.starts_with(head) && cut.contains("bytes left out"), "{}", &cut[..200]);
        // One of many files.
        let of_many = planned("a", None, Some(&new(8_000)), 100);
        assert!(
            of_many.len() < MAX_PLANNED_OF_ALL / 100 + 200 && of_many.contains("shown nowhere")
        );
    }
}

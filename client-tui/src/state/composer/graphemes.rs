//! What people see as one character may be several: a letter with its marks, an emoji of many parts.

use unicode_segmentation::UnicodeSegmentation as _;

/// The nearest ends of what is seen as one character before and behind a column of a line. Columns count
/// `char`s, as the composer does.
pub(super) fn around(line: &str, column: usize) -> (usize, usize) {
    let (mut before, mut end) = (0, 0);
    for grapheme in line.graphemes(true) {
        let start = end;
        end += grapheme.chars().count();
        if start < column {
            before = start;
        }
        if end > column {
            return (before, end);
        }
    }
    (before, column)
}

/// The first column from this one on at which a single `char` is seen as one character, or the line ends.
pub(super) fn untorn(line: &str, column: usize) -> usize {
    let mut end = 0;
    for grapheme in line.graphemes(true) {
        let start = end;
        let chars = grapheme.chars().count();
        end += chars;
        if start >= column && chars == 1 {
            return start;
        }
    }
    end.max(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_with_its_marks_is_one() {
        let line = "ae\u{301}👩‍👩‍👧好";
        let check = |column, expect| assert_eq!(around(line, column), expect, "{column}");
        check(0, (0, 1));
        check(1, (0, 3));
        check(3, (1, 8));
        // In the middle of one, as a mouse may lead to.
        check(2, (1, 3));
        check(5, (3, 8));
        check(8, (3, 9));
        check(9, (8, 9));
        assert_eq!(around("", 0), (0, 0));
        let untorn: Vec<usize> = (0..=9).map(|column| untorn(line, column)).collect();
        assert_eq!(untorn, [0, 8, 8, 8, 8, 8, 8, 8, 8, 9]);
    }
}

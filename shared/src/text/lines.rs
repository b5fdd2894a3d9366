//! Lines of a text that is shown while it grows.

/// Splits the first line off, or as much of it as fits into `most` bytes; `None` while it may grow.
///
/// The line comes without its line feed. It looks no further than `most`, so that a long text costs no
/// more than its length.
pub fn split_line(text: &str, most: usize) -> Option<(&str, &str)> {
    // One more than fits, for the end of a line of just that length.
    let head = text.get(..floor_boundary(text, most + 1))?;
    if let Some((line, _)) = head.split_once('\n') {
        return Some((line, text.get(line.len() + 1..)?));
    }
    if text.len() <= most {
        return None;
    }
    let end = floor_boundary(text, most);
    // A space near the end is a better place to break than the middle of a word.
    let space = text.get(..end)?.rfind(' ').filter(|space| *space > end / 2);
    text.split_at_checked(space.map_or(end, |space| space + 1))
}

/// The last boundary between characters that is not behind a place.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_at_its_end_or_where_it_is_too_long() {
        let check = |text: &str, expect: Option<(&str, &str)>| {
            assert_eq!(split_line(text, 8), expect, "{text:?}");
        };
        check("", None);
        check("may grow", None);
        check("a\nb", Some(("a", "b")));
        check("just fit\nb", Some(("just fit", "b")));
        check("one or two", Some(("one or ", "two")));
        check("a toolongword", Some(("a toolon", "gword")));
        check("世界世界", Some(("世界", "世界")));
    }
}

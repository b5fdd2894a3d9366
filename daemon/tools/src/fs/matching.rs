//! Finding the place of an edit.
//!
//! Exact text is looked for first. Only when there is none, and only where one place is meant, are
//! other line endings, blanks at line ends and a shift of the indentation put up with.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

/// What was put up with to find a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tolerance {
    /// Nothing.
    Exact,
    /// Line endings.
    Endings,
    /// Blanks at the ends of lines.
    TrailingBlanks,
    /// All lines are indented by the same more or less.
    Indentation,
}

/// Places of a text, and the text that belongs there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Matches<'a> {
    pub(super) places: Vec<Range<usize>>,
    pub(super) new: Cow<'a, [u8]>,
    pub(super) tolerance: Tolerance,
}

/// Finds all places of `old`. Those of exact text may overlap.
pub(super) fn find<'a>(content: &[u8], old: &[u8], new: &'a [u8]) -> Matches<'a> {
    let exact = occurrences(content, old);
    if !exact.is_empty() {
        return Matches { places: exact, new: Cow::Borrowed(new), tolerance: Tolerance::Exact };
    }
    let places = with_other_endings(content, old);
    if !places.is_empty() {
        return Matches { places, new: Cow::Borrowed(new), tolerance: Tolerance::Endings };
    }
    let lines = Lines::of(content);
    let wanted = Lines::of(old);
    let places = lines.windows(content, &wanted, old, |line, wanted| {
        line.trim_ascii_end() == wanted.trim_ascii_end()
    });
    if !places.is_empty() {
        return Matches { places, new: Cow::Borrowed(new), tolerance: Tolerance::TrailingBlanks };
    }
    shifted(content, old, new, &lines, &wanted)
}

fn occurrences(content: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    let finder = memmem::Finder::new(old);
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = content.get(from..).and_then(|rest| finder.find(rest)) {
        found.push(from + at..from + at + old.len());
        from += at + 1;
    }
    found
}

/// Places where the text stands when `\r\n` and `\n` are the same.
fn with_other_endings(content: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    let (plain, starts) = without_returns(content);
    let (wanted, _) = without_returns(old);
    if plain.len() == content.len() && wanted.len() == old.len() {
        return Vec::new();
    }
    let at = |index: usize| starts.get(index).copied().unwrap_or(content.len());
    let places = occurrences(&plain, &wanted);
    places.into_iter().map(|place| at(place.start)..at(place.end)).collect()
}

/// The bytes with `\n` for `\r\n`, and where each of them began.
fn without_returns(bytes: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut plain, mut starts) = (Vec::with_capacity(bytes.len()), Vec::new());
    let mut rest = bytes.iter().enumerate().peekable();
    while let Some((start, byte)) = rest.next() {
        let is_ending = *byte == b'\r' && rest.next_if(|(_, next)| **next == b'\n').is_some();
        plain.push(if is_ending { b'\n' } else { *byte });
        starts.push(start);
    }
    (plain, starts)
}

/// The lines of a text without their endings.
struct Lines(Vec<Range<usize>>);

impl Lines {
    fn of(text: &[u8]) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
            if start == text.len() && start > 0 {
                break;
            }
            let has_return = end > start && text.get(end - 1) == Some(&b'\r');
            lines.push(start..if has_return { end - 1 } else { end });
            start = end + 1;
        }
        Self(lines)
    }

    /// Places of whole lines that are like the wanted ones.
    fn windows(
        &self,
        content: &[u8],
        wanted: &Self,
        old: &[u8],
        is_like: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Vec<Range<usize>> {
        let windows = self.0.windows(wanted.0.len().max(1));
        let like = windows.filter(|window| {
            window
                .iter()
                .zip(&wanted.0)
                .all(|(line, wanted)| is_like(part(content, line), part(old, wanted)))
        });
        like.filter_map(|window| {
            let end = window.last()?.end;
            // The last line's ending belongs to the place when it belongs to the text.
            let ending = match content.get(end..) {
                Some([b'\r', b'\n', ..]) if old.ends_with(b"\n") => 2,
                Some([b'\n', ..]) if old.ends_with(b"\n") => 1,
                _ => 0,
            };
            Some(window.first()?.start..end + ending)
        })
        .collect()
    }
}

fn part<'a>(text: &'a [u8], range: &Range<usize>) -> &'a [u8] {
    text.get(range.clone()).unwrap_or_default()
}

fn indent(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// Whole lines that are the wanted ones, all indented by the same more or less.
fn shifted<'a>(
    content: &[u8],
    old: &[u8],
    new: &'a [u8],
    lines: &Lines,
    wanted: &Lines,
) -> Matches<'a> {
    let nothing =
        Matches { places: Vec::new(), new: Cow::Borrowed(new), tolerance: Tolerance::Indentation };
    let mut places = lines
        .windows(content, wanted, old, |line, wanted| line.trim_ascii() == wanted.trim_ascii());
    let shifts: Vec<Option<Shift>> =
        places.iter().map(|place| Shift::between(part(content, place), old)).collect();
    let mut keep = shifts.iter().map(Option::is_some);
    places.retain(|_| keep.next().unwrap_or(false));
    let mut shifts = shifts.into_iter().flatten();
    match (shifts.next(), shifts.next()) {
        (Some(shift), None) => match shift.apply(new) {
            Some(new) => Matches { places, new: Cow::Owned(new), ..nothing },
            None => nothing,
        },
        // The text that belongs there is not asked for when there are several.
        (Some(_), Some(_)) => Matches { places, ..nothing },
        (None, _) => nothing,
    }
}

/// By what lines are indented more or less.
enum Shift {
    More(Vec<u8>),
    Less(Vec<u8>),
}

impl Shift {
    fn between(there: &[u8], old: &[u8]) -> Option<Self> {
        let mut shift: Option<Self> = None;
        for (line, wanted) in Lines::of(there).0.iter().zip(&Lines::of(old).0) {
            let (line, wanted) = (part(there, line), part(old, wanted));
            if wanted.trim_ascii().is_empty() {
                continue;
            }
            let (has, wants) = (indent(line), indent(wanted));
            match &shift {
                None => {
                    shift = Some(if let Some(more) = has.strip_suffix(wants) {
                        Self::More(more.to_vec())
                    } else {
                        Self::Less(wants.strip_suffix(has)?.to_vec())
                    });
                }
                Some(Self::More(more)) if has == [more, wants].concat() => {}
                Some(Self::Less(less)) if wants == [less, has].concat() => {}
                Some(_) => return None,
            }
        }
        shift
    }

    /// The new text, indented like what it replaces; none when a line of it has too little.
    fn apply(&self, new: &[u8]) -> Option<Vec<u8>> {
        let mut shifted = Vec::with_capacity(new.len());
        for line in new.split_inclusive(|byte| *byte == b'\n') {
            match self {
                _ if line.trim_ascii().is_empty() => shifted.extend_from_slice(line),
                Self::More(more) => {
                    shifted.extend_from_slice(more);
                    shifted.extend_from_slice(line);
                }
                Self::Less(less) => shifted.extend_from_slice(line.strip_prefix(less.as_slice())?),
            }
        }
        Some(shifted)
    }
}

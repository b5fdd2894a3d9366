//! Edits of a text as bytes: whatever its encoding and line endings, no byte changes outside the
//! places that were meant.

use std::borrow::Cow;
use std::ops::Range;

use agentd_domain::ToolResult;

use super::matching::{Tolerance, find};

/// Most line numbers that are told.
const MAX_LINES_TOLD: usize = 10;

/// One edit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edit<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) replace_all: bool,
}

/// A text after its edits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    pub(super) content: Vec<u8>,
    /// What is to be said of how the places were found.
    pub(super) notes: Vec<String>,
}

/// How a file holds its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    /// ASCII and bytes that are not known.
    Other,
    Utf16Le,
    Utf16Be,
}

/// Carries out edits, each on what those before it have left.
///
/// # Errors
/// The result of the call, when a place is not found, not the only one, or cannot be changed
/// without harm. Then none is carried out.
pub(super) fn edit(content: &[u8], edits: &[Edit<'_>]) -> Result<Edited, ToolResult> {
    let encoding = encoding(content);
    let mut notes = Vec::new();
    let content = within(content, encoding, |text| {
        let mut text = Cow::Borrowed(text);
        for (index, edit) in edits.iter().enumerate() {
            text = Cow::Owned(edit_once(&text, edit, encoding, index + 1, &mut notes)?);
        }
        Ok(text.into_owned())
    })?;
    Ok(Edited { content, notes })
}

/// Changes the text of a file by `change`, which adds nothing but ASCII if `adds_ascii_only`.
///
/// # Errors
/// The refusal of `change`, and of a file in whose encoding this cannot be written.
pub(super) fn with_text(
    content: &[u8],
    adds_ascii_only: bool,
    change: impl FnOnce(&[u8]) -> Result<Vec<u8>, ToolResult>,
) -> Result<Vec<u8>, ToolResult> {
    let encoding = encoding(content);
    if encoding == Encoding::Other && !adds_ascii_only {
        let why = "The file is not UTF-8, so only ASCII text can be added. Nothing was written.";
        return Err(ToolResult::fatal("EDIT_ENCODING", why));
    }
    within(content, encoding, change)
}

fn within(
    content: &[u8],
    encoding: Encoding,
    change: impl FnOnce(&[u8]) -> Result<Vec<u8>, ToolResult>,
) -> Result<Vec<u8>, ToolResult> {
    let text = change(&decode(content, encoding)?)?;
    match encoding {
        Encoding::Utf8 | Encoding::Other => Ok(text),
        Encoding::Utf16Le => encode(&text, u16::to_le_bytes),
        Encoding::Utf16Be => encode(&text, u16::to_be_bytes),
    }
}

fn edit_once(
    text: &[u8],
    edit: &Edit<'_>,
    encoding: Encoding,
    number: usize,
    notes: &mut Vec<String>,
) -> Result<Vec<u8>, ToolResult> {
    let refuse = |code: &str, why: String| {
        ToolResult::fatal(code, format!("Edit {number}: {why} Nothing was written."))
    };
    if edit.old.is_empty() {
        return Err(refuse(
            "EDIT_INVALID",
            "old is empty; write_file replaces a whole file.".into(),
        ));
    }
    if edit.old == edit.new {
        return Err(refuse("EDIT_INVALID", "old and new are the same.".into()));
    }
    if encoding == Encoding::Other && !(edit.old.is_ascii() && edit.new.is_ascii()) {
        let why = "the file is not UTF-8, so only ASCII text in it can be replaced by ASCII text.";
        return Err(refuse("EDIT_ENCODING", why.into()));
    }
    let found = find(text, edit.old.as_bytes(), edit.new.as_bytes());
    let is_tolerant = !matches!(found.tolerance, Tolerance::Exact | Tolerance::Endings);
    if found.places.is_empty() || (is_tolerant && edit.old.trim().is_empty()) {
        let why = "old is not in the file; read_file shows what is.".into();
        return Err(refuse("EDIT_NOT_FOUND", why));
    }
    if found.places.len() > 1 && (!edit.replace_all || is_tolerant) {
        return Err(refuse("EDIT_AMBIGUOUS", ambiguous(text, &found.places, found.tolerance)));
    }
    if encoding == Encoding::Other && found.places.iter().any(|place| cuts_a_character(text, place))
    {
        let why = "old may begin inside a character of more than one byte; let it begin elsewhere.";
        return Err(refuse("EDIT_ENCODING", why.into()));
    }
    notes.extend(match found.tolerance {
        Tolerance::Exact => None,
        Tolerance::Endings => Some(format!("[Edit {number} was matched with other line endings.]")),
        Tolerance::TrailingBlanks => {
            Some(format!("[Edit {number} was matched with other blanks at line ends.]"))
        }
        Tolerance::Indentation => {
            Some(format!("[Edit {number} was matched with another indentation, and so indented.]"))
        }
    });
    let mut edited = Vec::with_capacity(text.len() + found.new.len());
    let mut from = 0;
    for place in &found.places {
        // Places may overlap; then the first one stands.
        if place.start < from {
            continue;
        }
        let place = &with_whole_ending(text, place, from);
        edited.extend_from_slice(text.get(from..place.start).unwrap_or_default());
        edited.extend_from_slice(&with_endings_of(text, place, &found.new));
        from = place.end;
    }
    edited.extend_from_slice(text.get(from..).unwrap_or_default());
    Ok(edited)
}

/// A place that begins with a line ending takes in all of it.
fn with_whole_ending(text: &[u8], place: &Range<usize>, from: usize) -> Range<usize> {
    let splits = text.get(place.start) == Some(&b'\n')
        && place.start > from
        && text.get(place.start - 1) == Some(&b'\r');
    if splits { place.start - 1..place.end } else { place.clone() }
}

fn ambiguous(text: &[u8], places: &[Range<usize>], tolerance: Tolerance) -> String {
    let line = |place: &Range<usize>| {
        let before = text.get(..place.start).unwrap_or_default();
        memchr::memchr_iter(b'\n', before).count() + 1
    };
    let lines: Vec<String> =
        places.iter().take(MAX_LINES_TOLD).map(|place| line(place).to_string()).collect();
    let more = if places.len() > MAX_LINES_TOLD { " and others" } else { "" };
    let like = if tolerance == Tolerance::Exact { "" } else { "something like " };
    format!(
        "{like}old is in the file {} times, at lines {}{more}. Take in more of what is around the \
         place that is meant, or set replace_all.",
        places.len(),
        lines.join(", ")
    )
}

/// The new text with the line endings of what it replaces, line by line; where it has more lines,
/// with the last of them; where it replaces none, with those around it. A text that has `\r\n`
/// itself, or is put where there are no lines, is left as it is.
fn with_endings_of<'a>(text: &[u8], place: &Range<usize>, new: &'a [u8]) -> Cow<'a, [u8]> {
    if !new.contains(&b'\n') || new.windows(2).any(|pair| pair == b"\r\n") {
        return Cow::Borrowed(new);
    }
    let has_return =
        |end: usize| end.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'\r');
    let inside = memchr::memchr_iter(b'\n', text.get(place.clone()).unwrap_or_default());
    let mut returns: Vec<bool> = inside.map(|end| has_return(place.start + end)).collect();
    if returns.is_empty() {
        let after = text.get(place.end..).and_then(|rest| memchr::memchr(b'\n', rest));
        let before = text.get(..place.start).and_then(|rest| memchr::memrchr(b'\n', rest));
        match after.map(|end| place.end + end).or(before) {
            Some(end) => returns.push(has_return(end)),
            None => return Cow::Borrowed(new),
        }
    }
    let last = returns.last().copied().unwrap_or(false);
    let mut returns = returns.into_iter();
    let mut converted = Vec::with_capacity(new.len());
    for byte in new {
        if *byte == b'\n' && returns.next().unwrap_or(last) {
            converted.push(b'\r');
        }
        converted.push(*byte);
    }
    Cow::Owned(converted)
}

fn encoding(content: &[u8]) -> Encoding {
    if content.starts_with(b"\xff\xfe") {
        Encoding::Utf16Le
    } else if content.starts_with(b"\xfe\xff") {
        Encoding::Utf16Be
    } else if std::str::from_utf8(content).is_ok() {
        Encoding::Utf8
    } else {
        Encoding::Other
    }
}

/// The text in which places are looked for; for UTF-16 in UTF-8, with its mark.
fn decode(content: &[u8], encoding: Encoding) -> Result<Cow<'_, [u8]>, ToolResult> {
    let unit: fn([u8; 2]) -> u16 = match encoding {
        Encoding::Utf8 | Encoding::Other => return Ok(Cow::Borrowed(content)),
        Encoding::Utf16Le => u16::from_le_bytes,
        Encoding::Utf16Be => u16::from_be_bytes,
    };
    let (pairs, rest) = content.as_chunks::<2>();
    let text: Result<String, _> =
        char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect();
    match text {
        Ok(text) if rest.is_empty() => Ok(Cow::Owned(text.into_bytes())),
        _ => Err(ToolResult::fatal(
            "EDIT_ENCODING",
            "The file begins as UTF-16 and is damaged further on; it is left as it is.",
        )),
    }
}

fn encode(text: &[u8], unit: fn(u16) -> [u8; 2]) -> Result<Vec<u8>, ToolResult> {
    let text = std::str::from_utf8(text).map_err(|error| {
        ToolResult::fatal("EDIT_ENCODING", format!("The edited text is no text: {error}."))
    })?;
    Ok(text.encode_utf16().flat_map(unit).collect())
}

/// In encodings such as GBK the second byte of a character may look like a letter. True when the
/// first byte of the place may be one.
fn cuts_a_character(text: &[u8], place: &Range<usize>) -> bool {
    let before = text.get(..place.start).unwrap_or_default();
    let high = before.iter().rev().take_while(|byte| **byte >= 0x80).count();
    let may_be_second = text.get(place.start).is_some_and(|byte| (0x40..=0x7e).contains(byte));
    high % 2 == 1 && may_be_second
}

#[cfg(test)]
mod tests;

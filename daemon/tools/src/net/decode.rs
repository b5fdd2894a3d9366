//! Bytes to text: the charset of the mark at the start, of the header, then of the page itself.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How far a page is searched for what it says of its own charset, in bytes, as browsers do.
const MAX_SEARCHED: usize = 1024;

/// A text, and what must be told of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) note: Option<String>,
}

/// Reads a body; `label` is the charset of its header.
pub(super) fn decode(bytes: &[u8], label: Option<&str>) -> Decoded {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let header = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = marked.unwrap_or_else(|| guess(bytes, header));
    let (text, _, has_errors) = encoding.decode(bytes);
    let note = has_errors
        .then(|| format!("Bytes that are not {} are shown as \u{fffd}.", encoding.name()));
    Decoded { text: text.into_owned(), note }
}

fn guess(bytes: &[u8], header: Option<&'static Encoding>) -> &'static Encoding {
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    match header {
        // Servers say these by default, whatever they serve.
        Some(encoding) if encoding == WINDOWS_1252 && is_utf8 => UTF_8,
        Some(encoding) if encoding == UTF_8 && !is_utf8 => meta(bytes).unwrap_or(UTF_8),
        Some(encoding) => encoding,
        None => meta(bytes).unwrap_or(if is_utf8 { UTF_8 } else { WINDOWS_1252 }),
    }
}

/// A body that was cut may end within a character of UTF-8.
pub(super) fn without_half_character(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).unwrap_or_default()
        }
        _ => bytes,
    }
}

/// What `<meta charset=…>`, `<meta http-equiv content="…charset=…">` or an XML declaration says.
fn meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..bytes.len().min(MAX_SEARCHED)).unwrap_or_default();
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let value = |after: &str| {
        let value = after.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(['"', '\'', ';', '>', '/', '?', ' ']).unwrap_or(value.len());
        Encoding::for_label(value.get(..end)?.as_bytes())
    };
    let in_tags = |tag: &str, name: &str| {
        start.split(tag).skip(1).find_map(|rest| {
            let rest = rest.split('>').next().unwrap_or_default();
            rest.split(name).skip(1).find_map(value)
        })
    };
    let said = in_tags("<meta", "charset").or_else(|| in_tags("<?xml", "encoding"))?;
    // A page whose text could be searched is not in UTF-16, whatever it says (HTML 13.2.3.2).
    Some(if said.is_ascii_compatible() { said } else { UTF_8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], label: Option<&str>, expect: &str) {
        let decoded = decode(bytes, label);
        assert_eq!((decoded.text.as_str(), decoded.note), (expect, None), "{label:?}");
    }

    #[test]
    fn wb_02_charsets_come_from_the_mark_the_header_or_the_page() {
        let kanji = b"\x93\xfa\x96\x7b";
        let page = [b"<meta charset=\"Shift_JIS\">".as_slice(), kanji].concat();
        check(&page, None, "<meta charset=\"Shift_JIS\">日本");
        check(&page, Some("no such charset"), "<meta charset=\"Shift_JIS\">日本");
        check(kanji, Some("shift_jis"), "日本");
        let old = [
            b"<meta http-equiv='Content-Type' content='text/html; charset=gb2312'>".as_slice(),
            b"\xd6\xd0",
        ];
        check(
            &old.concat(),
            None,
            "<meta http-equiv='Content-Type' content='text/html; charset=gb2312'>中",
        );
        check(b"\xd6\xd0\xce\xc4", Some("GBK"), "中文");
        check(b"\xff\xfea\0\x16\x4e", Some("utf-8"), "a世");
        check(b"\xef\xbb\xbfcaf\xc3\xa9", Some("iso-8859-1"), "café");
        check("café 世".as_bytes(), Some("iso-8859-1"), "café 世");
        check("世".as_bytes(), None, "世");
        check(b"caf\xe9", Some("ISO-8859-1"), "café");
        check(
            b"<?xml version='1.0' encoding='koi8-r'?>\xc4",
            None,
            "<?xml version='1.0' encoding='koi8-r'?>д",
        );
        let labelled_wrongly = [b"<meta charset=Shift_JIS>".as_slice(), kanji].concat();
        check(&labelled_wrongly, Some("utf-8"), "<meta charset=Shift_JIS>日本");
    }

    #[test]
    fn wb_02_bytes_that_do_not_fit_are_noted() {
        let decoded = decode(b"caf\xe9!", Some("utf-8"));
        assert_eq!(decoded.text, "caf\u{fffd}!");
        assert_eq!(
            decoded.note.as_deref(),
            Some("Bytes that are not UTF-8 are shown as \u{fffd}.")
        );
    }
}

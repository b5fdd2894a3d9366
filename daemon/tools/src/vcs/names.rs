//! Names of files as git lists them: quoted where they hold anything but plain ASCII.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::fs::is_secret_place;

/// Makes git quote every name that is not plain, so that no byte of it is lost on the way.
pub(super) const QUOTED: (&str, &str) = ("core.quotePath", "true");

/// The bytes of a name that git may have quoted.
pub(super) fn unquoted(listed: &str) -> Vec<u8> {
    let Some(quoted) = listed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return listed.as_bytes().to_vec();
    };
    let mut name = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            name.push(byte);
            continue;
        }
        let Some(escaped) = bytes.next() else { break };
        name.push(match escaped {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            // Three octal digits, the first of which is 3 at most.
            first @ b'0'..=b'3' => bytes
                .by_ref()
                .take(2)
                .fold(first - b'0', |value, digit| (value << 3) | (digit.wrapping_sub(b'0') & 7)),
            other => other,
        });
    }
    name
}

/// True for files that hold secrets.
pub(super) fn is_secret(name: &[u8]) -> bool {
    is_secret_place(Path::new(OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_name_is_read_as_git_means_it() {
        let check = |listed: &str, expect: &[u8]| assert_eq!(unquoted(listed), expect, "{listed}");
        check("a b.txt", b"a b.txt");
        check(r#""a\"b\\c""#, br#"a"b\c"#);
        check(r#""\344\270\226.pem""#, "世.pem".as_bytes());
        check(r#""\377\001x""#, b"\xff\x01x");
        check(r#""a\tb\nc\rd""#, b"a\tb\nc\rd");
        check(r#""\3771""#, b"\xff1");
        check(r#"""#, br#"""#);
    }
}

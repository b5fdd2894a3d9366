//! Telling secrets from other texts, so that they are never kept: memories go to models and into
//! exports. Better a note too few than a password too many.

use std::sync::LazyLock;

use regex::Regex;

/// What a pattern finds, and the pattern.
const PATTERNS: &[(&str, &str)] = &[
    ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY"),
    (
        "an access token",
        r"(?x) \b(?: sk-[A-Za-z0-9_-]{16,} | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}
        | glpat-[A-Za-z0-9_-]{16,} | xox[abeprs]-[A-Za-z0-9-]{10,} | npm_[A-Za-z0-9]{30,}
        | hf_[A-Za-z0-9]{20,} | AKIA[0-9A-Z]{16} | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{20,}
        | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\. )",
    ),
    ("a password in a URL", r"[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s@]+@"),
    (
        "a password",
        r#"(?xi) (?: (?:\b|_)(?: passwords? | passwd | pwd | passphrase | passcode | pin | secret | token
        | (?:api|access|secret)[\ _-]?(?:access[\ _-]?)?key | credentials? | bearer | authorization ) | 密码 | 口令 | 密钥 )
        \s* (?: \bis\b | = | : | ： | 是 | 为 )? \s*
        ["'`]? (?-i: [^\s"'`]*[0-9][^\s"'`]{3,} | [^\s"'`]{3,}[0-9][^\s"'`]* | [^\s"'`]*[!@\#$%^&*][^\s"'`]{4,} )"#,
    ),
    (
        "a password",
        r#"(?xim) (?: (?:\b|_)(?: passwords? | passwd | pwd | passphrase ) | 密码 | 口令 )
        \s* (?: \bis\b | = | : | ： | 是 | 为 ) \s* ["'`]? [^\s"'`]{6,} ["'`]? \s* $"#,
    ),
];

static COMPILED: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let patterns = PATTERNS.iter();
    // A test holds that all of them compile.
    patterns.filter_map(|(what, pattern)| Some((*what, Regex::new(pattern).ok()?))).collect()
});

/// Shortest run of characters that is looked at as a possible key.
const KEY_CHARS: usize = 32;

/// What the text holds that looks like a secret.
pub(crate) fn found(text: &str) -> Option<&'static str> {
    let known = COMPILED.iter().find(|(_what, pattern)| pattern.is_match(text));
    known.map(|(what, _pattern)| *what).or_else(|| {
        let is_key_char = |c: char| c.is_ascii_alphanumeric() || "+/_-=".contains(c);
        text.split(|c| !is_key_char(c)).any(looks_random).then_some("a key")
    })
}

/// Digits and both cases in no order. Digests and ids in hexadecimal, paths and names are none.
fn looks_random(run: &str) -> bool {
    let changes = run
        .as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if kind(*a) != kind(*b)))
        .count();
    run.len() >= KEY_CHARS
        && !run.contains(['/', '-'])
        && run.bytes().any(|c| c.is_ascii_digit())
        && run.bytes().any(|c| c.is_ascii_lowercase())
        && run.bytes().any(|c| c.is_ascii_uppercase())
        && changes * 4 > run.len()
}

fn kind(c: u8) -> u8 {
    match c {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(COMPILED.len(), PATTERNS.len());
    }

    #[test]
    fn secrets_are_told_from_other_texts() {
        let key = "sk-proj-".to_owned() + &"a1B2".repeat(8);
        for (text, expect) in [
            ("my password is hunter22", Some("a password")),
            ("API key: 9f8e7d6c5b", Some("a password")),
            ("数据库密码是 abc12345", Some("a password")),
            (&*format!("use {key} for the tests"), Some("an access token")),
            ("postgres://ann:s3cret@db/prod", Some("a password in a URL")),
            ("-----BEGIN OPENSSH PRIVATE KEY-----", Some("a private key")),
            ("the id is Zx8Kq2Lm9Pw4Rt6Yv1Bn3Cd5Fg7Hj0Ks", Some("a key")),
            ("DB_PASSWORD=hunter22", Some("a password")),
            ("GITHUB_TOKEN=abc123def456", Some("a password")),
            ("pwd=hunter22", Some("a password")),
            ("the login is ann with password hunter22", Some("a password")),
            ("Authorization: Bearer abc123def456", Some("a password")),
            ("the root password is swordfish", Some("a password")),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", Some("a password")),
            ("the password is kept in pass under work/db", None),
            ("never print the token: it is in the keyring", None),
            ("fixed in 3f786850e387550fdab836ed7e6dc881de23001b", None),
            ("session 01JD9ZK3V7Q8W2X4Y6A8B0C2D4", None),
            ("the code lives in src/VeryLongModuleName2/AnotherLongName3/more", None),
            ("她喜欢在早上八点开会", None),
        ] {
            assert_eq!(found(text), expect, "{text}");
        }
    }
}

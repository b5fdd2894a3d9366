//! Errors of syntax in what was just written, told at once.

use std::path::Path;

use tree_sitter::{Language, Node, Parser};

/// Largest text that is looked at, in bytes.
const MAX_TEXT: usize = 1024 * 1024;

/// Most errors that are told.
const MAX_ERRORS: usize = 3;

/// A note on the errors of syntax in a file, in brackets. None when there are none, and when its
/// language is not known here.
pub(super) fn note(place: &Path, content: &[u8]) -> Option<String> {
    if content.len() > MAX_TEXT {
        return None;
    }
    let extension = place.extension().and_then(|extension| extension.to_str())?;
    let text = std::str::from_utf8(content).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let errors = match extension.to_ascii_lowercase().as_str() {
        "rs" => parsed(text, &tree_sitter_rust::LANGUAGE.into())?,
        "py" | "pyi" => parsed(text, &tree_sitter_python::LANGUAGE.into())?,
        "js" | "mjs" | "cjs" | "jsx" => parsed(text, &tree_sitter_javascript::LANGUAGE.into())?,
        "sh" | "bash" => parsed(text, &tree_sitter_bash::LANGUAGE.into())?,
        "json" => json(text),
        "toml" => toml(text),
        _ => return None,
    };
    let told: Vec<&str> = errors.iter().take(MAX_ERRORS).map(String::as_str).collect();
    let more = if errors.len() > MAX_ERRORS { "; and others" } else { "" };
    (!told.is_empty()).then(|| format!("[Errors of syntax: {}{more}.]", told.join("; ")))
}

fn parsed(text: &str, language: &Language) -> Option<Vec<String>> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let tree = parser.parse(text, None)?;
    let mut errors = Vec::new();
    let mut nodes = vec![tree.root_node()];
    while let Some(node) = nodes.pop() {
        if node.is_error() || node.is_missing() {
            errors.push(describe(node));
            if errors.len() > MAX_ERRORS {
                break;
            }
        } else if node.has_error() {
            // The last is taken first, so that errors come in order.
            let mut below: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
            below.reverse();
            nodes.extend(below);
        }
    }
    Some(errors)
}

fn describe(node: Node<'_>) -> String {
    let line = node.start_position().row + 1;
    if node.is_missing() {
        format!("line {line}: '{}' is missing", node.kind())
    } else {
        format!("line {line}: it is not understood from here")
    }
}

fn json(text: &str) -> Vec<String> {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Vec::new(),
        Err(error) => vec![format!("line {}: {error}", error.line())],
    }
}

fn toml(text: &str) -> Vec<String> {
    match text.parse::<toml::Table>() {
        Ok(_) => Vec::new(),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
            vec![format!("line {line}: {}", error.message())]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_syntax_are_told_with_their_lines() {
        let check = |name: &str, text: &str, expect: Option<&str>| {
            let note = note(Path::new(name), text.as_bytes());
            match expect {
                None => assert_eq!(note, None, "{name}"),
                Some(part) => assert!(
                    note.as_ref().is_some_and(|note| note.contains(part)),
                    "{name}: {note:?}"
                ),
            }
        };
        check("a.rs", "fn main() {}\n", None);
        check("a.rs", "fn main() {\n    let x = ;\n}\n", Some("line 2"));
        check("a.py", "def f():\n    return 1\n", None);
        check("a.py", "x = 1\ndef f(:\n    return\n", Some("line 2"));
        check("a.js", "const x = {a: 1};\n", None);
        check("a.js", "const x = {a: ;\n", Some("line 1"));
        check("a.sh", "if true; then echo; fi\n", None);
        check("a.sh", "if true; then\n", Some("line"));
        check("a.json", "{\"a\": 1}", None);
        check("a.json", "{\n\"a\": 1,\n}", Some("line 3"));
        check("a.toml", "a = 1\n", None);
        check("a.toml", "a = 1\nb = \n", Some("line 2"));
        check("a.txt", "fn (", None);
        check("Makefile", "fn (", None);
    }
}

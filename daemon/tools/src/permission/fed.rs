//! What a command of a script is given as its input, as far as the script says it.

use tree_sitter::Node;

use super::script::literal;

/// Most things around a command that are looked at for its input.
const MAX_AROUND: usize = 64;

/// The input of a command.
#[derive(Debug, Default)]
pub(super) struct Fed {
    /// Texts that may be it. Each holds what commands it has even where it is not known exactly.
    pub(super) texts: Vec<String>,
    /// It comes from somewhere that the script does not tell, or what it holds is made up.
    pub(super) is_unknown: bool,
}

/// Looks for the input of a command, at itself and at all that is around it.
pub(super) fn fed(command: Node<'_>, script: &str) -> Fed {
    let mut fed = Fed::default();
    fed.redirects(command, script);
    let mut from = command;
    for _ in 0..MAX_AROUND {
        let Some(around) = from.parent() else { return fed };
        match around.kind() {
            // The first has none of it, and in a here-document's line the bar itself comes first.
            "pipeline" => fed.is_unknown |= around.child(0) != Some(from),
            "redirected_statement" if around.child_by_field_name("body") == Some(from) => {
                fed.redirects(around, script);
            }
            // Whoever calls it decides.
            "function_definition" => fed.is_unknown = true,
            "process_substitution" => {
                fed.is_unknown |=
                    script.get(around.byte_range()).is_none_or(|text| text.starts_with('>'));
            }
            _ => {}
        }
        from = around;
    }
    fed.is_unknown = true;
    fed
}

impl Fed {
    /// True when there is none but what the whole script is given.
    pub(super) fn is_nothing(&self) -> bool {
        self.texts.is_empty() && !self.is_unknown
    }

    /// Looks at the redirections of a node.
    fn redirects(&mut self, node: Node<'_>, script: &str) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "file_redirect" => self.file(child, script),
                "herestring_redirect" => self.here_string(child, script),
                "heredoc_redirect" => {
                    self.here_document(child, script);
                    self.redirects(child, script);
                }
                _ => {}
            }
        }
    }

    fn file(&mut self, redirect: Node<'_>, script: &str) {
        let text = script.get(redirect.byte_range()).unwrap_or_default();
        let text: String = text.split_whitespace().collect();
        let from = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_input = from.starts_with('<');
        self.is_unknown |= is_input && from != "</dev/null";
    }

    fn here_string(&mut self, redirect: Node<'_>, script: &str) {
        let mut cursor = redirect.walk();
        let word = redirect.children(&mut cursor).last();
        let text = word.and_then(|word| literal(word, script));
        self.is_unknown |= text.is_none();
        let written = || {
            let text = script.get(word?.byte_range())?;
            Some(text.trim_matches(['"', '\'']).to_owned())
        };
        self.texts.extend(text.or_else(written));
    }

    fn here_document(&mut self, redirect: Node<'_>, script: &str) {
        let mut cursor = redirect.walk();
        let (mut is_literal, mut body) = (false, "");
        for child in redirect.children(&mut cursor) {
            let text = script.get(child.byte_range()).unwrap_or_default();
            match child.kind() {
                // The shell leaves the text alone when its end is quoted.
                "heredoc_start" => is_literal = text.contains(['"', '\'', '\\']),
                "heredoc_body" => body = text,
                _ => {}
            }
        }
        self.is_unknown |= !is_literal && body.contains(['$', '`', '\\']);
        self.texts.push(body.to_owned());
    }
}

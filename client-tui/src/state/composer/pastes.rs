//! Long pasted texts, which stand in the message as a token until it is sent.

/// Lines from which a paste becomes a token.
const LINES: usize = 8;
/// Characters from which it does.
const CHARS: usize = 1_000;

/// Pasted texts by their tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Pastes {
    known: Vec<Paste>,
    /// Counts them, so that no token stands for two.
    count: usize,
}

#[derive(Debug, Clone)]
struct Paste {
    token: String,
    text: String,
}

impl Pastes {
    /// What stands for a pasted text: itself when it is short, else a token.
    pub(super) fn add(&mut self, text: String) -> String {
        let lines = text.lines().count();
        let chars = text.chars().count();
        if lines < LINES && chars < CHARS {
            return text;
        }
        self.count += 1;
        let what = if lines > 1 { format!("{lines} lines") } else { format!("{chars} characters") };
        let number = if self.count > 1 { format!(" #{}", self.count) } else { String::new() };
        let token = format!("[pasted {what}{number}]");
        self.known.push(Paste { token: token.clone(), text });
        token
    }

    /// The text with each token replaced by what it stands for.
    pub(super) fn expand(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut left: Vec<&Paste> = self.known.iter().collect();
        while let Some((at, index)) = left
            .iter()
            .enumerate()
            .filter_map(|(index, paste)| Some((rest.find(&paste.token)?, index)))
            .min()
        {
            let paste = left.remove(index);
            out.push_str(rest.get(..at).unwrap_or_default());
            out.push_str(&paste.text);
            rest = rest.get(at + paste.token.len()..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }

    /// Bytes that expanding adds at most.
    pub(super) fn len(&self) -> usize {
        self.known.iter().map(|paste| paste.text.len()).sum()
    }

    /// Where tokens stand in a line, in characters.
    pub(super) fn spans<'p>(&'p self, line: &'p str) -> impl Iterator<Item = (usize, usize)> + 'p {
        self.known.iter().filter_map(|paste| {
            let at = line.find(&paste.token)?;
            let start = line.get(..at)?.chars().count();
            Some((start, start + paste.token.chars().count()))
        })
    }

    /// Tokens that are in a text.
    pub(super) fn present<'p>(&'p self, lines: &'p [String]) -> impl Iterator<Item = &'p str> {
        let tokens = self.known.iter().map(|paste| paste.token.as_str());
        tokens.filter(|token| lines.iter().any(|line| line.contains(token)))
    }

    /// Forgets what does not stand in the text any more, nor can come back.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_paste_is_itself_and_a_long_one_a_token_that_expands() {
        let mut pastes = Pastes::default();
        assert_eq!(pastes.add("a\nb".to_owned()), "a\nb");
        let long = "x\n".repeat(120);
        assert_eq!(pastes.add(long.clone()), "[pasted 120 lines]");
        assert_eq!(pastes.add(long.clone()), "[pasted 120 lines #2]");
        let wide = "世".repeat(1_000);
        assert_eq!(pastes.add(wide.clone()), "[pasted 1000 characters #3]");
        let text = "a [pasted 120 lines #2] b [pasted 1000 characters #3]";
        assert_eq!(pastes.expand(text), format!("a {long} b {wide}"));
        assert_eq!(pastes.expand("[pasted 120 lines"), "[pasted 120 lines");
    }

    #[test]
    fn what_is_in_a_paste_is_no_token() {
        let mut pastes = Pastes::default();
        let first = format!("[pasted 9 lines #2]{}", "\n".repeat(8));
        let token = pastes.add(format!("{first}\n"));
        let second = pastes.add("y\n".repeat(9));
        assert_eq!((token.as_str(), second.as_str()), ("[pasted 9 lines]", "[pasted 9 lines #2]"));
        assert_eq!(pastes.expand(&token), format!("{first}\n"));
    }

    #[test]
    fn spans_are_told_in_characters() {
        let mut pastes = Pastes::default();
        let token = pastes.add("y\n".repeat(9));
        let line = format!("世{token}");
        assert_eq!(pastes.spans(&line).collect::<Vec<_>>(), [(1, 1 + token.len())]);
    }
}

//! Fenced code, highlighted line by line as it comes.

use std::sync::LazyLock;

use anstyle::RgbColor;
use syntect::highlighting::{HighlightIterator, HighlightState, Highlighter, Theme, ThemeSet};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use crate::format::styled::{Role, Row, Span};

/// Longest line that is highlighted, in bytes: the grammars are regular expressions.
const MAX_HIGHLIGHTED_BYTES: usize = 2_000;
const GUTTER: &str = "  ";

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);
static DARK: LazyLock<Option<Theme>> = LazyLock::new(|| theme("base16-ocean.dark"));
static LIGHT: LazyLock<Option<Theme>> = LazyLock::new(|| theme("base16-ocean.light"));

fn theme(name: &str) -> Option<Theme> {
    ThemeSet::load_defaults().themes.remove(name)
}

/// How fenced code is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CodeTheme {
    /// Not at all, which costs nothing.
    #[default]
    Plain,
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
}

impl CodeTheme {
    fn colors(self) -> Option<&'static Theme> {
        match self {
            Self::Plain => None,
            Self::Dark => DARK.as_ref(),
            Self::Light => LIGHT.as_ref(),
        }
    }
}

/// An open code block.
#[derive(Debug)]
pub(super) struct CodeBlock {
    mark: char,
    length: usize,
    indent: usize,
    highlighting: Option<Highlighting>,
}

/// Where the grammar stands, and the colours in use since the block began.
#[derive(Debug)]
struct Highlighting {
    parse: ParseState,
    highlight: HighlightState,
    theme: &'static Theme,
}

impl CodeBlock {
    /// Opens a block if the line is a fence.
    pub(super) fn open(line: &str, theme: CodeTheme) -> Option<Self> {
        let body = line.trim_start();
        let (mark, length) = fence(body)?;
        let info = body.trim_start_matches(mark).trim();
        // A backtick in the info string means inline code, not a fence.
        if mark == '`' && info.contains('`') {
            return None;
        }
        let language = info.split([' ', ',', '{']).next().unwrap_or("");
        let highlighting = theme.colors().and_then(|theme| {
            let parse = ParseState::new(syntax(language)?);
            let highlight = HighlightState::new(&Highlighter::new(theme), ScopeStack::new());
            Some(Highlighting { parse, highlight, theme })
        });
        Some(Self { mark, length, indent: line.len() - body.len(), highlighting })
    }

    /// Tells whether a whole line is the closing fence.
    pub(super) fn closes(&self, line: &str) -> bool {
        let body = line.trim();
        fence(body).is_some_and(|(mark, length)| mark == self.mark && length >= self.length)
            && body.chars().all(|character| character == self.mark)
    }

    /// Tells whether a line without its end may become the closing fence.
    pub(super) fn may_close(&self, partial: &str) -> bool {
        partial.trim().chars().all(|character| character == self.mark)
    }

    /// Renders a whole line.
    pub(super) fn line(&mut self, line: &str) -> Row {
        let line = self.without_indent(line);
        let spans = self.highlighting.as_mut().and_then(|state| state.spans(line));
        Row::from_iter(spans.unwrap_or_else(|| plain(line)))
    }

    /// Shows a line without its end. Not highlighted: the grammar goes on from whole lines.
    pub(super) fn preview(&self, partial: &str) -> Vec<Span> {
        plain(self.without_indent(partial))
    }

    fn without_indent<'l>(&self, line: &'l str) -> &'l str {
        let blanks = line.bytes().take(self.indent).take_while(|byte| *byte == b' ').count();
        line.get(blanks..).unwrap_or(line)
    }
}

impl Highlighting {
    fn spans(&mut self, line: &str) -> Option<Vec<Span>> {
        if line.len() > MAX_HIGHLIGHTED_BYTES {
            return None;
        }
        let highlighter = Highlighter::new(self.theme);
        let with_end = format!("{line}\n");
        let changes = self.parse.parse_line(&with_end, &SYNTAXES).ok()?;
        let colored =
            HighlightIterator::new(&mut self.highlight, &changes, &with_end, &highlighter);
        let mut spans = vec![Span::new(GUTTER, Role::Plain)];
        for (look, text) in colored {
            let text = text.trim_end_matches('\n');
            if !text.is_empty() {
                let shade = look.foreground;
                spans.push(Span::new(text, Role::Syntax(RgbColor(shade.r, shade.g, shade.b))));
            }
        }
        Some(spans)
    }
}

fn plain(line: &str) -> Vec<Span> {
    vec![Span::new(GUTTER, Role::Plain), Span::new(line, Role::Code)]
}

fn fence(body: &str) -> Option<(char, usize)> {
    let mark = body.chars().next().filter(|character| matches!(character, '`' | '~'))?;
    let length = body.chars().take_while(|character| *character == mark).count();
    (length >= 3).then_some((mark, length))
}

fn syntax(language: &str) -> Option<&'static SyntaxReference> {
    if language.is_empty() || language.len() > 32 {
        return None;
    }
    // Names that models use and the grammars do not know.
    let language = match language.to_ascii_lowercase().as_str() {
        "shell" | "console" | "zsh" => "bash".to_owned(),
        "typescript" | "ts" | "tsx" | "jsx" => "js".to_owned(),
        "jsonc" | "json5" | "jsonl" => "json".to_owned(),
        "golang" => "go".to_owned(),
        other => other.to_owned(),
    };
    SYNTAXES.find_syntax_by_token(&language)
}

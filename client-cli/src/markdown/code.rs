//! Fenced code, highlighted line by line as it comes.

use std::sync::LazyLock;

use anstyle::{Ansi256Color, Color, RgbColor, Style};
use syntect::highlighting::{HighlightIterator, HighlightState, Highlighter, Theme, ThemeSet};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use super::wrap::{Span, join};
use crate::style;

/// Longest line that is highlighted, in bytes: the grammars are regular expressions.
const MAX_HIGHLIGHTED_BYTES: usize = 2_000;
const THEME: &str = "base16-ocean.dark";
const GUTTER: &str = "  ";

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);
static THEME_IN_USE: LazyLock<Option<Theme>> =
    LazyLock::new(|| ThemeSet::load_defaults().themes.remove(THEME));

/// An open code block.
#[derive(Debug)]
pub(super) struct CodeBlock {
    mark: char,
    length: usize,
    indent: usize,
    state: Option<(ParseState, HighlightState)>,
}

impl CodeBlock {
    /// Opens a block if the line is a fence.
    pub(super) fn open(line: &str) -> Option<Self> {
        let body = line.trim_start();
        let (mark, length) = fence(body)?;
        let info = body.trim_start_matches(mark).trim();
        // A backtick in the info string means inline code, not a fence.
        if mark == '`' && info.contains('`') {
            return None;
        }
        let language = info.split([' ', ',', '{']).next().unwrap_or("");
        let state = syntax(language).zip(THEME_IN_USE.as_ref()).map(|(syntax, theme)| {
            let highlighter = Highlighter::new(theme);
            (ParseState::new(syntax), HighlightState::new(&highlighter, ScopeStack::new()))
        });
        Some(Self { mark, length, indent: line.len() - body.len(), state })
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
    pub(super) fn line(&mut self, line: &str, colored: bool) -> String {
        let line = self.without_indent(line);
        let spans = match &mut self.state {
            Some(state) if colored => highlight(state, line),
            _ => None,
        };
        join(&spans.unwrap_or_else(|| plain(line)), colored)
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

fn plain(line: &str) -> Vec<Span> {
    vec![Span::new(GUTTER, Style::new()), Span::new(line, style::CODE)]
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

fn highlight(state: &mut (ParseState, HighlightState), line: &str) -> Option<Vec<Span>> {
    if line.len() > MAX_HIGHLIGHTED_BYTES {
        return None;
    }
    let highlighter = Highlighter::new(THEME_IN_USE.as_ref()?);
    let (parse, highlight) = state;
    let with_end = format!("{line}\n");
    let changes = parse.parse_line(&with_end, &SYNTAXES).ok()?;
    let mut spans = vec![Span::new(GUTTER, Style::new())];
    for (look, text) in HighlightIterator::new(highlight, &changes, &with_end, &highlighter) {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            let shade = look.foreground;
            spans.push(Span::new(
                text,
                Style::new().fg_color(Some(color(shade.r, shade.g, shade.b))),
            ));
        }
    }
    Some(spans)
}

/// True colour where the terminal says that it has it, else the nearest of the 256.
fn color(red: u8, green: u8, blue: u8) -> Color {
    static TRUE_COLOR: LazyLock<bool> = LazyLock::new(|| {
        std::env::var("COLORTERM").is_ok_and(|value| value == "truecolor" || value == "24bit")
    });
    if *TRUE_COLOR {
        return Color::Rgb(RgbColor(red, green, blue));
    }
    // The cube has the levels 0, 95, 135, 175, 215, 255 on each axis.
    let level = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        115..155 => 2,
        155..195 => 3,
        195..235 => 4,
        235..=255 => 5_u8,
    };
    Color::Ansi256(Ansi256Color(16 + 36 * level(red) + 6 * level(green) + level(blue)))
}

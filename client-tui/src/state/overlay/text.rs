//! A text that lies on top: scrolled, looked through, wrapped anew for each width.

use agentd_proto::v1;
use agentd_shared::format::diff::{self, Counts, Names};
use agentd_shared::format::facts::Fact;
use agentd_shared::format::{Role, Row, hanging_rows};
use agentd_shared::text::one_line;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{LineInput, Pressed};

/// Columns that a text needs beside its label.
const ROOM: usize = 16;

/// A text and where in it the reader is.
#[derive(Debug)]
pub struct TextOverlay {
    /// What it is.
    pub title: String,
    /// The reply that it waits for.
    pub wants: Option<Wanted>,
    body: Body,
    /// Only rows with this are shown, once something is looked for.
    filter: Option<LineInput>,
    /// Keys go to what is looked for.
    filters: bool,
    top: usize,
    /// Rows of the window, and of the text, as they were drawn last.
    height: usize,
    rows: usize,
}

/// What a reply is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// How the daemon is.
    Status,
    /// Turns and tokens of the session.
    Stats,
    /// What requests cost.
    Usage,
    /// What the session has set out to do.
    Todo,
    /// Its plan.
    Plan,
    /// What is remembered.
    Memories,
    /// What requests are made of.
    Context,
    /// The lines of the summary.
    Summary,
    /// What a line of it was made from.
    Expanded,
    /// What is pinned.
    Pins,
    /// All tools, or one.
    Tools,
    /// What tools have changed.
    Changes,
    /// The newest events.
    Trace,
}

/// A line of a text, before it is wrapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLine {
    /// What stands before its first row; later rows stand as far in.
    pub label: String,
    /// It may hold anything; it is made inert where it becomes a row.
    pub text: String,
    /// What it is.
    pub role: Role,
}

/// What is read.
#[derive(Debug)]
pub enum Body {
    /// It is being fetched.
    Waiting,
    /// Lines.
    Lines(Vec<TextLine>),
    /// Changes of files.
    Changes(Box<v1::ListChangesResponse>),
}

impl TextLine {
    /// A line of what is plain.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::of(Role::Plain, text)
    }

    /// A line of a role.
    pub fn of(role: Role, text: impl Into<String>) -> Self {
        Self { label: String::new(), text: text.into(), role }
    }

    /// What something is called, and what it is.
    pub fn pair(label: &str, width: usize, text: &str) -> Self {
        Self { label: format!("{label:<width$}  "), ..Self::plain(text) }
    }

    /// A fact behind a label of this width.
    pub fn fact(fact: Fact, width: usize) -> Self {
        Self { label: fact.padded_label(width), text: fact.text, role: fact.role }
    }

    /// The line as one text.
    pub fn whole(&self) -> String {
        format!("{}{}", self.label, self.text)
    }

    fn rows(&self, width: usize) -> Vec<Row> {
        let label = Row::new(&self.label, self.role);
        let columns = label.width();
        if columns > 0 && columns + ROOM > width {
            // No room beside the label: it has a row of its own.
            let blank = Row::default().indented(2);
            let mut rows = hanging_rows(&self.label, self.role, (&Row::default(), &blank), width);
            rows.extend(hanging_rows(&self.text, self.role, (&blank, &blank), width));
            return rows;
        }
        hanging_rows(&self.text, self.role, (&label, &Row::default().indented(columns)), width)
    }
}

impl TextOverlay {
    /// A text that is there.
    pub fn new(title: impl Into<String>, body: Body) -> Self {
        Self {
            title: title.into(),
            wants: None,
            body,
            filter: None,
            filters: false,
            top: 0,
            height: 0,
            rows: 0,
        }
    }

    /// A text that will be there when a reply is.
    pub fn waiting(title: impl Into<String>, wants: Wanted) -> Self {
        Self { wants: Some(wants), ..Self::new(title, Body::Waiting) }
    }

    /// Takes what was waited for.
    pub fn fill(&mut self, body: Body) {
        self.body = body;
        self.wants = None;
    }

    /// What is looked for, and whether keys go there.
    pub fn filter(&self) -> Option<(&LineInput, bool)> {
        self.filter.as_ref().map(|filter| (filter, self.filters))
    }

    /// Rows of the window and where they stand: the first one's number and how many there are.
    pub fn window(&mut self, width: usize, height: usize) -> (Vec<Row>, usize, usize) {
        let mut rows = match &self.body {
            Body::Waiting => vec![Row::new("…", Role::Dim)],
            Body::Lines(lines) => self.lines(lines, width),
            Body::Changes(changes) => changed(changes, width),
        };
        if let (Body::Changes(_), Some(filter)) = (&self.body, &self.filter) {
            let sought = filter.text().to_lowercase();
            rows.retain(|row| row.text().to_lowercase().contains(&sought));
        }
        if rows.is_empty() {
            rows.push(Row::new("nothing such is here", Role::Dim));
        }
        (self.height, self.rows) = (height, rows.len());
        self.top = self.top.min(rows.len().saturating_sub(height));
        let shown = rows.iter().skip(self.top).take(height).cloned().collect();
        (shown, self.top, rows.len())
    }

    fn lines(&self, lines: &[TextLine], width: usize) -> Vec<Row> {
        let sought = self.filter.as_ref().map(|filter| filter.text().to_lowercase());
        let fits = |line: &&TextLine| match &sought {
            Some(sought) => line.whole().to_lowercase().contains(sought),
            None => true,
        };
        lines.iter().filter(fits).flat_map(|line| line.rows(width)).collect()
    }

    fn scroll(&mut self, down: isize) {
        let last = self.rows.saturating_sub(self.height);
        self.top = self.top.saturating_add_signed(down).min(last);
    }

    /// Moves by rows, as the wheel does.
    pub fn wheel(&mut self, up: isize) {
        self.scroll(-up);
    }

    /// Takes a pasted text into what is looked for.
    pub fn paste(&mut self, text: &str) {
        if self.filters
            && let Some(filter) = &mut self.filter
        {
            filter.paste(text);
        }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        let page = isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1);
        if self.filters {
            match key.code {
                KeyCode::Enter => self.filters = false,
                KeyCode::Esc => (self.filter, self.filters) = (None, false),
                KeyCode::Up => self.scroll(-1),
                KeyCode::Down => self.scroll(1),
                KeyCode::PageUp => self.scroll(-page),
                KeyCode::PageDown => self.scroll(page),
                _ => {
                    if !self.filter.as_mut().is_some_and(|filter| filter.key(key)) {
                        return Pressed::Other;
                    }
                    self.top = 0;
                }
            }
            return Pressed::Taken;
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return Pressed::Other;
        }
        match key.code {
            KeyCode::Esc if self.filter.is_some() => self.filter = None,
            KeyCode::Esc | KeyCode::Char('q') | KeyCode::Enter => return Pressed::Close,
            KeyCode::Up | KeyCode::Char('k') => self.scroll(-1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll(1),
            KeyCode::PageUp => self.scroll(-page),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(page),
            KeyCode::Home | KeyCode::Char('g') => self.top = 0,
            KeyCode::End | KeyCode::Char('G') => self.scroll(isize::MAX),
            KeyCode::Char('/') => {
                self.filter = Some(LineInput::default());
                self.filters = true;
            }
            _ => return Pressed::Other,
        }
        Pressed::Taken
    }
}

fn changed(changes: &v1::ListChangesResponse, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for file in &changes.files {
        if file.problem.is_empty() {
            rows.extend(diff::rows(&file.diff, Names::Shown, width));
        } else {
            rows.push(Row::new(&one_line(&file.path, width), Role::Heading));
            let why = TextLine::of(Role::Dim, format!("  not shown: {}", file.problem));
            rows.extend(why.rows(width));
        }
        if file.changed_by_others {
            rows.push(Row::new("  somebody else has changed it too", Role::Warn));
        }
    }
    if changes.files.is_empty() {
        rows.push(Row::new("no file holds anything else than before", Role::Dim));
    } else {
        let all: String = changes.files.iter().map(|file| file.diff.as_str()).collect();
        rows.push(Counts { files: changes.files.len(), ..Counts::of(&all) }.row());
    }
    for change in &changes.changes {
        let text = format!("/undo {}  {}", change.number, change.paths.join(", "));
        rows.push(Row::new(&one_line(&text, width), Role::Dim));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(overlay: &mut TextOverlay, code: KeyCode) -> Pressed {
        overlay.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn shown(overlay: &mut TextOverlay) -> Vec<String> {
        overlay.window(20, 3).0.iter().map(Row::text).collect()
    }

    fn ten() -> TextOverlay {
        let lines = (1..=10).map(|number| TextLine::plain(format!("line {number}")));
        TextOverlay::new("ten", Body::Lines(lines.collect()))
    }

    #[test]
    fn keys_move_the_window_within_the_text() {
        let check = |keys: &[KeyCode], expect: &str| {
            let mut overlay = ten();
            shown(&mut overlay);
            for key in keys {
                assert_eq!(press(&mut overlay, *key), Pressed::Taken);
            }
            assert_eq!(shown(&mut overlay)[0], expect, "{keys:?}");
        };
        check(&[], "line 1");
        check(&[KeyCode::Down, KeyCode::Char('j')], "line 3");
        check(&[KeyCode::PageDown], "line 3");
        check(&[KeyCode::End], "line 8");
        check(&[KeyCode::End, KeyCode::Up], "line 7");
        check(&[KeyCode::End, KeyCode::Home], "line 1");
        check(&[KeyCode::Up], "line 1");
    }

    #[test]
    fn what_is_looked_for_leaves_the_lines_that_have_it() {
        let mut overlay = ten();
        shown(&mut overlay);
        for letter in ['/', 'E', ' ', '1'] {
            press(&mut overlay, KeyCode::Char(letter));
        }
        assert_eq!(shown(&mut overlay), ["line 1", "line 10"]);
        press(&mut overlay, KeyCode::Char('x'));
        assert_eq!(shown(&mut overlay), ["nothing such is here"]);
        assert_eq!(press(&mut overlay, KeyCode::Esc), Pressed::Taken);
        assert_eq!(shown(&mut overlay).len(), 3);
        assert_eq!(press(&mut overlay, KeyCode::Esc), Pressed::Close);
    }

    #[test]
    fn lines_are_wrapped_for_the_width_and_nothing_hides_in_them() {
        let lines = vec![TextLine::pair("name", 6, "a long text \u{1b}[2J that goes on")];
        let mut overlay = TextOverlay::new("t", Body::Lines(lines));
        let rows = |overlay: &mut TextOverlay, width: usize| -> Vec<String> {
            overlay.window(width, 9).0.iter().map(Row::text).collect()
        };
        assert_eq!(
            rows(&mut overlay, 24),
            ["name    a long text", "        \\u{1b}[2J that", "        goes on"]
        );
        assert_eq!(rows(&mut overlay, 80).len(), 1);
    }
}

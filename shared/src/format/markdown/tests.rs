use super::*;
use crate::format::styled::Colors;

const PLAIN: Look = Look { width: 40, code: CodeTheme::Plain };
const COLORED: Look = Look { width: 40, code: CodeTheme::Dark };

fn texts(rows: &[Row]) -> Vec<String> {
    rows.iter().map(Row::text).collect()
}

fn painted(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| row.paint(Colors::All)).collect()
}

fn check(text: &str, expect: &[&str]) {
    assert_eq!(texts(&render(text, PLAIN)), expect, "{text:?}");
}

#[test]
fn blocks_are_drawn_line_by_line() {
    check("# Title #", &["Title"]);
    check("plain\n\nnext", &["plain", "", "next"]);
    check("- one\n  - two\n3) three", &["• one", "  • two", "3. three"]);
    check("- [ ] open\n- [x] done", &["☐ open", "☑ done"]);
    check("> quoted\n> > twice", &["│ quoted", "│ │ twice"]);
    check("---", &["────────────────────────────────────────"]);
    check("```rust\nlet x = 1;\n```\nafter", &["  let x = 1;", "after"]);
    check("~~~\n```\n~~~", &["  ```"]);
    check("#hashtag stays", &["#hashtag stays"]);
}

#[test]
fn inline_marks_become_styles() {
    check("**bold** *it* `a*b` ~~no~~", &["bold it a*b no"]);
    check("[text](https://a.example)", &["text (https://a.example)"]);
    check("<https://a.example>", &["https://a.example"]);
    check("2 * 3 * 4 and a_b_c", &["2 * 3 * 4 and a_b_c"]);
    check("Vec<u8> & x &lt; y", &["Vec<u8> & x < y"]);
    let rows = render("a **b**", COLORED);
    assert_eq!(painted(&rows), ["a \u{1b}[1mb\u{1b}[0m"]);
}

#[test]
fn nothing_vanishes_that_is_not_a_mark() {
    check("[x]: http://a.example", &["[x]: http://a.example"]);
    check("**", &["**"]);
    check("<!-- note -->", &["<!-- note -->"]);
    check("- ", &["• "]);
}

#[test]
fn tables_are_drawn_when_they_end() {
    let table = "| a | long name |\n|---|:-:|\n| 1 | `x|y` |\n| 世界 | \\| |\nend";
    check(table, &["a    │ long name", "─────┼──────────", "1    │ x|y", "世界 │ |", "end"]);
    let mut open = Markdown::default();
    assert!(open.line("| a | b |", PLAIN).is_empty());
    assert_eq!(texts(&open.open_rows("| -", PLAIN)), ["| a | b |", "| -"]);
    assert_eq!(texts(&open.finish(PLAIN)), ["| a | b |"], "one line is not a table");
}

#[test]
fn a_wide_table_shrinks_or_is_shown_as_written() {
    let table =
        "| name | text |\n|--|--|\n| n | one two three four five six seven eight nine ten |";
    let rows = render(table, PLAIN);
    assert!(rows.iter().all(|row| row.width() <= 40), "{rows:?}");
    assert!(rows.len() > 3, "{rows:?}");
    let many = format!("|{}\n|{}", "a|".repeat(30), "-|".repeat(30));
    assert_eq!(render(&many, PLAIN).first().map(|row| row.text().starts_with("|a|a")), Some(true));
}

#[test]
fn long_lines_wrap_at_words_and_hang_under_their_marker() {
    check(
        "- a list item whose text is longer than one row of it",
        &["• a list item whose text is longer than", "  one row of it"],
    );
    check(&"x".repeat(50), &[&"x".repeat(40), &"x".repeat(10)]);
    check(&"世".repeat(25), &[&"世".repeat(20), &"世".repeat(5)]);
}

#[test]
fn en_01_no_width_cuts_inside_a_character() {
    for tail in ["世", "😀", "e\u{301}", "👨‍👩‍👧‍👦"] {
        for width in 1..24 {
            for filler in 0..24 {
                let text = format!("{}{tail}", "a".repeat(filler));
                let rows = render(&text, Look { width, code: CodeTheme::Plain });
                assert_eq!(texts(&rows).concat(), text, "width {width}");
            }
        }
    }
}

#[test]
fn escapes_of_a_model_are_inert_in_every_construct() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\u{8}";
    let constructs = [
        format!("# {evil}"),
        format!("text {evil} text"),
        format!("**{evil}** `{evil}` [{evil}]({evil})"),
        format!("- {evil}"),
        format!("> {evil}"),
        format!("```{evil}\n{evil}\n```"),
        format!("```rust\nlet a = \"{evil}\";\n```"),
        format!("| {evil} | b |\n|--|--|\n| {evil} | `{evil}` |"),
        format!("<b {evil}>"),
        // Entities become characters only while parsing.
        "&#27;[2J &#x1b;]0;x&#7; &#155;31m [a](&#27;[2J) `&#27;`".to_owned(),
        "&#8238;reversed".to_owned(),
    ];
    for text in &constructs {
        let markdown = Markdown::default();
        let mut rows = markdown.open_rows(text.lines().next().unwrap_or(""), PLAIN);
        rows.extend(render(text, PLAIN));
        for row in texts(&rows) {
            let bad = row.chars().find(|c| c.is_control() || *c == '\u{202e}');
            assert_eq!(bad, None, "{text:?} gave {row:?}");
        }
        for row in painted(&render(text, COLORED)) {
            let mut rest = row.as_str();
            while let Some((_, after)) = rest.split_once('\u{1b}') {
                let end = after.find('m').expect("a style ends in m");
                let body = &after[..end];
                assert!(
                    body.starts_with('[')
                        && body[1..].chars().all(|c| c.is_ascii_digit() || c == ';'),
                    "{row:?}"
                );
                rest = &after[end..];
            }
        }
    }
}

#[test]
fn code_is_highlighted_and_keeps_its_text() {
    let source = "fn main() {\n    println!(\"hi\");\n}";
    let rows = painted(&render(&format!("```rust\n{source}\n```"), COLORED));
    assert!(rows.iter().all(|row| row.contains("\u{1b}[38;")), "{rows:?}");
    let rows = render(&format!("```rust\n{source}\n```"), PLAIN);
    assert_eq!(texts(&rows).join("\n"), "  fn main() {\n      println!(\"hi\");\n  }");
    check("```nosuchlanguage\nx\n```", &["  x"]);
}

#[test]
fn an_open_line_shows_what_is_known_of_it() {
    let mut markdown = Markdown::default();
    assert_eq!(texts(&markdown.open_rows("Hello **wor", PLAIN)), ["Hello **wor"]);
    assert_eq!(texts(&markdown.open_rows("Hello **world**", PLAIN)), ["Hello world"]);
    assert!(markdown.line("```py", PLAIN).is_empty());
    assert_eq!(texts(&markdown.open_rows("print(", PLAIN)), ["  print("]);
    assert!(markdown.open_rows("``", PLAIN).is_empty(), "it may be the end of the block");
}

#[test]
fn code_is_coloured_for_the_background_that_it_stands_on() {
    let text = "```rust\nfn main() {}\n```";
    let light = Look { code: CodeTheme::Light, ..COLORED };
    assert_ne!(render(text, COLORED), render(text, light));
    assert_eq!(texts(&render(text, COLORED)), texts(&render(text, light)));
}

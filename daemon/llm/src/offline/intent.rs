//! Recognising plain requests, in English and a little Chinese.
//!
//! Better to recognise too little than too much: what is not clearly one of these gets the help text.

use serde_json::{Value, json};

use super::place;

/// A tool call that a text asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intent {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// What the text asks for, if it is plain enough.
pub(super) fn recognise(text: &str) -> Option<Intent> {
    let text = text.trim().trim_end_matches(['?', '？', '!', '！', '。']).trim();
    let text =
        strip_any(text, &["please ", "can you ", "could you ", "请", "帮我"]).unwrap_or(text);
    // One line each: longer texts are conversation.
    if text.is_empty() || text.contains('\n') {
        return None;
    }
    text_length(text)
        .or_else(|| time(text))
        .or_else(|| list_dir(text))
        .or_else(|| read_file(text))
        .or_else(|| calculator(text))
}

/// The rest after the first of the prefixes that fits, whatever its case. Prefixes are ASCII or have
/// no case.
fn strip_any<'a>(text: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| {
        let start = text.get(..prefix.len())?;
        start.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..).unwrap_or(""))
    })
}

fn contains_any(text: &str, phrases: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    phrases.iter().any(|phrase| text.contains(phrase))
}

const QUOTES: [(char, char); 7] =
    [('\'', '\''), ('"', '"'), ('`', '`'), ('“', '”'), ('‘', '’'), ('「', '」'), ('《', '》')];

/// The text between the quotes that it starts and ends with.
fn unquote(text: &str) -> Option<&str> {
    let text = text.trim();
    let inner = |(open, close): &(char, char)| text.strip_prefix(*open)?.strip_suffix(*close);
    QUOTES.iter().find_map(inner)
}

fn text_length(text: &str) -> Option<Intent> {
    let intent = |text: &str| Intent { tool: "text_length", arguments: json!({ "text": text }) };
    // "How long is the Nile" is no question for a tool: only quotes make a text.
    let quoted =
        strip_any(text, &["how long is the text ", "how long is ", "length of ", "count "]);
    if let Some(quoted) = quoted.and_then(unquote) {
        return Some(intent(quoted));
    }
    let rest = strip_any(
        text,
        &[
            "count the characters in ",
            "count the characters of ",
            "count characters in ",
            "count characters of ",
            "how many characters are in ",
            "how many characters does ",
            "how many characters in ",
            "how many letters are in ",
            "how many letters in ",
            "统计字数",
            "字数",
        ],
    )?;
    let rest = rest.trim_start_matches([':', '：']).trim();
    let rest = rest.strip_suffix(" have").unwrap_or(rest);
    let counted = unquote(rest).unwrap_or(rest);
    (!counted.is_empty()).then(|| intent(counted))
}

fn time(text: &str) -> Option<Intent> {
    const QUESTIONS: &[&str] = &[
        "what time is it",
        "what's the time",
        "what is the time",
        "what date is it",
        "what's the date",
        "what is the date",
        "what day is it",
        "what day is today",
        "today's date",
        "current time",
        "current date",
        "the time in ",
        "几点",
        "现在时间",
        "当前时间",
        "几号",
        "今天日期",
    ];
    let is_bare = ["time", "date", "now"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let place_only = strip_any(text, &["time in ", "date in "]);
    if !is_bare && place_only.is_none() && !contains_any(text, QUESTIONS) {
        return None;
    }
    let place = place_only.or_else(|| {
        let at = text.to_ascii_lowercase().rfind(" in ")?;
        text.get(at + 4..)
    });
    // "北京现在几点", "东京几点".
    let place = place.or_else(|| {
        let (before, _) = text.split_once("现在几点").or_else(|| text.split_once("几点"))?;
        Some(before.trim_start_matches("现在").trim_end_matches("现在"))
    });
    let place = place.map(str::trim).filter(|place| !place.is_empty());
    let place = place.map(|place| place.trim_end_matches(" right now").trim_end_matches(" now"));
    let arguments = match place {
        Some(place) if place.chars().count() <= 40 => json!({ "timezone": place::zone(place) }),
        _ => json!({}),
    };
    Some(Intent { tool: "time", arguments })
}

fn list_dir(text: &str) -> Option<Intent> {
    let intent = |path: &str| Intent { tool: "list_dir", arguments: json!({ "path": path }) };
    if text.eq_ignore_ascii_case("ls") {
        return Some(intent("."));
    }
    if let Some(path) = strip_any(text, &["ls "]) {
        return path_of(path).map(intent);
    }
    let rest = strip_any(
        text,
        &[
            "list the files",
            "list all files",
            "list files",
            "list the directory",
            "list directory",
            "list the folder",
            "show the files",
            "show files",
            "what files are there",
            "what files are",
            "which files are there",
            "which files are",
            "列出",
        ],
    )?
    .trim();
    let rest =
        strip_any(rest, &["in the directory ", "in the folder ", "in ", "of "]).unwrap_or(rest);
    let here = [
        "",
        "here",
        "this directory",
        "this folder",
        "the current directory",
        "文件",
        "当前目录",
        "目录",
        "所有文件",
    ];
    if here.iter().any(|word| rest.eq_ignore_ascii_case(word)) {
        return Some(intent("."));
    }
    let rest = rest.strip_suffix("的文件").or_else(|| rest.strip_suffix("目录")).unwrap_or(rest);
    path_of(rest).map(intent)
}

fn read_file(text: &str) -> Option<Intent> {
    let rest = strip_any(
        text,
        &[
            "read ",
            "show me ",
            "show ",
            "cat ",
            "open ",
            "print ",
            "display ",
            "读取",
            "读一下",
            "打开",
            "查看",
        ],
    )?
    .trim();
    let rest =
        strip_any(rest, &["the contents of ", "the content of ", "contents of "]).unwrap_or(rest);
    let named = strip_any(rest, &["the file ", "file ", "文件"]);
    let path = path_of(named.unwrap_or(rest))?;
    // "Show me the money": without the word, only what looks like a file is one.
    let is_file = named.is_some() || path.contains(['.', '/']) || unquote(rest).is_some();
    is_file.then(|| Intent { tool: "read_file", arguments: json!({ "path": path }) })
}

/// A path: in quotes, or one word.
fn path_of(text: &str) -> Option<&str> {
    let text = text.trim();
    let path = unquote(text).unwrap_or(text);
    let is_word = path.len() == text.len() && path.contains(char::is_whitespace);
    (!path.is_empty() && !is_word).then_some(path)
}

fn calculator(text: &str) -> Option<Intent> {
    let asked = strip_any(
        text,
        &["calculate ", "compute ", "evaluate ", "calc ", "计算一下", "计算", "算一下", "算"],
    );
    let rest = asked.or_else(|| {
        strip_any(text, &["what is ", "what's ", "whats ", "how much is ", "how much are "])
    });
    let expression = rest.unwrap_or(text).trim_matches([' ', '=', ':', '：']);
    let expression = expression.strip_suffix("等于多少").unwrap_or(expression).trim();
    let expression: String = expression
        .chars()
        .map(|char| match char {
            '×' | '·' => '*',
            '÷' => '/',
            '−' | '–' => '-',
            '（' => '(',
            '）' => ')',
            '＋' => '+',
            other => other,
        })
        .collect();
    let has_digit = expression.contains(|char: char| char.is_ascii_digit());
    let is_plain = has_operation(&expression) && has_only_known_words(&expression);
    if !has_digit || !(asked.is_some() || is_plain) {
        return None;
    }
    let expression = expression.replace(" % of ", "% of ");
    Some(Intent { tool: "calculator", arguments: json!({ "expression": expression }) })
}

/// Numbers alone are no task: something must be done with them.
fn has_operation(expression: &str) -> bool {
    let inner = expression.trim_start_matches(['-', '+', ' ']);
    inner.contains(['+', '-', '*', '/', '^', '%', '(', '!'])
        || [" of ", " to ", " in ", " mod ", " plus ", " minus ", " times "]
            .iter()
            .any(|word| inner.contains(word))
}

fn has_only_known_words(expression: &str) -> bool {
    const WORDS: &[&str] = &[
        "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "log", "ln", "exp", "abs",
        "pi", "e", "of", "mod", "to", "in", "km", "m", "cm", "mm", "miles", "mile", "feet", "foot",
        "ft", "inch", "inches", "kg", "g", "lb", "pounds", "hours", "hour", "h", "minutes", "min",
        "seconds", "s", "days", "day", "weeks", "bytes", "kb", "mb", "gb", "kib", "mib", "gib",
    ];
    let is_legal = |char: char| char.is_ascii_alphanumeric() || "+-*/^%().,! ".contains(char);
    let mut words = expression.split(|char: char| !char.is_ascii_alphabetic());
    expression.chars().all(is_legal)
        && words.all(|word| {
            word.is_empty() || WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the tool and the only argument; "" means that nothing is recognised.
    fn check(text: &str, tool: &str, argument: &str) {
        let intent = recognise(text);
        let got = intent.as_ref().map_or(("", ""), |intent| {
            let arguments = intent.arguments.as_object().expect("an object");
            (
                intent.tool,
                arguments.values().next().map_or("", |value| value.as_str().expect("text")),
            )
        });
        assert_eq!(got, (tool, argument), "{text}");
    }

    #[test]
    fn arithmetic_is_recognised() {
        check("what is 12*(3+4)?", "calculator", "12*(3+4)");
        check("What's 12 × 3", "calculator", "12 * 3");
        check("calculate 2^10", "calculator", "2^10");
        check("17 % of 230", "calculator", "17% of 230");
        check("1+1", "calculator", "1+1");
        check("1 + 1 =", "calculator", "1 + 1");
        check("please compute sqrt(2)", "calculator", "sqrt(2)");
        check("what is sqrt(16)?", "calculator", "sqrt(16)");
        check("计算 3×(4+5)", "calculator", "3*(4+5)");
        check("5 km to miles", "calculator", "5 km to miles");
        check("what is 2024?", "", "");
        check("what is a monad?", "", "");
        check("what is the difference between 2 and 3 in Rust", "", "");
        check("-5", "", "");
    }

    #[test]
    fn questions_for_the_time_are_recognised() {
        check("what time is it?", "time", "");
        check("What time is it in Tokyo?", "time", "Asia/Tokyo");
        check("time in New York", "time", "America/New_York");
        check("what is the time in Europe/Oslo", "time", "Europe/Oslo");
        check("what is the date?", "time", "");
        check("现在几点", "time", "");
        check("北京现在几点？", "time", "Asia/Shanghai");
        check("time", "time", "");
        check("it is time to go", "", "");
    }

    #[test]
    fn counting_characters_is_recognised() {
        check("how long is 'text'?", "text_length", "text");
        check("How long is “日本語”", "text_length", "日本語");
        check("count characters in hello world", "text_length", "hello world");
        check("how many characters are in \"a b\"", "text_length", "a b");
        check("how long is the Nile?", "", "");
    }

    #[test]
    fn listing_directories_is_recognised() {
        check("ls", "list_dir", ".");
        check("ls src/bin", "list_dir", "src/bin");
        check("list files", "list_dir", ".");
        check("List the files in src", "list_dir", "src");
        check("list files in 'my dir'", "list_dir", "my dir");
        check("what files are in docs?", "list_dir", "docs");
        check("what files are here?", "list_dir", ".");
        check("列出文件", "list_dir", ".");
        check("列出 src 的文件", "list_dir", "src");
        check("list files that matter to me", "", "");
    }

    #[test]
    fn reading_files_is_recognised() {
        check("read README.md", "read_file", "README.md");
        check("show me src/main.rs", "read_file", "src/main.rs");
        check("cat 'my notes.txt'", "read_file", "my notes.txt");
        check("show the file LICENSE", "read_file", "LICENSE");
        check("读取 README.md", "read_file", "README.md");
        check("show me the money", "", "");
        check("read this carefully", "", "");
    }

    #[test]
    fn everything_else_is_left_alone() {
        check("", "", "");
        check("hello", "", "");
        check("read README.md\nand tell me what it says", "", "");
        check("写一首诗", "", "");
    }
}

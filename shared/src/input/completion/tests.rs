use super::*;

fn vocabulary() -> Vocabulary {
    let pair = |word: &str, about: &str| (word.to_owned(), about.to_owned());
    Vocabulary {
        sessions: vec![pair("01JZA", "tax \u{1b}[2J"), pair("01KB", "trip to 世界")],
        models: vec!["small".into(), "large".into(), "bad\u{1b}[2J".into()],
        queue: vec![pair("01Q", "later")],
        choices: vec!["continue".into(), "stop".into(), "con\u{7}".into()],
        tools: vec![pair("grep_files", "Searches.")],
        memories: vec![
            pair("01M", "backups run at\n three in the morning on every day of the week"),
            pair("01N", "the cat is called 世"),
        ],
        files: vec!["src/main.rs".into(), "README.md".into(), "src/state/main.rs".into()],
        themes: &["auto", "dark"],
    }
}

fn completed(typed: &str, surface: Surface) -> (usize, Vec<String>) {
    let found = complete(typed, true, surface, &vocabulary());
    let texts = found.iter().flat_map(|it| &it.candidates).map(|it| it.text.clone());
    (found.as_ref().map_or(0, |it| it.start), texts.collect())
}

#[test]
fn commands_arguments_and_files_are_completed() {
    let check = |typed: &str, start: usize, expect: &[&str]| {
        let (at, got) = completed(typed, Surface::FullScreen);
        let best: Vec<&str> = got.iter().take(expect.len()).map(String::as_str).collect();
        assert_eq!((at, best.as_slice()), (start, expect), "{typed:?}");
        assert_eq!(got.is_empty(), expect.is_empty(), "{typed:?}: {got:?}");
    };
    check("/sta", 0, &["/status", "/stats"]);
    check("/help", 0, &[]);
    check("/titl", 0, &["/title "]);
    check("/title", 0, &[]);
    check("/switch 01jz", 8, &["01JZA"]);
    check("/switch 世", 8, &["01KB"]);
    check("/model la", 7, &["large"]);
    check("/effort m", 8, &["minimal", "medium", "max"]);
    check("/mode au", 6, &["auto-edit"]);
    check("/work re", 6, &["review"]);
    check("/reasoning o", 11, &["on", "off"]);
    check("/theme d", 7, &["dark"]);
    check("/withdraw ", 10, &["01Q"]);
    check("/tools gr", 7, &["grep_files"]);
    check("/answer s", 8, &["stop"]);
    check("/memories three", 10, &["backups run at three in the morning on"]);
    check("/memories 01n", 10, &["the cat is called 世"]);
    check("/title x", 0, &[]);
    check("look at @REA", 8, &["@README.md "]);
    check("世 @main", 4, &["@src/main.rs ", "@src/state/main.rs "]);
    check("世\u{3000}@main", 6, &["@src/main.rs ", "@src/state/main.rs "]);
    check("mail a@b", 0, &[]);
    check("hello", 0, &[]);
    check("con", 0, &[]);
    let known = vocabulary();
    let second = complete("/he", false, Surface::FullScreen, &known);
    assert_eq!(second, None, "only the first line commands");
}

#[test]
fn what_a_place_has_alone_is_completed_there_alone() {
    assert_eq!(completed("/verb", Surface::FullScreen).1, ["/verbose "]);
    assert_eq!(completed("/verb", Surface::Chat).1, [] as [&str; 0]);
    assert_eq!(completed("con", Surface::Chat), (0, vec!["continue".to_owned()]));
}

#[test]
fn what_is_typed_points_to_the_first_unless_any_words_are_good() {
    let check = |typed: &str, expect: bool| {
        let found = complete(typed, true, Surface::FullScreen, &vocabulary()).unwrap();
        assert_eq!(found.points, expect, "{typed:?}");
    };
    check("/model ", false);
    check("/model l", true);
    check("/memories cat", false);
    check("@", false);
    check("@m", true);
    check("/", true);
}

#[test]
fn what_begins_with_the_word_is_told_apart_from_what_only_has_it() {
    let check = |typed: &str, expect: &[bool]| {
        let found = complete(typed, true, Surface::Chat, &vocabulary()).unwrap();
        let begins: Vec<bool> = found.candidates.iter().map(|it| it.begins).collect();
        assert_eq!(begins, expect, "{typed:?}");
    };
    check("@src", &[true, true]);
    check("@main", &[false, false]);
    check("/switch 01jz", &[true]);
    check("/switch tax", &[false]);
}

#[test]
fn what_others_have_named_is_inert_or_not_offered() {
    let found = complete("/switch 01JZ", true, Surface::Chat, &vocabulary()).unwrap();
    assert_eq!(found.candidates[0].about, "tax \\u{1b}[2J");
    assert_eq!(completed("/model bad", Surface::Chat).1, [] as [&str; 0]);
    assert_eq!(completed("/answer con", Surface::Chat).1, ["continue"]);
}

#[test]
fn what_a_word_wants_is_told_so_that_it_can_be_fetched() {
    let check = |typed: &str, expect: Option<Source>| {
        assert_eq!(source(typed, true), expect, "{typed:?}");
    };
    check("/model ", Some(Source::Models));
    check("/tools x", Some(Source::Tools));
    check("/resume 01", Some(Source::Sessions));
    check("/memory x", Some(Source::Memories));
    check("see @", Some(Source::Files));
    check("/effort ", None);
    check("hello", None);
}

use super::*;

fn base() -> Url {
    Url::parse("https://a.example/dir/page").expect("a URL")
}

fn check(html: &str, expect: &str) {
    assert_eq!(readable(html, &base()).text, expect, "{html}");
}

#[test]
fn a_page_becomes_markdown() {
    let page = "<!doctype html><html><head><title> A &amp; B\n</title><style>p{}</style></head>
        <body><h1>Head&shy;line</h1><p>One <b>two</b>,\n three.<p>Four<br>five
        <ul><li>a<li>b <a href=../x?y=1>link</a><ol><li>c<li>d</ol></ul>
        <pre>  keep\n   this</pre>Run <code>ls</code> now.
        <table><tr><th>k<th>v<tr><td>1<td>2</table><hr>
        <img src=x alt=\"a cat\"><img src=y><script>alert('<p>no')</script>
        <svg><title>no</title><path/></svg><template><p>no</p></template></body></html>";
    let readable = readable(page, &base());
    assert_eq!(readable.title, "A & B");
    assert!(!readable.is_main_part);
    assert_eq!(
        readable.text,
        "# Head\u{ad}line\n\nOne two, three.\n\nFour\nfive\n\n- a\n- b \
         [link](https://a.example/x?y=1)\n  1. c\n  2. d\n\n```\n  keep\n   this\n```\n\n\
         Run `ls` now.\n\n| k | v\n| 1 | 2\n\n---\n\n[image: a cat]"
    );
}

#[test]
fn links_are_shown_in_full_and_only_where_they_can_be_followed() {
    check("<a href='/z'>go</a>", "[go](https://a.example/z)");
    check("x <a href='//b.example/'> go </a>y", "x [go](https://b.example/) y");
    check("<a href='javascript:alert(1)'>go</a> <a href='#top'>top</a>", "go top");
    check("<a href='data:text/html,x'>go</a><a href='/'></a>", "go");
    check(
        "<a href='/1'>one<a href='/2'>two</a>",
        "[one](https://a.example/1)[two](https://a.example/2)",
    );
    check("<a href='/b'><p>block</p><p>of text</p></a>", "block\n\nof text (https://a.example/b)");
}

#[test]
fn the_main_part_is_shown_alone_when_there_is_one() {
    let text = "word ".repeat(60);
    let page = format!("<nav>menu</nav><main><p>{text}</p></main><footer>foot</footer>");
    let shown = readable(&page, &base());
    assert_eq!((shown.text.as_str(), shown.is_main_part), (text.trim(), true));
    let shown = readable("<nav>menu</nav><main>short</main>", &base());
    assert_eq!((shown.text.as_str(), shown.is_main_part), ("menu\n\nshort", false));
}

#[test]
fn nothing_of_a_page_acts_on_a_terminal() {
    let shown = readable("<title>t&#27;[2J</title>a&#x9b;31m\u{1b}]0;x\u{7}b&#x202e;c", &base());
    assert_eq!((shown.title.as_str(), shown.text.as_str()), ("t[2J", "a\u{203a}31m]0;xbc"));
}

#[test]
fn wb_02_a_page_nested_a_hundred_thousand_deep_is_read() {
    for tag in
        ["div", "b", "ul", "ul><li", "ol", "table", "a href=/x", "blockquote", "svg", "pre", "main"]
    {
        let page =
            format!("{}deep{}", format!("<{tag}>").repeat(100_000), "</div>".repeat(100_000));
        let shown = readable(&page, &base());
        assert_eq!(shown.text.contains("deep"), tag != "svg", "{tag}");
        assert!(shown.text.len() < 4 * 1024 * 1024, "{tag}");
    }
}

#[test]
fn broken_pages_are_read_as_far_as_they_go() {
    for page in [
        "",
        "<",
        "<a href='",
        "<title>",
        "</p></ul></ol></pre></a></main>",
        "<!--",
        "&#",
        "<pre>",
        "<a href=/>x",
    ] {
        let shown = readable(page, &base());
        assert!(shown.text.len() < 60, "{page}");
    }
}

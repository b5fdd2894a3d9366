use super::*;

fn patched(text: &str, hunks: &str) -> Result<String, ToolResult> {
    let patch = format!("--- a/f\n+++ b/f\n{hunks}");
    let files = parse(&patch).expect("a patch");
    files[0].apply(text.as_bytes()).map(|bytes| String::from_utf8(bytes).expect("text"))
}

#[track_caller]
fn check(text: &str, hunks: &str, expect: &str) {
    assert_eq!(patched(text, hunks).as_deref(), Ok(expect), "{hunks}");
}

#[track_caller]
fn refused(text: &str, hunks: &str, part: &str) {
    let refusal = patched(text, hunks).expect_err("a refusal");
    assert_eq!(refusal.error_code, "INVALID_PATCH");
    assert!(refusal.output.contains(part), "{refusal:?}");
}

#[test]
fn hunks_are_put_where_they_say() {
    check("1\n2\n3\n", "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "1\ntwo\n3\n");
    check("x\nx\nx\n", "@@ -2 +2 @@\n-x\n+y\n", "x\ny\nx\n");
    check("1\n2\n", "@@ -2,0 +3,1 @@\n+3\n", "1\n2\n3\n");
    check("1\n2", "@@ -2 +2 @@\n-2\n\\ No newline at end of file\n+two\n", "1\ntwo\n");
    check("1\n2\n", "@@ -2 +2 @@\n-2\n+two\n\\ No newline at end of file\n", "1\ntwo");
    check("1\n2", "@@ -2 +2,2 @@\n 2\n+3\n", "1\n2\n3\n");
    let two = "@@ -1,2 +1,1 @@\n-1\n 2\n@@ -4,1 +3,2 @@\n 4\n+5\n";
    check("1\n2\n3\n4\n", two, "2\n3\n4\n5\n");
}

#[test]
fn w0_25_lines_that_have_moved_are_found_by_their_text() {
    check("new\nnew\n1\n2\n3\n", "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "new\nnew\n1\ntwo\n3\n");
    // A later hunk has moved as far as the one before it.
    let moved = "@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-x\n+X\n";
    check("0\n0\na\nx\nx\n", moved, "0\n0\nA\nX\nx\n");
    refused("x\n1\nx\n", "@@ -2 +2 @@\n-x\n+y\n", "fits 2 places, at lines 1, 3");
    refused("1\n2\n", "@@ -1,2 +1,2 @@\n 1\n-3\n+4\n", "hunk 1 of 'f' has no place");
    refused("1\n", "@@ -9,0 +9,1 @@\n+3\n", "has no place");
}

#[test]
fn some_context_need_not_fit_and_stays_as_it_is() {
    check("A\n2\n3\nB\n", "@@ -1,4 +1,4 @@\n a\n 2\n-3\n+three\n b\n", "A\n2\nthree\nB\n");
    check("1 \n2\t\n", "@@ -1,2 +1,2 @@\n 1\n-2\n+two\n", "1 \ntwo\n");
    refused("A\nB\nC\n3\n", "@@ -1,4 +1,4 @@\n a\n b\n c\n-3\n+x\n", "has no place");
}

#[test]
fn ed_01_a_patch_keeps_line_endings() {
    check("1\r\n2\r\n3\n", "@@ -1,3 +1,4 @@\n 1\n-2\n+two\n+more\n 3\n", "1\r\ntwo\r\nmore\r\n3\n");
}

#[test]
fn ed_04_added_lines_are_no_patterns() {
    check("a\n", "@@ -1 +1 @@\n-a\n+$& $1 $$ \\0 ${x}\n", "$& $1 $$ \\0 ${x}\n");
}

#[test]
fn files_are_made_removed_and_renamed() {
    let patch = "diff --git a/n b/n\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/n\n\
                 @@ -0,0 +1 @@\n+x\ndiff --git a/o b/o\ndeleted file mode 100644\n--- a/o\n+++ \
                 /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/p b/q\nsimilarity index 100%\nrename \
                 from p\nrename to q\n--- r\tnow\n+++ r\tnow\n@@ -1 +1 @@\n--- a\n+++ b\n\n";
    let files = parse(patch).expect("a patch");
    let paths: Vec<_> = files.iter().map(|file| (file.old, file.new, file.executable)).collect();
    assert_eq!(
        paths,
        [(None, Some("n"), true), (Some("o"), None, false), (Some("r"), Some("r"), false)]
    );
}

#[test]
fn what_is_no_patch_is_refused_with_its_line() {
    let check = |text: &str, part: &str| {
        let refusal = parse(text).expect_err(text);
        assert!(refusal.output.contains(part), "{refusal:?}");
    };
    check("hello", "no unified diff");
    check("@@ -1 +1 @@\n-a\n+b\n", "line 1 is a hunk without");
    check("--- a/f\n+++ b/f\n@@ 1 @@\n-a\n", "line 3: '@@ -line");
    check("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n*** c\n", "line 6");
    check("--- a/f\n+++ b/f\n@@ -1 +1 @@\n a\n", "changes nothing");
    check("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", "line 2: copies and modes");
    check("diff --git a/f b/f\nGIT binary patch\n", "line 2: binary");
}

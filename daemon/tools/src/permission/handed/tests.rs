//! What commands hand to shells, by example.

use super::*;

fn check(command: &str, scripts: &[&str], is_unknown: bool, reads_input: bool) {
    let words: Vec<Option<String>> =
        command.split(' ').map(|word| (word != "?").then(|| word.replace('_', " "))).collect();
    let found = handed(&words);
    let got = (found.is_unknown, found.reads_input);
    assert_eq!(got, (is_unknown, reads_input), "{command}");
    assert_eq!(found.scripts, scripts, "{command}");
}

#[test]
fn the_tables_are_sorted() {
    assert!(SHELLS.is_sorted() && LONG_OPTIONS.is_sorted() && CARRIERS.is_sorted());
    assert!(AROUND.is_sorted_by_key(|(name, ..)| *name));
    assert!(SCRIPT_CARRIERS.iter().all(|name| CARRIERS.contains(name)));
}

#[test]
fn a_script_among_the_words_is_found_through_what_runs_the_shell() {
    for command in [
        "bash -c rm_x",
        "/bin/sh -ec rm_x",
        "bash --norc -o pipefail -c rm_x name",
        "bash -norc -c rm_x",
        "bash -c -- rm_x",
        "sudo -u bob -n sh -c rm_x",
        "env A=b nice -n 5 timeout -k 2 9 bash -lc rm_x",
        "timeout --signal KILL 9 sh -c rm_x",
        "flock file sh -c rm_x",
        "find . -name x -exec sh -c rm_x {} ;",
        "xargs -n 1 -P4 sh -c rm_x name",
        "docker exec box sh -c rm_x",
        "trap rm_x EXIT",
        "eval rm x",
        "alias x=rm_x",
        "command eval rm x",
    ] {
        check(command, &["rm x"], false, false);
    }
}

#[test]
fn a_script_that_is_not_known_is_told() {
    for command in [
        "sh script.sh",
        "bash -x ./script",
        "bash -norc script",
        "bash --rcfile x",
        "bash -c ?",
        "bash ?",
        ". ./x",
        "source x",
        "builtin source x",
        "./build.sh",
        "dir/x.bash a",
        "sudo sh script",
        "env ENV=x bash -c ls",
        "env ?",
        "env -S rm_x",
        "timeout 5 ?",
        "xargs env",
        "xargs sh",
        "xargs -n1 bash -c",
        "xargs -I % %",
        "find . -exec sh {} ;",
        "find . -exec {} ;",
        "eval ?",
        "trap ? EXIT",
        "coproc sh",
        "alias ?",
        "hash -p /bin/rm x",
        "mapfile -C x",
        "watch ?",
    ] {
        let words: Vec<Option<String>> =
            command.split(' ').map(|word| (word != "?").then(|| word.replace('_', " "))).collect();
        assert!(handed(&words).is_unknown, "{command}");
    }
    check("parallel rm ::: x", &[], true, true);
    check("xargs -I% sh -c rm_%", &[], true, false);
    check("su -c ?", &[], true, true);
}

#[test]
fn a_shell_without_a_script_takes_its_input_for_one() {
    for command in
        ["sh", "bash -x", "bash -s a b", "sudo -n bash", "sh -", "zsh /dev/stdin", "sudo -i"]
    {
        check(command, &[], false, true);
    }
}

#[test]
fn what_hands_nothing_to_a_shell_is_left_alone() {
    for command in [
        "grep bash file",
        "python script.py",
        "make install",
        "cat x.sh",
        "xargs grep ?",
        "xargs -n 1 rm",
        "timeout 5 grep ? file",
        "sudo apt install ?",
        "find . -name bash",
        "find . -name ? -exec grep x {} +",
        "env A=b cargo test",
        "command -v bash",
        "bash --version",
        "docker run -v ? image",
        "./gradlew test",
        "source",
        "trap - EXIT",
        "? x",
    ] {
        check(command, &[], false, false);
    }
}

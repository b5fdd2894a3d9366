//! Repositories that would make git run something, or show what nobody may see.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use agentd_domain::ToolStatus;
use agentd_tools::{CallLimits, run_call};
use serde_json::json;

use super::{NAMED, assert_code, git, repository, write};
use crate::programs::{Place, boxed, open};

/// Makes the repository name a program wherever git can run one; each leaves a mark.
fn booby_trap(place: &Place) -> PathBuf {
    let root = place.workspace.path();
    let mark = root.join("mark");
    let trap = root.join("trap.sh");
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.display();
    let config = root.join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    let text = format!(
        "{text}[core]\n fsmonitor = {trap}\n pager = {trap}\n editor = {trap}\n sshCommand = {trap}\n \
         hooksPath = {hooks}\n alternateRefsCommand = {trap}\n\
         [pager]\n status = {trap}\n diff = {trap}\n log = {trap}\n show = {trap}\n\
         [diff]\n external = {trap}\n\
         [diff \"x\"]\n command = {trap}\n textconv = {trap}\n\
         [filter \"x\"]\n clean = {trap}\n smudge = {trap}\n required = true\n\
         [filter \"a b\"]\n process = {trap}\n\
         [log]\n showSignature = true\n\
         [gpg]\n program = {trap}\n\
         [commit]\n gpgSign = true\n\
         [alias]\n status = !{trap}\n look = !{trap}\n\
         [credential]\n helper = !{trap}\n\
         [interactive]\n diffFilter = {trap}\n",
        hooks = root.join("hooks").display(),
    );
    fs::write(&config, text).unwrap();
    fs::write(
        root.join(".git/info/attributes"),
        "*.txt diff=x\n*.bin filter=x\n*.odd filter=\"a b\"\n",
    )
    .unwrap();
    fs::create_dir(root.join("hooks")).unwrap();
    for hook in
        ["pre-commit", "commit-msg", "post-commit", "post-index-change", "reference-transaction"]
    {
        fs::copy(root.join("trap.sh"), root.join("hooks").join(hook)).unwrap();
        fs::copy(root.join("trap.sh"), root.join(".git/hooks").join(hook)).unwrap();
    }
    write(place, "a.txt", "other\n");
    write(place, "c.bin", "x\n");
    mark
}

/// Commits a repository in the repository, which names programs of its own, has a secret in its last
/// commit, and is set up to be looked into.
async fn submodule(place: &Place) -> PathBuf {
    let sub = place.workspace.path().join("sub");
    let trap = place.workspace.path().join("trap.sh");
    let trap = trap.display();
    let quiet = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false";
    let made = place
        .bash(&format!(
            "set -e; mkdir sub; cd sub; git init -q -b main .; {NAMED}; echo a > f.bin; \
             git add f.bin; git commit -qm one; cd ..; \
             printf '[submodule \"sub\"]\\n path = sub\\n url = ./sub\\n ignore = none\\n' > .gitmodules; \
             {quiet} update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub; \
             {quiet} update-index --add .gitmodules; \
             {quiet} commit -q --no-verify --no-gpg-sign -m sub; \
             cd sub; echo KEY=hush > .env; git add -f .env; git commit -qm two; echo b > f.bin"
        ))
        .await;
    assert_eq!(made.exit_code, Some(0), "{made:?}");
    let config = sub.join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    let text = format!(
        "{text}[core]\n fsmonitor = {trap}\n[diff]\n external = {trap}\n[filter \"x\"]\n clean = {trap}\n"
    );
    fs::write(&config, text).unwrap();
    fs::write(sub.join(".git/info/attributes"), "*.bin filter=x\n").unwrap();
    let config = place.workspace.path().join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}[diff]\n submodule = diff\n ignoreSubmodules = none\n"))
        .unwrap();
    let mark = place.workspace.path().join("mark");
    if mark.exists() {
        fs::remove_file(mark).unwrap();
    }
    sub
}

#[tokio::test]
async fn sc_02_nothing_that_a_repository_names_is_run() {
    // Nothing keeps programs in here, so that one that is run can leave its mark.
    let place = repository(open()).await;
    place.bash("echo y > c.bin && git add c.bin && git commit -qm bin").await;
    let mark = booby_trap(&place);
    let sub = submodule(&place).await;
    for arguments in [
        json!({"action": "status"}),
        json!({"action": "diff"}),
        json!({"action": "diff", "rev": "HEAD~1"}),
        json!({"action": "diff", "path": "sub"}),
        json!({"action": "diff", "staged": true}),
        json!({"action": "log"}),
        json!({"action": "show"}),
        json!({"action": "show", "rev": "HEAD~1"}),
        json!({"action": "show", "path": "a.txt"}),
    ] {
        let looked = git(&place, arguments.clone()).await;
        assert!(looked.error_code.is_empty(), "{arguments}: {looked:?}");
        assert!(!mark.exists(), "{arguments}: {:?}", fs::read_to_string(&mark));
        assert!(!looked.output.contains("hush"), "{arguments}: {looked:?}");
    }
    let refused = place.call("git_commit", json!({"message": "x", "paths": ["c.bin"]})).await;
    assert_code(&refused, "FILTER_NEEDED");
    let commit = place.call("git_commit", json!({"message": "x", "paths": ["a.txt"]})).await;
    assert_eq!(commit.status, ToolStatus::Success, "{commit:?}");
    assert!(commit.output.contains("[Not run, as no hook is: "), "{commit:?}");
    assert!(!mark.exists(), "{:?}", fs::read_to_string(&mark));
    let refused = place.call("git_commit", json!({"message": "x", "paths": ["sub"]})).await;
    assert_code(&refused, "SUBMODULE");
    write(&place, "d/b.txt", "other\n");
    write(&place, "c.bin", "y\n");
    let commit = place.call("git_commit", json!({"message": "x", "paths": ["."]})).await;
    assert_eq!(commit.status, ToolStatus::Success, "{commit:?}");
    assert!(commit.output.contains("[Left out, as they are repositories of their own: sub]"));
    assert!(!mark.exists(), "{:?}", fs::read_to_string(&mark));
    assert!(sub.join(".git").exists());
    // The traps are armed: git by itself runs them.
    for command in ["git diff -- a.txt; git status", "git status -- sub", "git diff -- sub"] {
        write(&place, "a.txt", command);
        place.bash(command).await;
        assert!(mark.exists(), "{command}");
        fs::remove_file(&mark).unwrap();
    }
}

#[tokio::test]
async fn sc_02_what_a_clone_lacks_is_not_fetched_by_a_program_that_it_names() {
    let place = repository(open()).await;
    let root = place.workspace.path();
    let mark = root.join("mark");
    let trap = root.join("trap.sh");
    fs::write(&trap, format!("#!/bin/sh\necho ran > {}\n", mark.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let hash = place.bash("git rev-parse HEAD:a.txt; git init -q --bare bare.git").await.output;
    let (dir, file) = hash.trim().split_at(2);
    let missing = root.join(".git/objects").join(dir).join(file);
    let config = root.join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::remove_file(&missing).unwrap();
    for (url, named) in [
        (root.join("bare.git").display().to_string(), "file"),
        (format!("ext::{}", trap.display()), "ext"),
    ] {
        let named = format!(
            "[remote \"o\"]\n promisor = true\n url = {url}\n uploadpack = {}\n\
             [protocol \"{named}\"]\n allow = always\n",
            trap.display()
        );
        fs::write(&config, format!("{text}{named}")).unwrap();
        let looked = git(&place, json!({"action": "show", "path": "a.txt"})).await;
        assert_code(&looked, "GIT_FAILED");
        let commit = place.call("git_commit", json!({"message": "x", "paths": ["d"]})).await;
        assert!(!mark.exists(), "{url}: {looked:?} {commit:?}");
        // The trap is armed.
        place.bash("git show HEAD:a.txt").await;
        fs::remove_file(&mark).unwrap();
    }
}

#[tokio::test]
async fn sc_03_secrets_are_not_shown_and_not_committed() {
    let place = repository(boxed()).await;
    place.outside("echo KEY=hush > .env && git add -f .env && git commit -qm secret");
    write(&place, ".env", "KEY=hush-hush\n");
    write(&place, "a.txt", "other\n");
    for arguments in [json!({"action": "diff"}), json!({"action": "diff", "rev": "HEAD~1"})] {
        let diff = git(&place, arguments).await;
        assert!(diff.output.contains("+other") && !diff.output.contains("hush"), "{diff:?}");
        assert!(diff.output.ends_with("because such files hold secrets: .env]"), "{diff:?}");
    }
    let shown = git(&place, json!({"action": "show"})).await;
    assert!(!shown.output.contains("hush"), "{shown:?}");
    let file = git(&place, json!({"action": "show", "path": ".env"})).await;
    assert_code(&file, "PROTECTED_FILE");
    // By its new name it would be shown as it was.
    place.bash("git mv .env plain.txt && git commit -qm moved -- .env plain.txt").await;
    let shown = git(&place, json!({"action": "show"})).await;
    assert!(!shown.output.contains("-KEY"), "{shown:?}");

    write(&place, ".env.local", "KEY=hush\n");
    let refused = place.call("git_commit", json!({"message": "all", "paths": ["."]})).await;
    assert_code(&refused, "PROTECTED_FILE");
}

#[tokio::test]
async fn sc_03_secrets_with_names_that_git_quotes_are_not_shown_and_not_committed() {
    let place = repository(boxed()).await;
    let names = ["a\"b.pem", "a\\b.pem", "a\tb.pem", "a\nb.pem", "世.pem", "\"q\"/.env"];
    fs::create_dir(place.workspace.path().join("\"q\"")).unwrap();
    for name in names {
        write(&place, name, "KEY=hush\n");
    }
    place.bash("git add -f . && git commit -qm secrets").await;
    let shown = git(&place, json!({"action": "show"})).await;
    assert!(!shown.output.contains("hush") && shown.output.contains("hold secrets"), "{shown:?}");
    for name in names {
        write(&place, name, "KEY=hush-hush\n");
    }
    let diff = git(&place, json!({"action": "diff"})).await;
    assert!(!diff.output.contains("hush") && diff.output.contains("hold secrets"), "{diff:?}");
    let refused = place.call("git_commit", json!({"message": "x", "paths": ["."]})).await;
    assert_code(&refused, "PROTECTED_FILE");
    // A name that is not text cannot be left out.
    place.outside("printf 'KEY=hush' > $'a\\xff.pem' && git add -f . && git commit -qm odd");
    let refused = git(&place, json!({"action": "show"})).await;
    assert_code(&refused, "PROTECTED_FILE");
    let elsewhere = git(&place, json!({"action": "show", "path": "a.txt"})).await;
    assert_eq!(elsewhere.output, "one\n");
}

#[tokio::test]
async fn sc_03_a_secret_is_not_shown_by_the_name_of_its_content() {
    let place = repository(boxed()).await;
    place.outside(
        "mkdir private && echo KEY=hush | tee .env > private/x && git add -f . && git commit -qm secret",
    );
    let hash =
        async |of: &str| place.bash(&format!("git rev-parse {of}")).await.output.trim().to_owned();
    let (file, dir) = (hash("HEAD:.env").await, hash("HEAD:private").await);
    for arguments in [
        json!({"action": "diff", "rev": file, "path": "a.txt"}),
        json!({"action": "diff", "rev": format!("{file}..{}", hash("HEAD:a.txt").await)}),
        json!({"action": "show", "rev": file}),
        json!({"action": "show", "rev": dir, "path": "x"}),
    ] {
        let refused = git(&place, arguments.clone()).await;
        assert_code(&refused, "GIT_FAILED");
        assert!(!refused.output.contains("hush"), "{arguments}: {refused:?}");
    }
    // An entry that names a commit is not shown with its differences.
    place.outside(
        "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),entry && git commit -qm entry",
    );
    let shown = git(&place, json!({"action": "show", "path": "entry"})).await;
    assert!(!shown.output.contains("hush"), "{shown:?}");
}

#[tokio::test]
async fn a_list_of_files_that_is_too_long_is_not_taken_for_the_whole() {
    let place = repository(boxed()).await;
    place.outside(
        "mkdir m && cd m && for n in $(seq 6000); do printf x > \
             $n-$(printf 'a%.0s' $(seq 190)); done; cd .. && mkdir n && echo KEY=hush > n/.env && \
             git add -f . && git commit -qm many",
    );
    assert_code(&git(&place, json!({"action": "show"})).await, "TOO_MANY_FILES");
    let part = git(&place, json!({"action": "show", "rev": "HEAD", "path": "a.txt"})).await;
    assert_eq!(part.output, "one\n");
}

#[tokio::test]
async fn who_a_commit_is_by_is_one_line() {
    let place = repository(boxed()).await;
    place.outside(r"git config user.name $'Ada\ntree 0000\rparent 1' && echo x > a.txt");
    let arguments = json!({"message": "x", "paths": ["a.txt"]});
    let planned = place.planned("git_commit", &arguments).await.unwrap();
    assert!(planned.summary.contains("by Ada <ada@example.org>"), "{planned:?}");
    place.outside(r"git config user.name 'Ada\ntree 0000'");
    let planned = place.planned("git_commit", &arguments).await.unwrap();
    assert!(planned.summary.contains(r"by Ada\ntree 0000 <"), "{planned:?}");
    assert_eq!(place.call("git_commit", arguments).await.status, ToolStatus::Success);
}

#[tokio::test]
async fn nothing_is_started_before_it_is_permitted_where_no_box_is_around_it() {
    // Looking would tell that it is no repository.
    let place = open();
    write(&place, "a.txt", "x");
    let arguments = json!({"message": "subject\n\nbody", "paths": ["a.txt"]});
    let planned = place.planned("git_commit", &arguments).await.unwrap();
    assert_eq!(planned.summary, "commit a.txt, which nobody has looked at: subject body");
    place.planned("git", &json!({"action": "diff"})).await.unwrap();
    assert_code(&place.call("git_commit", arguments).await, "NOT_A_REPOSITORY");
    // In a box, what is permitted is what was looked at.
    let refused = boxed().planned("git_commit", &json!({"message": "x"})).await.unwrap_err();
    assert_code(&refused, "NOT_A_REPOSITORY");

    let place = repository(open()).await;
    write(&place, "a.txt", "other");
    write(&place, ".env", "KEY=hush");
    let refused = place.call("git_commit", json!({"message": "x", "paths": ["."]})).await;
    assert_code(&refused, "PROTECTED_FILE");
    let commit = place.call("git_commit", json!({"message": "x", "paths": ["a.txt"]})).await;
    assert_eq!(commit.status, ToolStatus::Success, "{commit:?}");
    // The plan of another call does not carry it.
    let call = place.registry.prepare("git_commit", r#"{"message": "y", "paths": ["a.txt"]}"#);
    let other = place.planned("git_commit", &json!({"message": "z"})).await.unwrap();
    let limits = CallLimits::default();
    let changed = run_call(call.unwrap(), &other, &place.context(), limits).await.result;
    assert_code(&changed, "ACTION_CHANGED");
}

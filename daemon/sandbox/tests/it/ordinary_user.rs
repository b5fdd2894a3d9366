//! The same tests as an ordinary user, and as one who may not make user namespaces, when they are
//! root's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::process::Command;

use crate::boxes::{ENGINE, HELPER, NOBODY};

/// What an ordinary user needs to run these tests: copies of what may lie in a home of root's.
struct Tests {
    dir: TempDir,
    program: PathBuf,
}

impl Tests {
    fn copied() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(dir.path(), open.clone()).expect("mode");
        let copy = |from: &Path, name: &str| {
            let to = dir.path().join(name);
            fs::copy(from, &to).expect("a copy");
            to
        };
        copy(Path::new(env!("CARGO_BIN_EXE_agentd-sandbox-exec")), "helper");
        let program = copy(&std::env::current_exe().expect("this test"), "tests");
        // Directories of the tests are made in it, and are the user's own.
        fs::create_dir(dir.path().join("tmp")).expect("a directory");
        fs::set_permissions(dir.path().join("tmp"), open).expect("mode");
        Self { dir, program }
    }

    async fn run(&self, mut command: Command) -> String {
        command
            .uid(NOBODY)
            .gid(NOBODY)
            .current_dir("/")
            .env(HELPER, self.dir.path().join("helper"))
            .env("TMPDIR", self.dir.path().join("tmp"))
            // These count to it as tests of this process do, and not as the one that started it.
            .env_remove("NEXTEST_EXECUTION_MODE")
            // The engine is for whom its socket lets in.
            .env_remove(ENGINE)
            .kill_on_drop(true);
        let ended = command.output().await.expect("it runs");
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "{said}{}", String::from_utf8_lossy(&ended.stderr));
        said
    }
}

fn is_root(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("{test}: skipped, the tests are an ordinary user's already");
    }
    is_root
}

#[tokio::test]
async fn all_of_this_holds_for_an_ordinary_user_too() {
    if !is_root("ordinary user") {
        return;
    }
    let tests = Tests::copied();
    let mut command = Command::new(&tests.program);
    command.args(["--skip", "ordinary_user::", "--nocapture"]);
    let said = tests.run(command).await;
    for line in said.lines().filter(|line| line.contains("un on ") || line.contains("skipped")) {
        println!("as an ordinary user: {line}");
    }
    assert!(said.contains("escape suite: "), "{said}");
}

#[tokio::test]
async fn sb_01_without_user_namespaces_landlock_is_taken_and_the_reason_is_told() {
    let name =
        "ordinary_user::sb_01_without_user_namespaces_landlock_is_taken_and_the_reason_is_told";
    let has = |program: &str| Path::new("/usr/bin").join(program).exists();
    if std::env::var_os(HELPER).is_some() {
        without_namespaces().await;
        return;
    }
    if !is_root("no user namespaces") || !has("bwrap") {
        println!("no user namespaces: skipped, it needs root and bubblewrap");
        return;
    }
    let tests = Tests::copied();
    let mut command = Command::new("bwrap");
    command.args(["--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--"]);
    command.arg(&tests.program).args([name, "--exact", "--nocapture"]);
    tests.run(command).await;
}

/// Inside of a box that takes user namespaces away.
async fn without_namespaces() {
    use agentd_sandbox::{Backend, Choice, choose};

    let policy = crate::boxes::policy(Vec::new());
    let (sandbox, missing) = choose(Choice::Auto, &policy).await.expect("Landlock works");
    assert_eq!(sandbox.backend(), Backend::Landlock);
    let [missing] = missing.as_slice() else { panic!("{missing:?}") };
    assert_eq!(missing.backend, Backend::Bubblewrap);
    assert!(missing.reason.contains("bwrap: "), "it is in its own words: {missing}");
    let only = Choice::Only(Backend::Bubblewrap);
    let refused = choose(only, &policy).await.expect_err("it was asked for by name").to_string();
    assert!(refused.contains("programs are not run"), "{refused}");
}

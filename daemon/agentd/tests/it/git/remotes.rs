//! Repositories elsewhere: git in the box fetches, pulls and pushes over HTTP, and starts nothing for it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use agentd::config::SandboxConfig;
use agentd_domain::ToolResult;
use agentd_sandbox::{Backend, Choice};
use serde_json::json;

use self::server::Server;
use super::{repository, write};
use crate::programs::{Place, place};

mod server;

/// A repository in a box of each backend of this machine, what it asks of the network to reach the
/// server, and what it says that keeps it.
async fn each(server: &Server) -> Vec<(Place, &'static str)> {
    let mut found = Vec::new();
    for (backend, network) in [(Backend::Bubblewrap, "127.0.0.2"), (Backend::Landlock, "*")] {
        let allow_hosts = vec![server.address()];
        let config = SandboxConfig { allow_hosts, ..SandboxConfig::default() };
        let place = place(Choice::Only(backend), env!("CARGO_BIN_EXE_agentd"), &config);
        if place.bash("true").await.exit_code == Some(0) {
            let place = repository(place).await;
            place.outside(&format!("git remote add origin {}", server.url()));
            found.push((place, network));
        } else {
            left_out(backend);
        }
    }
    assert!(!found.is_empty());
    found
}

#[expect(clippy::print_stdout, reason = "whoever runs this should know what was left out")]
fn left_out(backend: Backend) {
    println!("remotes: {backend} does not work here");
}

/// Runs it with a way to the server.
async fn reaching(place: &Place, network: &str, command: &str) -> ToolResult {
    place.call("run_command", json!({ "command": command, "network": [network] })).await
}

#[track_caller]
fn assert_done(result: &ToolResult) {
    assert_eq!(result.exit_code, Some(0), "{result:?}");
}

async fn revision(place: &Place, of: &str) -> String {
    place.bash(&format!("git rev-parse {of}")).await.output
}

// What is done outside waits for the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_pushes_fetches_and_pulls_in_a_box_and_runs_no_hook() {
    for number in 0..2 {
        let server = Server::start().await;
        let mut places = each(&server).await;
        if number >= places.len() {
            return;
        }
        let (place, network) = places.swap_remove(number);
        place.outside(
            "for hook in pre-push post-merge post-checkout reference-transaction; do printf \
             '#!/bin/sh\ntouch mark\n' > .git/hooks/$hook && chmod +x .git/hooks/$hook; done",
        );
        let pushed = reaching(&place, network, "git push origin main").await;
        assert_done(&pushed);
        assert!(pushed.output.contains("[Hooks are not run in the sandbox"), "{pushed:?}");
        assert_eq!(revision(&place, "origin/main").await, revision(&place, "HEAD").await);
        assert_eq!(server.revision("main"), revision(&place, "HEAD").await.trim());

        // Somebody else pushes.
        let before = revision(&place, "origin/main").await;
        let other = "git -c core.hooksPath=/dev/null -c user.name=Eve -c user.email=e@example.org";
        place.outside(&format!(
            "d=$(mktemp -d) && {other} clone -q {} $d/r && cd $d/r && echo more > a.txt && \
             {other} commit -qam more && {other} push -q && rm -r $d",
            server.url()
        ));
        let fetched = reaching(&place, network, "git fetch origin && git log -1 origin/main").await;
        assert_done(&fetched);
        assert!(fetched.output.contains("Eve"), "{fetched:?}");
        assert_ne!(revision(&place, "origin/main").await, before);
        assert_eq!(revision(&place, "HEAD").await, before);
        assert_done(&reaching(&place, network, "git pull --no-rebase -q origin main").await);
        let text = fs::read_to_string(place.workspace.path().join("a.txt")).unwrap();
        assert_eq!(text, "more\n");
        assert!(!place.workspace.path().join("mark").exists());
        // The hooks are there, and would have been run.
        place.outside("git commit -qam x --allow-empty");
        assert!(place.workspace.path().join("mark").exists());

        // Without the network, or with another host, nothing is reached.
        let refused = place.bash("git fetch origin").await;
        assert_ne!(refused.exit_code, Some(0), "{refused:?}");
        if network != "*" {
            let refused = reaching(&place, "example.org", "git fetch origin").await;
            assert_ne!(refused.exit_code, Some(0), "{refused:?}");
            assert!(refused.output.contains("not let through to: 127.0.0.2"), "{refused:?}");
        }
        // Settings stay as they are, and what was done besides is told.
        if network != "*" {
            let set = reaching(&place, network, "git push -u origin main").await;
            assert!(set.output.contains("its settings stay as they are"), "{set:?}");
            assert_eq!(server.revision("main"), revision(&place, "HEAD").await.trim());
        }
    }
}

#[tokio::test]
async fn sc_02_no_way_to_another_repository_starts_a_program() {
    let server = Server::start().await;
    for (place, network) in each(&server).await {
        let root = place.workspace.path();
        let mark = root.join("mark");
        let trap = root.join("trap.sh");
        fs::write(&trap, format!("#!/bin/sh\necho \"$*\" >> {}\n", mark.display())).unwrap();
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
        let trap = trap.display();
        place.outside("git clone -q --bare . bare.git");
        let config = root.join(".git/config");
        let text = fs::read_to_string(&config).unwrap();
        let named = format!(
            "[remote \"file\"]\n url = {bare}\n promisor = true\n uploadpack = {trap}\n receivepack = {trap}\n\
             [remote \"ext\"]\n url = ext::{trap}\n\
             [remote \"vcs\"]\n url = x\n vcs = ext\n\
             [remote \"ssh\"]\n url = ssh://127.0.0.2/x\n uploadpack = {trap}\n\
             [remote \"git\"]\n url = git://127.0.0.2:1/x\n\
             [core]\n sshCommand = {trap}\n fsmonitor = {trap}\n",
            bare = root.join("bare.git").display(),
        );
        fs::write(&config, format!("{text}{named}")).unwrap();
        for command in [
            "git fetch file",
            "git push file main",
            "git pull file main",
            "git fetch bare.git",
            "git fetch ext",
            "git push ext main",
            "git fetch vcs",
            "git fetch ssh",
            "git push ssh main",
            "git fetch git",
            "git fetch 'ext::sh trap.sh'",
        ] {
            let refused = reaching(&place, network, command).await;
            assert_ne!(refused.exit_code, Some(0), "{command}: {refused:?}");
            assert!(refused.output.contains("' not allowed"), "{command}: {refused:?}");
            assert!(refused.output.contains("only over http and https"), "{command}: {refused:?}");
            assert!(!mark.exists(), "{command}: {refused:?}");
        }
        // What is missing is not fetched by such a way either.
        let hash = revision(&place, "HEAD:a.txt").await;
        let (dir, file) = hash.trim().split_at(2);
        fs::remove_file(root.join(".git/objects").join(dir).join(file)).unwrap();
        write(&place, "a.txt", "other\n");
        let refused = place.bash("git restore a.txt").await;
        assert_ne!(refused.exit_code, Some(0), "{refused:?}");
        assert!(!mark.exists(), "{refused:?}");
        // The traps are armed.
        for command in ["git fetch file", "git restore a.txt", "git fetch ssh"] {
            place.outside(&format!("{command} || true"));
            fs::remove_file(&mark).unwrap_or_else(|_| panic!("{command}"));
        }
    }
}

#[tokio::test]
async fn sc_02_git_in_another_repository_of_the_workspace_does_not_change_this_one() {
    let server = Server::start().await;
    for (place, _network) in each(&server).await {
        // Its filter is a program that could make this repository run others.
        let made = place
            .bash(
                "git init -q sub && cd sub && git config filter.x.clean 'touch ../.git/evil; cat' && \
                 echo '*.bin filter=x' > .gitattributes && echo x > a.bin",
            )
            .await;
        assert_done(&made);
        let add = json!({ "command": "git add a.bin", "cwd": "sub" });
        let added = place.call("run_command", add).await;
        let evil = place.workspace.path().join(".git/evil");
        let locks = place.planned("run_command", &json!({ "command": "true" })).await.unwrap();
        if format!("{locks:?}").contains("bubblewrap") {
            assert!(!evil.exists(), "{added:?}");
        } else {
            // Behind Landlock `.git` is watched, not locked; the program is run as any other.
            assert!(evil.exists(), "{added:?}");
        }
    }
}

//! Attempts to get out. Each is shown to work without a box, then to fail in one.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use agentd_sandbox::{Limits, Network};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::boxes::{Boxed, confining, directory, file, give, open_air, outsider};

/// Runs a script that prints `OUT` when it got out, unconfined and in each box.
async fn gets_out_only_unconfined(test: &str, script: impl Fn(&Boxed) -> String) {
    let open = open_air().await;
    let ran = open.run(&script(&open)).await;
    assert!(ran.out.contains("OUT"), "{test}: the attack itself is wrong: {ran:?}");
    for boxed in confining(test).await {
        let ran = boxed.run(&script(&boxed)).await;
        assert!(!ran.out.contains("OUT"), "{test} on {}: {ran:?}", boxed.sandbox.backend());
    }
}

#[tokio::test]
async fn writing_outside_the_workspace_fails() {
    let outside = directory();
    let path = outside.path().display().to_string();
    gets_out_only_unconfined("write", |_| format!("echo x > {path}/new && echo OUT")).await;
    fs::remove_file(outside.path().join("new")).expect("made without a box");
    for boxed in confining("write elsewhere").await {
        let script = "for d in /usr /etc /dev /proc /proc/sys/kernel /run / ; do
            echo x > $d/agentd-test && echo OUT $d; done; echo '|x' > /proc/sys/kernel/core_pattern && echo OUT";
        let ran = boxed.run(script).await;
        // A box's own /dev is in memory and ends with it.
        assert_eq!(ran.out.replace("OUT /dev\n", ""), "", "{ran:?}");
    }
    assert!(!outside.path().join("new").exists());
}

#[tokio::test]
async fn sc_03_secrets_beside_the_workspace_cannot_be_read() {
    gets_out_only_unconfined("read", |boxed| {
        let secret = file(&boxed.secrets, "key", "OUT");
        format!("cat {}", secret.display())
    })
    .await;
    gets_out_only_unconfined("read by a link", |boxed| {
        let secret = file(&boxed.secrets, "key", "OUT");
        format!("ln -sf {} link; cat link; cat < link", secret.display())
    })
    .await;
    gets_out_only_unconfined("read by a hard link", |boxed| {
        let secret = file(&boxed.secrets, "key", "OUT");
        format!("ln -f {} hard; cat hard", secret.display())
    })
    .await;
}

#[tokio::test]
async fn sc_03_the_environment_of_others_cannot_be_read_nor_can_they_be_touched() {
    let victim = outsider("sleep")
        .arg("600")
        .env("SECRET", "OUT")
        .stdout(Stdio::null())
        .spawn()
        .expect("a process");
    let pid = victim.id().expect("it runs");
    gets_out_only_unconfined("environ", |_| format!("tr '\\0' '\\n' < /proc/{pid}/environ")).await;
    gets_out_only_unconfined("its files", |_| format!("ls /proc/{pid}/root/ && echo OUT")).await;
    for boxed in confining("parents").await {
        let ran = boxed
            .run("for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || tr '\\0' '\\n' < $p/environ; done")
            .await;
        assert!(!ran.out.contains("SECRET") && !ran.out.contains("CARGO"), "{ran:?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn other_processes_cannot_be_traced_nor_namespaces_made() {
    let victim = outsider("sleep").arg("600").spawn().expect("a process");
    let pid = victim.id().expect("it runs");
    // ptrace(PTRACE_SEIZE).
    gets_out_only_unconfined("ptrace", |_| {
        format!("perl -e 'print \"OUT\" if syscall(101, 0x4206, {pid}, 0, 0) == 0'")
    })
    .await;
    gets_out_only_unconfined("userns", |_| "unshare -Ur true && echo OUT".to_owned()).await;
    // io_uring_setup with no entries is "invalid" to who may call it; it makes sockets that no filter sees.
    let script = "perl -e 'syscall(425, 0, 0); print \"OUT\" if $! == 14 || $! == 22'";
    assert_eq!(open_air().await.run(script).await.out, "OUT");
    for boxed in confining("io_uring").await {
        if boxed.is_container() {
            println!("io_uring: skipped on container: sockets lead nowhere, whoever makes them");
            continue;
        }
        assert_eq!(boxed.run(script).await.out, "", "{}", boxed.sandbox.backend());
    }
}

#[tokio::test]
async fn the_network_is_out_of_reach() {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    udp.set_nonblocking(true).expect("mode");
    let (tcp_port, udp_port) =
        (tcp.local_addr().expect("address").port(), udp.local_addr().expect("address").port());
    gets_out_only_unconfined("tcp", |_| {
        format!("(exec 3<>/dev/tcp/127.0.0.1/{tcp_port}) && echo OUT")
    })
    .await;
    let open = open_air().await;
    let send = format!("echo x > /dev/udp/127.0.0.1/{udp_port}");
    open.run(&send).await;
    let mut byte = [0; 8];
    assert!(udp.recv(&mut byte).is_ok(), "without a box it arrives");
    for boxed in confining("udp").await {
        boxed.run(&send).await;
        assert!(udp.recv(&mut byte).is_err(), "{}", boxed.sandbox.backend());
    }
}

#[tokio::test]
async fn a_program_that_may_use_the_network_reaches_it() {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = tcp.local_addr().expect("address").port();
    for mut boxed in confining("network").await {
        if boxed.is_container() {
            println!("network: skipped on container: this machine's own addresses are not in it");
            continue;
        }
        boxed.network = Network::All;
        let ran = boxed.run(&format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo OUT")).await;
        assert_eq!(ran.out, "OUT\n", "{ran:?}");
    }
}

#[tokio::test]
async fn sockets_of_other_programs_cannot_be_reached() {
    let outside = directory();
    let path = outside.path().join("socket");
    let _listener = UnixListener::bind(&path).expect("a listener");
    give(&path);
    let script = format!(
        "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) and connect(S, sockaddr_un(\"{}\")) and print \"OUT\"'",
        path.display()
    );
    gets_out_only_unconfined("unix", |_| script.clone()).await;
    for mut boxed in confining("unix with network").await {
        boxed.network = Network::All;
        assert_eq!(boxed.run(&script).await.out, "", "{}", boxed.sandbox.backend());
    }
}

#[tokio::test]
async fn sb_04_processes_memory_time_and_files_have_their_limits() {
    for mut boxed in confining("limits").await {
        boxed.limits = Limits { cpu: std::time::Duration::from_secs(1), ..Limits::SCRIPT };
        let backend = boxed.sandbox.backend();
        let forks = boxed
            .run(
                "perl -e 'while ($n < 200 && defined($p = fork)) { if (!$p) { sleep 100; exit }
                 $n++ } print $n'",
            )
            .await;
        let count: u32 = forks.out.trim().parse().expect("a count");
        // Without namespaces others of the same user count, and some of them may end meanwhile.
        assert!((10..150).contains(&count), "{backend}: {forks:?}");
        let memory = boxed.run("perl -e '$x = \"x\" x (1 << 30); print \"OUT\"'").await;
        assert_eq!(memory.out, "", "{backend}: {memory:?}");
        let file = boxed.run("head -c 100000000 /dev/zero > big; stat -c %s big").await;
        assert_eq!(file.out, format!("{}\n", Limits::SCRIPT.file_bytes), "{backend}");
        let cpu = boxed.run("while :; do :; done").await;
        assert!(cpu.exit.signal.is_some(), "{backend}: {cpu:?}");
        let raised = boxed.run("ulimit -v unlimited && echo OUT; ulimit -t 100 && echo OUT").await;
        assert_eq!(raised.out, "", "{backend}");
    }
}

#[tokio::test]
async fn a_fork_bomb_ends_with_its_box() {
    for mut boxed in confining("fork bomb").await {
        boxed.limits = Limits::SCRIPT;
        let mut child = boxed.start("echo up; bomb() { bomb | bomb & }; bomb; wait").await;
        let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
        assert_eq!(lines.next_line().await.expect("read").as_deref(), Some("up"));
        child.terminate().await;
        let ended = tokio::time::timeout(std::time::Duration::from_secs(30), child.wait()).await;
        ended.expect("it ends").expect("an exit");
    }
}

#[tokio::test]
async fn sb_04_the_environment_is_the_boxs_own() {
    let open = open_air().await;
    let names = "env | cut -d= -f1 | sort | tr '\\n' ' '";
    let expect = "DEBIAN_FRONTEND EDITOR GIT_ASKPASS GIT_ATTR_NOSYSTEM GIT_CONFIG_NOSYSTEM \
                  GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR GIT_TERMINAL_PROMPT HOME LANG NO_COLOR PAGER PATH PWD SHLVL SSH_ASKPASS TERM \
                  TMPDIR VISUAL _ ";
    let mut all = confining("environment").await;
    all.push(open);
    for boxed in all {
        let ran = boxed.run(names).await;
        // An engine gives a name to the machine.
        let names = ran.out.replace("OLDPWD ", "").replace("HOSTNAME ", "");
        assert_eq!(names, expect, "{}", boxed.sandbox.backend());
        let home = boxed.run("cd && touch file && ls; echo x > $TMPDIR/y && cat $TMPDIR/y").await;
        assert_eq!(home.out, "file\nx\n", "{home:?}");
        assert_eq!(boxed.run("ls $HOME").await.out, "", "nothing is left of another run");
    }
}

#[tokio::test]
async fn set_uid_programs_give_no_rights() {
    for boxed in confining("set-uid").await {
        let ran = boxed.run("grep -E 'NoNewPrivs|CapEff|CapBnd|Seccomp:' /proc/self/status").await;
        assert!(ran.out.contains("NoNewPrivs:\t1"), "{ran:?}");
        assert!(ran.out.contains("CapEff:\t0000000000000000"), "{ran:?}");
        assert!(ran.out.contains("Seccomp:\t2"), "{ran:?}");
    }
}

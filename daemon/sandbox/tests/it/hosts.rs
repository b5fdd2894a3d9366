//! Programs that may reach some hosts.

use std::process::Stdio;

use agentd_sandbox::{AllowList, Backend, Grant, Network, SpawnError};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::boxes::{Boxed, boxed, confining};

/// Asks the proxy of the box, as the proof of the promise does.
const ASK: &str = "ask() { exec 3<> /dev/tcp/127.0.0.1/${HTTP_PROXY##*:};
    printf 'CONNECT %s HTTP/1.1\\r\\n\\r\\n' $1 >&3; read -r _ code _ <&3; echo $1 $code; }\n";

/// A server on loopback that answers every connection with a page.
async fn server() -> (u16, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let port = listener.local_addr().expect("address").port();
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _read = stream.read(&mut [0; 4096]).await;
            let page = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\npage\n";
            let _gone = stream.write_all(page.as_bytes()).await;
        }
    });
    (port, serving)
}

/// A way to this server by one name, which the owner has named.
fn some_hosts(port: u16) -> Network {
    let hosts = ["127.0.0.1", "localhost"].map(str::to_owned).into();
    Network::Hosts(Grant::of(hosts, AllowList::new(&[format!("127.0.0.1:{port}")])))
}

async fn bubblewrap(test: &str) -> Option<Boxed> {
    match boxed(Backend::Bubblewrap).await {
        Ok(boxed) => Some(boxed),
        Err(reason) => {
            println!("{test}: skipped: {reason}");
            None
        }
    }
}

#[tokio::test]
async fn sb_04_a_program_reaches_the_hosts_that_it_was_granted_and_no_others() {
    let Some(mut boxed) = bubblewrap("hosts").await else { return };
    let (port, _serving) = server().await;
    let (other, _other) = server().await;
    boxed.network = some_hosts(port);
    let script = format!(
        "{ASK}(exec 3<> /dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo OUT
         (echo x > /dev/udp/8.8.8.8/53) 2>/dev/null && echo OUT
         ask 127.0.0.1:{port}; ask 127.0.0.1:{other}; ask localhost:{port}; ask example.org:443"
    );
    let ran = boxed.run(&script).await;
    let expect = format!(
        "127.0.0.1:{port} 200\n127.0.0.1:{other} 403\nlocalhost:{port} 403\nexample.org:443 403\n"
    );
    assert_eq!(ran.out, expect, "{ran:?}");
    assert_eq!(ran.exit.refused_hosts, ["127.0.0.1", "example.org", "localhost"]);
}

#[tokio::test]
async fn usual_programs_find_the_way_by_themselves() {
    let Some(mut boxed) = bubblewrap("curl").await else { return };
    let found = std::process::Command::new("curl").arg("-V").stdout(Stdio::null()).status();
    if found.is_err() {
        println!("curl: skipped: curl is not installed");
        return;
    }
    let (port, _serving) = server().await;
    boxed.network = some_hosts(port);
    // What listens in the box itself is asked without a proxy, so this name has to be excepted.
    let ran = boxed.run(&format!("curl -sS --noproxy '' http://127.0.0.1:{port}/")).await;
    assert_eq!(ran.out, "page\n", "{ran:?}");
    let ran = boxed.run("curl -sS http://example.org/").await;
    assert!(ran.out.contains("the host 'example.org' is not granted"), "{ran:?}");
}

#[tokio::test]
async fn the_way_of_one_run_is_in_reach_of_no_other_and_ends_with_it() {
    let Some(mut boxed) = bubblewrap("other runs").await else { return };
    let (port, _serving) = server().await;
    boxed.network = some_hosts(port);
    let mut first = boxed.start("echo ${HTTP_PROXY##*:}; sleep 600").await;
    let mut lines = BufReader::new(first.stdout.take().expect("output")).lines();
    let way: u16 = lines.next_line().await.expect("read").expect("a line").parse().expect("a port");
    let machine = TcpStream::connect(("127.0.0.1", way)).await;
    assert!(machine.is_err(), "it is no port of this machine");
    let reach = format!("(exec 3<> /dev/tcp/127.0.0.1/{way}) && echo OUT");
    boxed.network = Network::None;
    assert_eq!(boxed.run(&reach).await.out, "");
    boxed.network = Network::Hosts(Grant::of(Vec::new(), AllowList::default()));
    // Should both have the same number, then it is that of its own way, which leads nowhere.
    let ran = boxed.run(&format!("{ASK}ask 127.0.0.1:{port}")).await;
    assert_eq!(ran.out, format!("127.0.0.1:{port} 403\n"), "{ran:?}");
    first.terminate().await;
    first.wait().await.expect("it ends");
}

#[tokio::test]
async fn a_backend_that_cannot_tell_hosts_apart_runs_nothing_for_some_of_them() {
    for mut boxed in confining("no hosts").await {
        let backend = boxed.sandbox.backend();
        if backend == Backend::Bubblewrap {
            continue;
        }
        boxed.network = some_hosts(80);
        let refused = boxed.sandbox.spawn(&boxed.command(&["true"])).await.expect_err("refused");
        assert!(matches!(refused, SpawnError::NoHosts { .. }), "{refused}");
        assert!(refused.to_string().contains("install bubblewrap"), "{refused}");
    }
}

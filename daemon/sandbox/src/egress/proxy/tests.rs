use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::AllowList;

/// Knows two names: one of this machine that the owner named, and one that leads to it by stealth.
#[derive(Debug)]
struct Names;

#[async_trait]
impl Lookup for Names {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        match host {
            "named.test" | "stealth.test" => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            "cloud.test" => Ok(vec![[8, 8, 8, 8].into(), [169, 254, 169, 254].into()]),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
        }
    }
}

struct Place {
    egress: Egress,
    proxy: SocketAddr,
    server: SocketAddr,
    _server: JoinSet<()>,
}

/// A proxy for `hosts`, and a server that answers with what it was asked.
async fn place(hosts: &[&str]) -> Place {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let server = listener.local_addr().expect("address");
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            connections.spawn(async move {
                let asked = read_head(&mut stream).await;
                let head = format!(
                    "HTTP/1.1 200 OK\r\nkeep-alive: x\r\nx-a: b\r\ncontent-length: {}\r\n\r\n",
                    asked.len()
                );
                let _gone = stream.write_all(format!("{head}{asked}").as_bytes()).await;
                let _gone = stream.read(&mut [0]).await;
            });
        }
    });
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let proxy = port.local_addr().expect("address");
    let named = AllowList::new(&[format!("named.test:{}", server.port())]);
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    let egress = Egress::with(port, Grant::of(hosts, named), Arc::new(Names)).expect("it serves");
    Place { egress, proxy, server, _server: serving }
}

/// Up to the blank line.
async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await.expect("read") == 0 {
            break;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).expect("text")
}

impl Place {
    /// What the proxy answers to this head: status, then all up to its end.
    async fn ask(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(self.proxy).await.expect("connect");
        let head = format!("{head}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("write");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("read");
        answer
    }

    async fn connect(&self, host: &str) -> (TcpStream, String) {
        let mut stream = TcpStream::connect(self.proxy).await.expect("connect");
        let head = format!("CONNECT {host}:{} HTTP/1.1\r\n\r\n", self.server.port());
        stream.write_all(head.as_bytes()).await.expect("write");
        let head = read_head(&mut stream).await;
        (stream, head)
    }
}

#[tokio::test]
async fn a_granted_host_is_reached_through_a_tunnel() {
    let place = place(&["named.test"]).await;
    let (mut stream, head) = place.connect("NAMED.test.").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("write");
    assert!(read_head(&mut stream).await.contains("x-a: b"));
    assert!(place.egress.refused().is_empty());
}

#[tokio::test]
async fn a_granted_host_is_asked_for_a_url_and_told_its_own_name_alone() {
    let place = place(&["named.test"]).await;
    let port = place.server.port();
    let answer = place
        .ask(&format!(
            "GET http://named.test:{port}/a?b HTTP/1.1\r\nhost: other.test\r\nproxy-authorization: \
             x\r\nconnection: x-secret\r\nx-secret: 1\r\nx-kept: 2"
        ))
        .await
        .to_lowercase();
    assert!(answer.starts_with("http/1.1 200"), "{answer}");
    assert!(answer.contains("get /a?b http/1.1"), "{answer}");
    assert!(answer.contains(&format!("host: named.test:{port}")), "{answer}");
    assert!(answer.contains("x-kept: 2") && answer.contains("x-a: b"), "{answer}");
    for gone in ["other.test", "proxy-authorization", "x-secret", "keep-alive"] {
        assert!(!answer.contains(gone), "{gone}: {answer}");
    }
}

#[tokio::test]
async fn a_host_that_was_not_granted_is_refused_and_named() {
    let place = place(&["named.test", "*.good.test"]).await;
    let (mut stream, head) = place.connect("evil.test").await;
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    let mut said = [0; 44];
    stream.read_exact(&mut said).await.expect("a body");
    assert_eq!(String::from_utf8_lossy(&said), "agentd: the host 'evil.test' is not granted,");
    let answer = place.ask("GET http://other.test/ HTTP/1.1\r\nhost: named.test").await;
    assert!(answer.contains("only: named.test, *.good.test"), "{answer}");
    assert!(answer.contains("in the argument network"), "{answer}");
    assert_eq!(place.egress.refused(), ["evil.test", "other.test"]);
}

#[tokio::test]
async fn wb_01_a_granted_name_that_leads_to_an_address_that_is_not_public_is_refused() {
    let place = place(&["stealth.test", "cloud.test", "127.0.0.1", "[::1]", "2130706433"]).await;
    for host in ["stealth.test", "cloud.test"] {
        let (_, head) = place.connect(host).await;
        assert!(head.starts_with("HTTP/1.1 403"), "{host}: {head}");
    }
    let answer = place.ask("GET http://cloud.test/latest/meta-data HTTP/1.1").await;
    assert!(answer.contains("a link-local address, where clouds give out"), "{answer}");
    assert!(answer.contains("sandbox.allow_hosts"), "{answer}");
    assert_eq!(place.egress.refused(), ["cloud.test", "stealth.test"]);
}

/// As the machine itself reads addresses.
#[tokio::test]
async fn wb_01_an_address_that_is_not_public_is_refused_however_it_is_written() {
    let hosts = ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"];
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let proxy = port.local_addr().expect("address");
    let granted = Grant::of(hosts.map(str::to_owned).into(), AllowList::default());
    let egress = Egress::serve(port, granted).expect("it serves");
    for host in hosts {
        let mut stream = TcpStream::connect(proxy).await.expect("connect");
        let ask = format!("CONNECT {host}:{} HTTP/1.1\r\n\r\n", proxy.port());
        stream.write_all(ask.as_bytes()).await.expect("write");
        let head = read_head(&mut stream).await;
        assert!(head.starts_with("HTTP/1.1 403"), "{host}: {head}");
    }
    assert_eq!(egress.refused().len(), hosts.len());
}

#[tokio::test]
async fn what_is_no_request_to_a_proxy_is_told_so() {
    let place = place(&["named.test", "gone.test"]).await;
    for (asked, status, words) in [
        ("GET / HTTP/1.1\r\nhost: named.test", "400", "absolute URLs"),
        ("GET https://named.test/ HTTP/1.1", "400", "absolute URLs"),
        ("CONNECT named.test HTTP/1.1", "400", "a host and a port"),
        ("GET http://gone.test/ HTTP/1.1", "502", "no address that is known"),
    ] {
        let answer = place.ask(asked).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{asked}: {answer}");
        assert!(answer.contains(words), "{asked}: {answer}");
    }
    let long = "x".repeat(2 * MAX_HEAD);
    let mut stream = TcpStream::connect(place.proxy).await.expect("connect");
    // It may close before all of it was written.
    let _closed = stream.write_all(format!("GET http://named.test/{long}").as_bytes()).await;
    let mut answer = Vec::new();
    let _reset = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
}

#[tokio::test]
async fn all_connections_end_with_the_run() {
    let place = place(&["named.test"]).await;
    let (mut stream, head) = place.connect("named.test").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    drop(place.egress);
    let mut rest = Vec::new();
    let _reset = stream.read_to_end(&mut rest).await;
    let again = async {
        // The port is closed as soon as its task is gone.
        while TcpStream::connect(place.proxy).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), again).await.expect("the port is closed");
}

#[tokio::test]
async fn no_more_connections_are_served_at_once_than_there_are_places_for() {
    let place = place(&["named.test"]).await;
    let mut open = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        let (stream, head) = place.connect("named.test").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        open.push(stream);
    }
    let ask = format!("CONNECT named.test:{} HTTP/1.1\r\n\r\n", place.server.port());
    let mut waits = TcpStream::connect(place.proxy).await.expect("the system takes it");
    waits.write_all(ask.as_bytes()).await.expect("write");
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert!(waits.try_read(&mut [0]).is_err(), "it waits for a place");
    open.pop();
    assert!(read_head(&mut waits).await.starts_with("HTTP/1.1 200"));
}

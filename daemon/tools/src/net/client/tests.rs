use std::io::{self, Write as _};
use std::net::IpAddr;
use std::sync::Mutex;

use async_trait::async_trait;
use flate2::{Compression, write::GzEncoder};

use super::super::test_server::{Reply, TestServer, answer, page};
use super::*;

/// Answers each lookup with the next of these.
#[derive(Debug)]
struct Scripted(Mutex<Vec<Vec<&'static str>>>);

#[async_trait]
impl Lookup for Scripted {
    async fn lookup(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        let mut answers = self.0.lock().expect("not poisoned");
        let next = if answers.is_empty() { Vec::new() } else { answers.remove(0) };
        Ok(next.into_iter().map(|address| address.parse().expect("an address")).collect())
    }
}

fn limits(body_bytes: usize) -> Limits {
    Limits { body_bytes, total: Duration::from_secs(20), ..Limits::default() }
}

fn client_of(server: &TestServer, limits: Limits) -> Client {
    Client::with_limits(AllowList::new(&[server.address.to_string()]), limits)
}

async fn get(client: &Client, url: &str) -> Result<Answer, ToolResult> {
    client.ask(Target::parse(url, &client.allowed)?, Ask::default()).await
}

fn code(result: Result<Answer, ToolResult>) -> String {
    result.expect_err("an error").error_code
}

#[tokio::test]
async fn wb_01_a_name_is_asked_only_when_all_its_addresses_are_public() {
    let server = TestServer::start(|_| page("text/plain", "inside")).await;
    for addresses in [
        vec!["127.0.0.1"],
        vec!["::1"],
        vec!["93.184.215.14", "127.0.0.1"],
        vec!["10.0.0.7", "93.184.215.14"],
        vec!["::ffff:127.0.0.1"],
        vec!["64:ff9b::7f00:1"],
        vec!["169.254.169.254"],
    ] {
        let lookup = Scripted(Mutex::new(vec![addresses]));
        let client = Client::with(AllowList::default(), limits(100), Arc::new(lookup));
        let url = format!("http://rebind.example:{}/", server.address.port());
        assert_eq!(code(get(&client, &url).await), "ADDRESS_NOT_PUBLIC");
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn wb_01_only_the_port_that_the_owner_named_is_asked() {
    let server = TestServer::start(|_| page("text/plain", "inside")).await;
    let lookup = Scripted(Mutex::new(vec![vec!["127.0.0.1"], vec!["127.0.0.1"]]));
    let named = AllowList::new(&[format!("rebind.example:{}", server.address.port())]);
    let client = Client::with(named, limits(100), Arc::new(lookup));
    let url = format!("http://rebind.example:{}/", server.address.port());
    assert_eq!(get(&client, &url).await.expect("it is named").body, b"inside");
    // The same name on another port is not what the owner named.
    assert_eq!(code(get(&client, "http://rebind.example/").await), "ADDRESS_NOT_PUBLIC");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn wb_01_each_redirect_is_checked_before_it_is_followed() {
    let server = TestServer::start(|path| {
        let to = match path {
            "/loopback" => "http://127.0.0.1:1/",
            "/decimal" => "http://2130706433:1/",
            "/metadata" => "http://169.254.169.254/latest/",
            "/name" => "http://localhost.:1/",
            "/file" => "file:///etc/passwd",
            "/user" => "http://me@93.184.215.14/",
            "/other" => "https://other.example/x",
            "/once" => "/end",
            "/ring" => "/ring",
            _ => return page("text/plain", "the end"),
        };
        answer("302 Found", &format!("location: {to}\r\n"), "moved")
    })
    .await;
    let client = client_of(&server, limits(100));
    let check = async |path: &str, expect: &str| {
        assert_eq!(code(get(&client, &server.url(path)).await), expect, "{path}");
    };
    check("/loopback", "ADDRESS_NOT_PUBLIC").await;
    check("/decimal", "ADDRESS_NOT_PUBLIC").await;
    check("/metadata", "ADDRESS_NOT_PUBLIC").await;
    check("/name", "ADDRESS_NOT_PUBLIC").await;
    check("/file", "INVALID_URL").await;
    check("/user", "INVALID_URL").await;
    check("/ring", "TOO_MANY_REDIRECTS").await;
    let rings = server.requests().iter().filter(|request| request.starts_with("GET /ring")).count();
    assert_eq!(rings, 1 + MAX_REDIRECTS);

    let end = get(&client, &server.url("/once")).await.expect("followed");
    assert_eq!((end.body.as_slice(), end.target.url.path()), (b"the end".as_slice(), "/end"));
    let other = get(&client, &server.url("/other")).await.expect("told");
    let moved_to = other.moved_to.expect("another site");
    assert_eq!(moved_to.shown(), "https://other.example/x");
}

#[tokio::test]
async fn wb_01_what_carries_a_key_follows_no_redirect() {
    let server =
        TestServer::start(|_| answer("307 Moved", "location: /again\r\nset-cookie: a=b\r\n", ""))
            .await;
    let client = client_of(&server, limits(100));
    let mut headers = HeaderMap::new();
    headers.insert("x-key", "secret".parse().expect("a value"));
    let target = Target::parse(&server.url("/"), &client.allowed).expect("a target");
    let ask = Ask { headers, ..Ask::default() };
    let answer = client.ask(target, ask).await.expect("told");
    assert!(answer.moved_to.is_some());
    assert_eq!(server.requests().len(), 1);
    // Nor is a cookie sent back.
    drop(get(&client, &server.url("/")).await);
    assert!(server.requests().iter().skip(1).all(|request| !request.contains("cookie")));
}

#[tokio::test]
async fn wb_02_a_body_is_read_up_to_its_limit_whatever_it_says() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
    let server = TestServer::start(|path| match path {
        "/endless" => Reply::Endless(
            HEAD.to_owned().into_bytes().into_iter().chain(*b"\r\n").collect(),
            vec![b'x'; 4096],
        ),
        "/chunked" => Reply::Endless(
            format!("{HEAD}transfer-encoding: chunked\r\n\r\n").into_bytes(),
            b"4\r\nabcd\r\n".to_vec(),
        ),
        "/lies" => Reply::Endless(
            format!("{HEAD}content-length: 10\r\n\r\n").into_bytes(),
            vec![b'y'; 4096],
        ),
        _ => Reply::Bytes(format!("{HEAD}content-length: 5000000000\r\n\r\nshort").into_bytes()),
    })
    .await;
    let client = client_of(&server, limits(10_000));
    for path in ["/endless", "/chunked"] {
        let answer = get(&client, &server.url(path)).await.expect("a part");
        assert_eq!(answer.body.len(), 10_000, "{path}");
        assert_eq!(answer.cut.as_deref(), Some("Only the first 10000 bytes were read."));
    }
    let answer = get(&client, &server.url("/lies")).await.expect("ten bytes");
    assert_eq!((answer.body.as_slice(), answer.cut), (b"yyyyyyyyyy".as_slice(), None));
    let answer = get(&client, &server.url("/broken")).await.expect("a part");
    assert_eq!(answer.body, b"short");
    assert!(answer.cut.expect("cut").contains("broke off"));
}

#[tokio::test]
async fn wb_02_a_bomb_of_gzip_is_unpacked_no_further_than_there_is_room() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1024 * 1024];
    for _ in 0..64 {
        gzip.write_all(&zeros).expect("in memory");
    }
    let bomb = gzip.finish().expect("in memory");
    let mut small = GzEncoder::new(Vec::new(), Compression::best());
    small.write_all("世界".as_bytes()).expect("in memory");
    let small = small.finish().expect("in memory");
    let server = TestServer::start(move |path| {
        let half = small.get(..small.len() / 2).unwrap_or_default();
        match path {
            "/bomb" => answer("200 OK", "content-encoding: gzip\r\n", &bomb),
            "/half" => answer("200 OK", "content-encoding: gzip\r\n", half),
            "/junk" => answer("200 OK", "content-encoding: gzip\r\n", "not packed at all"),
            "/brotli" => answer("200 OK", "content-encoding: br\r\n", "??"),
            _ => answer("200 OK", "content-encoding: gzip\r\n", &small),
        }
    })
    .await;
    let client = client_of(&server, limits(100_000));
    let answer = get(&client, &server.url("/bomb")).await.expect("a part");
    assert_eq!(answer.body.len(), 100_000);
    assert!(answer.cut.is_some());
    let answer = get(&client, &server.url("/small")).await.expect("whole");
    assert_eq!((answer.body.as_slice(), answer.cut), ("世界".as_bytes(), None));
    let answer = get(&client, &server.url("/half")).await.expect("a part");
    assert!(answer.body.len() < 6);
    assert!(answer.cut.expect("cut").contains("damaged"));
    assert_eq!(code(get(&client, &server.url("/junk")).await), "NO_ANSWER");
    assert_eq!(code(get(&client, &server.url("/brotli")).await), "UNKNOWN_ENCODING");
}

#[tokio::test]
async fn wb_02_a_server_that_drips_or_says_nothing_does_not_hold_the_call() {
    let server = TestServer::start(|path| match path {
        "/part" => Reply::Hang(b"HTTP/1.1 200 OK\r\n\r\npart".to_vec()),
        _ => Reply::Hang(Vec::new()),
    })
    .await;
    let limits = Limits { total: Duration::from_secs(1), body_bytes: 100, ..Limits::default() };
    let client = client_of(&server, limits);
    let (part, nothing) = (server.url("/part"), server.url("/nothing"));
    // Roots are loaded first, which is not a matter of the server.
    client.http(Trust::Named).await.expect("a client");
    let (part, nothing) = tokio::join!(get(&client, &part), get(&client, &nothing));
    let part = part.expect("what came");
    assert_eq!(part.body, b"part");
    assert_eq!(part.cut.as_deref(), Some("Only what came within 1 s was read."));
    assert_eq!(code(nothing), "NO_ANSWER");
}

#[tokio::test]
async fn a_host_that_is_not_there_may_be_tried_again() {
    let lookup = Scripted(Mutex::new(Vec::new()));
    let client = Client::with(AllowList::default(), limits(100), Arc::new(lookup));
    let refused = get(&client, "http://nowhere.example/?token=t").await.expect_err("no address");
    assert!(refused.is_retryable());
    assert_eq!(
        refused.output,
        "'http://nowhere.example/?token=***' cannot be reached: the name has no address."
    );
}

//! A server that answers as no good server would.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agentd_domain::{Clock, SessionId, TimestampMs};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{LiveOutput, ToolContext};

#[derive(Debug)]
struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(0)
    }
}

/// What a call may use.
pub(super) fn context() -> ToolContext {
    ToolContext {
        workspace: PathBuf::from("/"),
        session: SessionId::from_parts(1, 1),
        clock: Arc::new(NoClock),
        cancel: CancellationToken::new(),
        output: LiveOutput::nobody(),
        people: Arc::new(crate::people::Nobody),
        goals: Arc::new(crate::goals::NoGoals),
        history: Arc::new(crate::history::NoHistory),
        readable: Arc::default(),
        further_roots: Arc::default(),
        files: Arc::default(),
    }
}

/// What is sent back.
pub(super) enum Reply {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// These bytes, then nothing more for ever.
    Hang(Vec<u8>),
    /// The first bytes, then the others again and again.
    Endless(Vec<u8>, Vec<u8>),
}

/// An answer with these header lines and a body.
pub(super) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    Reply::Bytes([head.as_bytes(), body].concat())
}

pub(super) fn page(content_type: &str, body: impl AsRef<[u8]>) -> Reply {
    answer("200 OK", &format!("content-type: {content_type}\r\n"), body)
}

/// A server on loopback; dropping it ends it.
pub(super) struct TestServer {
    pub(super) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl TestServer {
    /// Starts one that answers a path with `reply`.
    pub(super) async fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, reply) = (Arc::clone(&requests), Arc::new(reply));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&seen), Arc::clone(&reply)));
            }
        });
        Self { address, requests, _tasks: tasks }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, each with its body.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    reply: Arc<impl Fn(&str) -> Reply>,
) {
    let mut request = String::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk).await.unwrap_or(0);
        request.push_str(&String::from_utf8_lossy(chunk.get(..read).unwrap_or_default()));
        let body = request.split_once("\r\n\r\n").map(|(head, body)| (head.to_lowercase(), body));
        let is_whole = body.is_some_and(|(head, body)| {
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            body.len() >= length.map_or(0, |length| length.parse().unwrap_or(0))
        });
        if is_whole || read == 0 {
            break;
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().expect("not poisoned").push(request);
    let reply = reply(&path);
    match reply {
        Reply::Bytes(bytes) => drop(stream.write_all(&bytes).await),
        Reply::Hang(bytes) => {
            drop(stream.write_all(&bytes).await);
            std::future::pending::<()>().await;
        }
        Reply::Endless(first, again) => {
            let mut result = stream.write_all(&first).await;
            while result.is_ok() {
                result = stream.write_all(&again).await;
            }
        }
    }
}

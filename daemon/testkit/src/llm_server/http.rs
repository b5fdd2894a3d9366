//! The little HTTP/1.1 that the server speaks, written by hand to control every byte.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::render::json_body;
use super::script::{Cuts, End, Framing, Rendered, Write};
use super::{Pace, RecordedRequest, Shared};

/// Most bytes of a request's head.
const MAX_HEAD: usize = 64 * 1024;
/// Bytes that coalesced deltas share.
const BLOCK: usize = 64 * 1024;

/// Serves one connection until a side closes it.
pub(super) async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    // A failing option only makes writes slower.
    drop(stream.set_nodelay(true));
    let mut unread = Vec::new();
    while let Ok(Some(request)) = read_request(&mut stream, &mut unread).await {
        let path = request.path.split('?').next().unwrap_or_default().to_owned();
        let reply = if request.api().is_some() {
            shared.answer(request)
        } else if path.ends_with("/embeddings") {
            shared.embed(request)
        } else if path.ends_with("/models") {
            json_body(200, &model_list(&shared.models()))
        } else {
            let message = format!("no such path: {path}");
            json_body(404, &json!({"error": {"message": message, "code": "not_found"}}))
        };
        match write_reply(&mut stream, &reply).await {
            Ok(After::KeepAlive) => {}
            Ok(After::Close) => return,
            Err(_client_left) => {
                shared.client_left();
                return;
            }
        }
    }
}

/// Reads the next request; `None` when the client closed the connection.
async fn read_request(
    stream: &mut TcpStream,
    unread: &mut Vec<u8>,
) -> io::Result<Option<RecordedRequest>> {
    let head_end = loop {
        if let Some(at) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if unread.len() > MAX_HEAD {
            return Err(io::Error::other("the head is too long"));
        }
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    };
    let rest = unread.split_off(head_end + 4);
    let head = String::from_utf8_lossy(unread).into_owned();
    *unread = rest;
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    while unread.len() < length {
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
    let rest = unread.split_off(length);
    let raw = std::mem::replace(unread, rest);
    let body = serde_json::from_slice(&raw).unwrap_or(Value::Null);
    Ok(Some(RecordedRequest { method, path, headers, raw, body }))
}

enum After {
    KeepAlive,
    Close,
}

/// The models in the form of OpenAI, with what Anthropic's has beside.
fn model_list(models: &[String]) -> Value {
    let model =
        |id: &String| json!({"id": id, "object": "model", "type": "model", "display_name": id});
    let data: Vec<Value> = models.iter().map(model).collect();
    json!({
        "object": "list", "data": data, "has_more": false,
        "first_id": models.first(), "last_id": models.last(),
    })
}

async fn write_reply(stream: &mut TcpStream, reply: &Rendered) -> io::Result<After> {
    match &reply.how.before_headers {
        Some(Write::Wait(gate)) => unless_client_leaves(stream, gate.pass()).await?,
        Some(Write::Pause(time)) => unless_client_leaves(stream, sleep(*time)).await?,
        Some(Write::Stall) => unless_client_leaves(stream, std::future::pending()).await?,
        Some(Write::Bytes(_) | Write::Repeat { .. }) => return Ok(After::Close),
        None => {}
    }
    let mut body = BodyWriter { out: head(reply).into_bytes(), reply, position: 0 };
    for write in &reply.writes {
        match write {
            Write::Bytes(bytes) => body.write(stream, bytes).await?,
            Write::Repeat { bytes, count, pace: Pace::EachWrite } => {
                for _ in 0..*count {
                    body.write(stream, bytes).await?;
                }
            }
            Write::Repeat { bytes, count, pace: Pace::Coalesced } => {
                let fit = (BLOCK / bytes.len().max(1)).max(1);
                for start in (0..*count).step_by(fit) {
                    body.write(stream, &bytes.repeat(fit.min(count - start))).await?;
                }
            }
            Write::Wait(gate) => {
                body.flush(stream).await?;
                unless_client_leaves(stream, gate.pass()).await?;
            }
            Write::Pause(time) => {
                body.flush(stream).await?;
                unless_client_leaves(stream, sleep(*time)).await?;
            }
            Write::Stall => {
                body.flush(stream).await?;
                unless_client_leaves(stream, std::future::pending()).await?;
            }
        }
    }
    if reply.how.end == End::Clean && reply.how.framing == Framing::Chunked {
        body.out.extend_from_slice(b"0\r\n\r\n");
    }
    body.flush(stream).await?;
    match reply.how.end {
        End::Clean if reply.how.framing != Framing::UntilClose => Ok(After::KeepAlive),
        End::Clean | End::Cut => Ok(After::Close),
        End::Reset => {
            stream.set_zero_linger()?;
            Ok(After::Close)
        }
    }
}

fn head(reply: &Rendered) -> String {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.how.status);
    for (name, value) in &reply.how.headers {
        // Writing to a String cannot fail.
        let _ = write!(head, "{name}: {value}\r\n");
    }
    match reply.how.framing {
        Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
        Framing::UntilClose => head.push_str("connection: close\r\n"),
        Framing::Length => {
            let length = |write: &Write| match write {
                Write::Bytes(bytes) => bytes.len(),
                Write::Repeat { bytes, count, .. } => bytes.len() * count,
                Write::Wait(_) | Write::Pause(_) | Write::Stall => 0,
            };
            let length: usize = reply.writes.iter().map(length).sum();
            let _ = write!(head, "content-length: {length}\r\n");
        }
    }
    head.push_str("\r\n");
    head
}

struct BodyWriter<'a> {
    /// Framed bytes not given to the socket yet.
    out: Vec<u8>,
    reply: &'a Rendered,
    /// Bytes of the body so far.
    position: usize,
}

impl BodyWriter<'_> {
    async fn write(&mut self, stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let take = match &self.reply.how.cuts {
                // Rendering turns a place in the text into an offset.
                Cuts::Parts | Cuts::Inside { .. } => bytes.len(),
                Cuts::EveryByte => 1,
                Cuts::At(offsets) => {
                    let next = offsets.iter().filter(|at| **at > self.position).min();
                    next.map_or(bytes.len(), |at| (at - self.position).min(bytes.len()))
                }
            };
            let (piece, rest) = bytes.split_at(take);
            bytes = rest;
            self.position += piece.len();
            if self.reply.how.framing == Framing::Chunked {
                self.out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                self.out.extend_from_slice(piece);
                self.out.extend_from_slice(b"\r\n");
            } else {
                self.out.extend_from_slice(piece);
            }
            let is_cut_here = match &self.reply.how.cuts {
                Cuts::Parts | Cuts::EveryByte | Cuts::Inside { .. } => true,
                Cuts::At(offsets) => offsets.contains(&self.position),
            };
            if is_cut_here {
                self.flush(stream).await?;
            }
        }
        Ok(())
    }

    async fn flush(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(&self.out).await?;
        self.out.clear();
        Ok(())
    }
}

/// Waits for the future, or fails when the client closes the connection before.
async fn unless_client_leaves(
    stream: &mut TcpStream,
    future: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut one_byte = [0];
    tokio::select! {
        () = future => Ok(()),
        // Clients do not send before they have their reply, so whatever is read is the end.
        _end = stream.read(&mut one_byte) => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

//! Model servers on this machine, found by asking their usual ports for their models.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Longest wait for a connection on this machine.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);
/// Longest wait for all of an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1500);
/// Most bytes of an answer that are read.
const MAX_ANSWER: usize = 512 * 1024;
/// Most models of a server that are kept, and bytes of a name.
const MAX_MODELS: usize = 200;
const MAX_NAME: usize = 200;

/// Whose usual ports are asked, in the order in which they are offered.
const USUAL: [Usual; 4] = [
    Usual { name: "Ollama", kind: "ollama", port: 11434 },
    Usual { name: "llama.cpp", kind: "llamacpp", port: 8080 },
    Usual { name: "vLLM", kind: "vllm", port: 8000 },
    Usual { name: "LM Studio", kind: "openai", port: 1234 },
];

#[derive(Debug, Clone, Copy)]
struct Usual {
    name: &'static str,
    kind: &'static str,
    port: u16,
}

/// A model server on this machine that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// What it most likely is, by its port.
    pub name: &'static str,
    /// Its `provider.kind`.
    pub kind: &'static str,
    /// Its base URL.
    pub base_url: String,
    /// What it offers; at least one.
    pub models: Vec<String>,
}

/// Asks the usual ports of this machine at once. Whoever does not list a model in time is not there.
pub async fn local_servers() -> Vec<LocalServer> {
    look(&USUAL).await
}

async fn look(places: &[Usual]) -> Vec<LocalServer> {
    let mut looks = JoinSet::new();
    for (index, usual) in places.iter().copied().enumerate() {
        looks.spawn(async move {
            let models = tokio::time::timeout(ANSWER_TIMEOUT, models_at(usual.port)).await;
            (index, usual, models.ok().flatten().unwrap_or_default())
        });
    }
    let mut found = looks.join_all().await;
    found.retain(|(_, _, models)| !models.is_empty());
    found.sort_by_key(|(index, _, _)| *index);
    found
        .into_iter()
        .map(|(_, Usual { name, kind, port }, models)| LocalServer {
            name,
            kind,
            base_url: format!("http://127.0.0.1:{port}/v1"),
            models,
        })
        .collect()
}

/// What a server lists; none when it is not one.
async fn models_at(port: u16) -> Option<Vec<String>> {
    let connected = TcpStream::connect(("127.0.0.1", port));
    let stream = tokio::time::timeout(CONNECT_TIMEOUT, connected).await.ok()?.ok()?;
    let (mut requests, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.ok()?;
    // Dropped with this function, and the connection with it.
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let request = Request::get("/v1/models")
        .header("host", format!("127.0.0.1:{port}"))
        .header("accept", "application/json")
        .body(Empty::<Bytes>::new())
        .ok()?;
    let answer = requests.send_request(request).await.ok()?;
    if answer.status() != StatusCode::OK {
        return None;
    }
    let body = Limited::new(answer.into_body(), MAX_ANSWER).collect().await.ok()?.to_bytes();
    let listed: Listed = serde_json::from_slice(&body).ok()?;
    let names = listed.data.into_iter().map(|model| model.id).filter(|name| is_name(name));
    Some(names.take(MAX_MODELS).collect())
}

#[derive(Deserialize)]
struct Listed {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// A name that can be shown and written down.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that gives one answer; its port.
    async fn server(answer: &'static str, tasks: &mut JoinSet<()>) -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tasks.spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let read = stream.read(&mut request).await.unwrap();
            assert!(request[..read].starts_with(b"GET /v1/models HTTP/1.1\r\n"));
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        port
    }

    #[tokio::test]
    async fn servers_that_list_models_are_found_and_nothing_else() {
        let mut tasks = JoinSet::new();
        let list = "HTTP/1.1 200 OK\r\ncontent-length: 57\r\n\r\n\
                    {\"data\": [{\"id\": \"qwen3:8b\"}, {\"id\": \"\"}, {\"id\": \"a\\u001bb\"}]}";
        let list = list.replace("57", &list.split_once("\r\n\r\n").unwrap().1.len().to_string());
        let good = server(list.leak(), &mut tasks).await;
        let page = server("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n<a/>", &mut tasks).await;
        let closed =
            server("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", &mut tasks).await;
        let empty =
            server("HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"data\":[]}", &mut tasks).await;
        let nobody = {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            listener.local_addr().unwrap().port()
        };
        let usual = |port| Usual { name: "vLLM", kind: "vllm", port };
        let places = [nobody, page, good, closed, empty].map(usual);
        let found = look(&places).await;
        let expect = LocalServer {
            name: "vLLM",
            kind: "vllm",
            base_url: format!("http://127.0.0.1:{good}/v1"),
            models: vec!["qwen3:8b".to_owned()],
        };
        assert_eq!(found, [expect]);
        assert!(tasks.join_all().await.len() == 4);
    }
}

//! A server of one repository over HTTP, on an address of loopback that no program takes for its own
//! machine's, so that it is asked through a proxy.

use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinSet;

pub(super) struct Server {
    root: TempDir,
    port: u16,
    _serving: JoinSet<()>,
}

impl Server {
    pub(super) async fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        let made = "git init -q --bare -b main r.git && git -C r.git config http.receivepack true";
        assert!(shell(root.path(), made).status.success());
        let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut serving = JoinSet::new();
        let dir = root.path().to_owned();
        serving.spawn(async move {
            let mut answering = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                answering.spawn(answer(stream, dir.display().to_string()));
            }
        });
        Self { root, port, _serving: serving }
    }

    pub(super) fn address(&self) -> String {
        format!("127.0.0.2:{}", self.port)
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/r.git", self.address())
    }

    /// The commit that a branch of the server's repository is at.
    pub(super) fn revision(&self, branch: &str) -> String {
        let output = shell(self.root.path(), &format!("git -C r.git rev-parse {branch}"));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

fn shell(dir: &std::path::Path, script: &str) -> std::process::Output {
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", script]).current_dir(dir).env_clear();
    bash.env("PATH", std::env::var_os("PATH").unwrap_or_default()).output().unwrap()
}

/// Answers one request with what git's own server program says (RFC 3875).
async fn answer(stream: TcpStream, root: String) {
    let mut stream = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim_end() {
            "" => break,
            text => head.push(text.to_owned()),
        }
    }
    let Some(first) = head.first() else { return };
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |name: &str| {
        let found = head.iter().skip(1).filter_map(|line| line.split_once(':'));
        let mut found = found.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let length = header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let mut program = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", length.to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    input.write_all(&body).await.unwrap();
    drop(input);
    let said = program.wait_with_output().await.unwrap().stdout;
    let end = said.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let headers = std::str::from_utf8(&said[..end]).unwrap();
    let status = headers.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let length = said.len() - end - 4;
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    let stream = stream.get_mut();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&said[end + 4..]).await.unwrap();
}

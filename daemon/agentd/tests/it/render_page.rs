//! `render_page` with a real Chromium, where there is one that the sandbox can keep to public hosts.

use std::sync::{Arc, Mutex};

use agentd::config::SandboxConfig;
use agentd_domain::{ActionTarget, ToolStatus};
use agentd_sandbox::Choice;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::programs::{Place, boxed_with, open, place};

/// Serves pages on loopback, and remembers which were asked for.
struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    _serving: JoinSet<()>,
}

impl Site {
    async fn start(page: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, page) = (Arc::clone(&asked), Arc::new(page));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, page) = (Arc::clone(&seen), Arc::clone(&page));
                connections.spawn(async move {
                    let mut piece = [0; 4096];
                    let length = stream.read(&mut piece).await.unwrap_or(0);
                    let head = String::from_utf8_lossy(&piece[..length]).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    let body = page(&path);
                    seen.lock().unwrap().push(path);
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\
                         access-control-allow-origin: *\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    let _gone = stream.write_all(format!("{head}{body}").as_bytes()).await;
                });
            }
        });
        Self { port, asked, _serving: serving }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A daemon whose owner lets programs through to this port of the machine.
fn letting_through(port: u16) -> Place {
    let allow_hosts = vec![format!("127.0.0.1:{port}")];
    boxed_with(&SandboxConfig { allow_hosts, ..SandboxConfig::default() })
}

/// True where pages can be rendered; elsewhere the refusal is checked.
#[expect(clippy::print_stdout, reason = "whoever runs this should know what was left out")]
async fn renders(place: &Place) -> bool {
    let Err(refused) =
        place.planned("render_page", &json!({ "url": "https://example.org/" })).await
    else {
        return true;
    };
    let wanted = match refused.error_code.as_str() {
        "MISSING_PROGRAM" => "The package chromium of this system adds it",
        _ => "install bubblewrap",
    };
    assert!(refused.output.contains(wanted), "{refused:?}");
    println!("render_page: skipped: {}", refused.output);
    false
}

#[tokio::test]
async fn a_page_is_shown_as_its_scripts_make_it_and_with_a_picture() {
    let site = Site::start(|path| match path {
        "/" => "<title>Before</title><p id=p>before<script>fetch('/data').then(it => it.text())\
                .then(text => { document.title = 'After'; p.textContent = text; alert('x') })</script>"
            .to_owned(),
        _ => "made by a script".to_owned(),
    })
    .await;
    let place = letting_through(site.port);
    if !renders(&place).await {
        return;
    }
    let url = format!("http://127.0.0.1:{}/", site.port);
    let result = place.call("render_page", json!({ "url": url, "screenshot": true })).await;
    assert_eq!(result.status, ToolStatus::Success, "{result:?}");
    assert!(result.output.contains("Title: After\n\nmade by a script"), "{}", result.output);
    assert!(!result.output.contains("before"), "{}", result.output);
    let image = result.image.expect("a picture");
    assert_eq!(image.media_type, "image/jpeg");
    assert!(image.data_base64.starts_with("/9j/"), "it is a JPEG");
    assert!(site.asked().contains(&"/data".to_owned()));
}

#[tokio::test]
async fn wb_01_a_page_reaches_nothing_that_is_not_public() {
    let private = Site::start(|_| "secret".to_owned()).await;
    let other = private.port;
    let site = Site::start(move |_| {
        format!(
            "<p id=p>begun<script>Promise.allSettled(['127.0.0.1', 'localhost', '[::1]', '127.1']\
             .map(host => fetch(`http://${{host}}:{other}/`, {{ mode: 'no-cors' }})\
             .then(it => it.text()))).then(all => {{ p.textContent = 'tried ' + all.length }})</script>\
             <img src='http://127.0.0.1:{other}/image'><iframe src='http://localhost:{other}/frame'>\
             </iframe><iframe src='file:///etc/passwd'></iframe>"
        )
    })
    .await;
    let place = letting_through(site.port);
    if !renders(&place).await {
        return;
    }
    let url = format!("http://127.0.0.1:{}/", site.port);
    let result = place.call("render_page", json!({ "url": url })).await;
    assert!(result.output.contains("tried 4"), "{result:?}");
    assert!(!result.output.contains("secret") && !result.output.contains("root:"), "{result:?}");
    assert_eq!(private.asked(), Vec::<String>::new());
    assert!(result.output.contains("Not loaded, since not public: "), "{result:?}");
    for url in [format!("http://127.0.0.1:{other}/"), "http://169.254.169.254/".to_owned()] {
        let refused = place.call("render_page", json!({ "url": url })).await;
        assert_eq!(refused.error_code, "ADDRESS_NOT_PUBLIC", "{refused:?}");
        assert!(refused.output.contains("sandbox.allow_hosts"), "{refused:?}");
    }
}

#[tokio::test]
async fn a_page_is_planned_with_its_host_and_with_a_browser_that_may_reach_any_public_one() {
    let place = letting_through(1);
    if !renders(&place).await {
        return;
    }
    let url = "https://example.org/a?token=x";
    let plan = place.planned("render_page", &json!({ "url": url })).await.unwrap();
    let [ActionTarget::Request { host, url, .. }, ActionTarget::Run { argv, confinement, .. }] =
        plan.targets.as_slice()
    else {
        panic!("{plan:?}")
    };
    assert_eq!((host.as_str(), url.as_str()), ("example.org", "https://example.org/a?token=***"));
    let inside = confinement.as_ref().expect("a box");
    assert!(!inside.writes && inside.network, "{inside:?}");
    assert_eq!(inside.hosts, ["*"]);
    assert!(argv.iter().all(|word| !word.contains("example.org")), "{argv:?}");
    let file = place.planned("render_page", &json!({ "url": "file:///etc/passwd" })).await;
    assert_eq!(file.unwrap_err().error_code, "INVALID_URL");
}

#[tokio::test]
async fn nothing_is_rendered_where_nothing_keeps_the_browser_to_public_hosts() {
    let landlock = Choice::Only(agentd_sandbox::Backend::Landlock);
    let behind = |choice| place(choice, env!("CARGO_BIN_EXE_agentd"), &SandboxConfig::default());
    for place in [behind(landlock), open()] {
        let arguments = json!({ "url": "https://example.org/" });
        let refused = place.planned("render_page", &arguments).await.unwrap_err();
        assert_eq!(refused.status, ToolStatus::FatalError, "{refused:?}");
        assert!(
            ["MISSING_PROGRAM", "TOOL_PROCESS_UNAVAILABLE"].contains(&refused.error_code.as_str()),
            "{refused:?}"
        );
    }
}

//! Opening a page in a browser, and what it shows once it has come to rest.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};

use super::cdp::{Cdp, CdpError};

/// How long a page may take to come to rest after it was opened; then it is taken as it is.
const REST: Duration = Duration::from_secs(10);

/// Most of a page that is taken, in UTF-16 units.
const MAX_HTML: usize = 2 * 1024 * 1024;

/// Of a picture, in percent.
const QUALITY: u32 = 70;

/// A page as its scripts have made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visited {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) html: String,
    /// All of it is in `html`.
    pub(super) is_whole: bool,
    /// Of HTTP, where the browser tells it.
    pub(super) status: Option<u16>,
    /// Nothing was loaded any more.
    pub(super) is_at_rest: bool,
    /// A JPEG in base 64.
    pub(super) picture: Option<String>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(super) enum VisitError {
    /// It cannot be opened.
    #[error("it cannot be opened: {0}")]
    NotOpened(String),
    /// Of the browser.
    #[error(transparent)]
    Browser(#[from] CdpError),
}

/// Opens a page.
///
/// # Errors
/// When it cannot be opened, or the browser gives up.
pub(super) async fn visit<W: AsyncWrite + Unpin, R: AsyncRead + Unpin>(
    cdp: &mut Cdp<W, R>,
    url: &str,
    wants_picture: bool,
) -> Result<Visited, VisitError> {
    cdp.call("Browser.setDownloadBehavior", json!({ "behavior": "deny" })).await?;
    let page = cdp.call("Target.createTarget", json!({ "url": "about:blank" })).await?;
    let target = text(&page, "/targetId")?;
    let attach = json!({ "targetId": target, "flatten": true });
    let attached = cdp.call("Target.attachToTarget", attach).await?;
    cdp.enter(text(&attached, "/sessionId")?);
    cdp.call("Page.enable", json!({})).await?;
    cdp.call("Page.setLifecycleEventsEnabled", json!({ "enabled": true })).await?;
    let opened = cdp.call("Page.navigate", json!({ "url": url })).await?;
    if let Some(why) = opened.get("errorText").and_then(Value::as_str) {
        return Err(VisitError::NotOpened(why.to_owned()));
    }
    let (frame, document) = (text(&opened, "/frameId")?, text(&opened, "/loaderId")?);
    let rests = timeout_at(Instant::now() + REST, at_rest(cdp, &frame, document)).await;
    let is_at_rest = match rests {
        Ok(rests) => rests.map(|()| true)?,
        Err(_busy) => false,
    };
    let about = cdp.call("Target.getTargetInfo", json!({ "targetId": target })).await?;
    let (url, title) = (text(&about, "/targetInfo/url")?, text(&about, "/targetInfo/title")?);
    // In a world of its own no script of the page answers in the browser's place.
    let world = cdp.call("Page.createIsolatedWorld", json!({ "frameId": frame })).await?;
    let context = world.get("executionContextId").cloned().unwrap_or_default();
    let expression = format!(
        "(() => {{ const all = document.documentElement?.outerHTML ?? ''; \
         return {{ html: all.slice(0, {MAX_HTML}), whole: all.length <= {MAX_HTML}, \
         status: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0 }}; }})()"
    );
    let ask = json!({ "expression": expression, "contextId": context, "returnByValue": true });
    let found = cdp.call("Runtime.evaluate", ask).await?;
    let value = found.pointer("/result/value").cloned().unwrap_or_default();
    let html = text(&value, "/html")?;
    let is_whole = value.get("whole") == Some(&Value::Bool(true));
    let status = value.get("status").and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok()).filter(|it| *it != 0);
    let picture = if wants_picture {
        let ask = json!({ "format": "jpeg", "quality": QUALITY });
        Some(text(&cdp.call("Page.captureScreenshot", ask).await?, "/data")?)
    } else {
        None
    };
    Ok(Visited { url, title, html, is_whole, status, is_at_rest, picture })
}

/// Waits until a frame with this document, or one that follows it there, loads nothing any more. What is
/// told of the empty page before it comes first, and is passed over.
async fn at_rest<W: AsyncWrite + Unpin, R: AsyncRead + Unpin>(
    cdp: &mut Cdp<W, R>,
    frame: &str,
    mut document: String,
) -> Result<(), CdpError> {
    let mut has_begun = false;
    loop {
        let event = cdp.event().await?;
        let of = |key: &str| event.params.get(key).and_then(Value::as_str).unwrap_or_default();
        if event.method != "Page.lifecycleEvent" || of("frameId") != frame {
            continue;
        }
        has_begun |= of("loaderId") == document;
        match of("name") {
            "init" if has_begun => of("loaderId").clone_into(&mut document),
            "networkIdle" if has_begun && of("loaderId") == document => return Ok(()),
            _ => {}
        }
    }
}

fn text(value: &Value, pointer: &str) -> Result<String, CdpError> {
    let found = value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| CdpError::Unreadable(format!("{pointer} is missing")))
}

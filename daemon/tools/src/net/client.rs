//! The one client of the network tools.
//!
//! What it connects to is decided on addresses: a name is resolved once, every address of it is
//! checked, and the connection is made to one of those that were checked. It follows redirects
//! itself, each checked as the first URL was, keeps no cookies, knows no passwords, and asks no
//! proxy of the environment, which would resolve names in its own way.

mod body;
mod resolve;

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{ToolResult, cut_line};
use agentd_sandbox::address_refusal;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION,
};
use reqwest::{Response, StatusCode, redirect};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

use self::body::Body;
use self::resolve::{Guard, Lookup, RefusedAddress, SystemLookup};
use super::plain::plain_line;
use super::target::{AllowList, Target, Trust, refused};
use crate::pdf::MAX_PDF;

/// Most redirects of one request.
const MAX_REDIRECTS: usize = 5;

/// What is told of an error of the network, in characters.
const MAX_DETAIL: usize = 200;

/// What one request may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// From the start to the last byte, with all redirects.
    pub(super) total: Duration,
    /// Of the body once unpacked, in bytes.
    pub(super) body_bytes: usize,
    /// The same for a PDF, of which a part is worth nothing.
    pub(super) pdf_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { total: Duration::from_secs(20), body_bytes: 2 * 1024 * 1024, pdf_bytes: MAX_PDF }
    }
}

/// What is asked beside the URL.
#[derive(Debug, Default)]
pub(super) struct Ask {
    /// Sent to the first host alone: a request with any of them follows no redirect.
    pub(super) headers: HeaderMap,
    /// Makes it a POST, which follows no redirect.
    pub(super) json: Option<Value>,
    /// What is wanted; empty: anything.
    pub(super) accept: &'static str,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    /// Where it came from in the end.
    pub(super) target: Target,
    pub(super) status: StatusCode,
    /// Without parameters, in lower case; empty: not said.
    pub(super) content_type: String,
    pub(super) charset: Option<String>,
    /// As the server says, packed.
    pub(super) content_length: Option<u64>,
    pub(super) body: Vec<u8>,
    /// Why the body is not whole.
    pub(super) cut: Option<String>,
    /// Another site that it redirects to. What was permitted for one site is not for another.
    pub(super) moved_to: Option<Target>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) allowed: AllowList,
    limits: Limits,
    lookup: Arc<dyn Lookup>,
    /// Made when first used: loading root certificates takes longer than a start should.
    public: OnceCell<reqwest::Client>,
    named: OnceCell<reqwest::Client>,
}

impl Client {
    pub(super) fn new(allowed: AllowList) -> Self {
        Self::with(allowed, Limits::default(), Arc::new(SystemLookup))
    }

    fn with(allowed: AllowList, limits: Limits, lookup: Arc<dyn Lookup>) -> Self {
        Self { allowed, limits, lookup, public: OnceCell::new(), named: OnceCell::new() }
    }

    /// A client for tests that waits for less.
    #[cfg(test)]
    pub(super) fn with_limits(allowed: AllowList, limits: Limits) -> Self {
        Self::with(allowed, limits, Arc::new(SystemLookup))
    }

    /// Asks, and follows redirects within the site.
    pub(super) async fn ask(&self, target: Target, ask: Ask) -> Result<Answer, ToolResult> {
        let deadline = Instant::now() + self.limits.total;
        let may_follow = ask.headers.is_empty() && ask.json.is_none();
        let mut target = target;
        for _ in 0..=MAX_REDIRECTS {
            let response = match timeout_at(deadline, self.send(&target, &ask)).await {
                Ok(response) => response?,
                Err(_elapsed) => return Err(self.too_slow(&target)),
            };
            let Some(location) = location(&response) else {
                return self.read(target, response, deadline, None).await;
            };
            let next = target.redirected(&location, &self.allowed)?;
            if !may_follow || !target.is_same_site(&next) {
                return self.read(target, response, deadline, Some(next)).await;
            }
            target = next;
        }
        Err(ToolResult::fatal(
            "TOO_MANY_REDIRECTS",
            format!(
                "There are more than {MAX_REDIRECTS} redirects, the last to '{}'.",
                target.shown()
            ),
        ))
    }

    async fn send(&self, target: &Target, ask: &Ask) -> Result<Response, ToolResult> {
        let client = self.http(target.trust).await?;
        let request = match &ask.json {
            Some(json) => client.post(target.url.clone()).json(json),
            None => client.get(target.url.clone()),
        };
        let accept = if ask.accept.is_empty() { "*/*" } else { ask.accept };
        let request = request
            .header(ACCEPT, accept)
            .header(ACCEPT_ENCODING, "gzip")
            .headers(ask.headers.clone());
        let response = request.send().await.map_err(|error| told(target, &error))?;
        // The address of the connection itself: nothing that was resolved counts more.
        if target.trust == Trust::Public
            && let Some(address) = response.remote_addr()
            && let Some(what) = address_refusal(address.ip())
        {
            return Err(refused(&target.host, what));
        }
        Ok(response)
    }

    async fn http(&self, trust: Trust) -> Result<&reqwest::Client, ToolResult> {
        let cell = match trust {
            Trust::Public => &self.public,
            Trust::Named => &self.named,
        };
        let guard = Guard { lookup: Arc::clone(&self.lookup), trust };
        cell.get_or_try_init(|| async {
            tokio::task::spawn_blocking(move || {
                // An error only says that a provider is installed already.
                drop(rustls::crypto::ring::default_provider().install_default());
                reqwest::Client::builder()
                    .user_agent(concat!("agentd/", env!("CARGO_PKG_VERSION")))
                    .redirect(redirect::Policy::none())
                    .referer(false)
                    .no_proxy()
                    .pool_max_idle_per_host(0)
                    .dns_resolver(Arc::new(guard))
                    .build()
            })
            .await
            .map_err(|error| error.to_string())
            .and_then(|built| built.map_err(|error| innermost(&error)))
        })
        .await
        .map_err(|detail| {
            ToolResult::fatal(
                "CLIENT_UNAVAILABLE",
                format!("The HTTP client cannot be set up: {}.", detail_line(&detail)),
            )
        })
    }

    async fn read(
        &self,
        target: Target,
        mut response: Response,
        deadline: Instant,
        moved_to: Option<Target>,
    ) -> Result<Answer, ToolResult> {
        let status = response.status();
        let header = |name| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let (content_type, charset) = media_type(&header(CONTENT_TYPE).unwrap_or_default());
        let content_length = header(CONTENT_LENGTH).and_then(|length| length.trim().parse().ok());
        let encoding = header(CONTENT_ENCODING).unwrap_or_default();
        let mut answer = Answer {
            target,
            status,
            content_type,
            charset,
            content_length,
            body: Vec::new(),
            cut: None,
            moved_to,
        };
        if answer.moved_to.is_some() {
            return Ok(answer);
        }
        let most = match answer.content_type.as_str() {
            "application/pdf" => self.limits.pdf_bytes,
            _ => self.limits.body_bytes,
        };
        let Some(mut body) = Body::new(&encoding, most) else {
            return Err(ToolResult::fatal(
                "UNKNOWN_ENCODING",
                format!(
                    "'{}' answers packed with '{}', which was not asked for and is not read.",
                    answer.target.shown(),
                    cut_line(&plain_line(&encoding), 40)
                ),
            ));
        };
        answer.cut = loop {
            match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    if let Err(why) = body.push(&chunk) {
                        break Some(why);
                    }
                }
                Ok(Ok(None)) => break body.end().err(),
                Ok(Err(error)) => {
                    let detail = detail_line(&innermost(&error));
                    break Some(format!("The connection broke off: {detail}."));
                }
                Err(_elapsed) => {
                    break Some(format!(
                        "Only what came within {} s was read.",
                        self.limits.total.as_secs()
                    ));
                }
            }
        };
        answer.body = body.into_bytes();
        match answer.cut {
            Some(why) if answer.body.is_empty() => Err(ToolResult::retryable(
                "NO_ANSWER",
                format!("'{}' gave no content. {why}", answer.target.shown()),
            )),
            _ => Ok(answer),
        }
    }

    fn too_slow(&self, target: &Target) -> ToolResult {
        ToolResult::retryable(
            "NO_ANSWER",
            format!(
                "'{}' did not answer within {} s.",
                target.shown(),
                self.limits.total.as_secs()
            ),
        )
    }
}

/// Where a redirect leads.
fn location(response: &Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let value = response.headers().get(LOCATION)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Type and charset of a Content-Type.
fn media_type(text: &str) -> (String, Option<String>) {
    let mut parts = text.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    });
    (cut_line(&plain_line(&kind), 80), charset)
}

/// Tells an error of the network: a refused address as that, the rest by its innermost cause, which
/// does not repeat the URL.
fn told(target: &Target, error: &reqwest::Error) -> ToolResult {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(RefusedAddress { host, what }) = error.downcast_ref() {
            return refused(host, what);
        }
        cause = error.source();
    }
    ToolResult::retryable(
        "NO_ANSWER",
        format!("'{}' cannot be reached: {}.", target.shown(), detail_line(&innermost(error))),
    )
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

fn detail_line(detail: &str) -> String {
    cut_line(plain_line(detail).trim_end_matches('.'), MAX_DETAIL)
}

#[cfg(test)]
mod tests;

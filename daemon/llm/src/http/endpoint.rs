//! An endpoint: where requests go, with which headers, and what comes back before the answer does.

use std::sync::OnceLock;
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    LOCATION,
};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use secrecy::ExposeSecret as _;
use tokio::time::{Instant, timeout, timeout_at};

use super::client::{Reach, http_client, innermost, with_proxy};
use super::error_text::ErrorText;
use super::models;
use super::refusal::{Refusal, retry_after};
use crate::stream::{AnswerDecoder, AnswerStream, BodyFormat, Limits};
use crate::{LlmError, ResponseStream, Secret, Timeouts};

/// Most bytes that are read of an error's body.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// The longest wait for an error's body, whose status says enough.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// How the key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `x-api-key: KEY`.
    XApiKey,
}

/// How to reach an endpoint.
#[derive(Debug, Clone)]
pub(crate) struct EndpointOptions {
    /// Such as `https://api.openai.com/v1`. A query is kept in all requests.
    pub(crate) base_url: String,
    pub(crate) api_key: Option<Secret>,
    pub(crate) key_header: KeyHeader,
    /// Sent with every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) timeouts: Timeouts,
    /// Most bytes of an answer.
    pub(crate) max_answer_bytes: usize,
}

/// An endpoint. It owns a pool of connections and follows no redirects.
#[derive(Debug)]
pub(crate) struct Endpoint {
    url: Url,
    /// The base URL without what may be secret in it.
    shown_url: String,
    headers: HeaderMap,
    timeouts: Timeouts,
    max_answer_bytes: usize,
    error_text: ErrorText,
    /// Made at the first request: reading root certificates would delay the start.
    client: OnceLock<Client>,
}

impl Endpoint {
    /// Checks the options. Nothing is connected yet.
    ///
    /// # Errors
    /// [`LlmError::Protocol`] for a base URL that is none, [`LlmError::NoKey`] for a key that no header
    /// can carry.
    pub(crate) fn new(options: &EndpointOptions) -> Result<Self, LlmError> {
        let error_text = ErrorText::new(options.api_key.clone());
        let url = parse_base_url(&options.base_url).map_err(|problem| LlmError::Protocol {
            detail: error_text.clean(&format!("base_url '{}' {problem}", options.base_url)),
        })?;
        let mut headers = HeaderMap::new();
        for (name, value) in options.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let key = options.api_key.as_ref().map(|key| key.expose_secret().trim());
        if let Some(key) = key.filter(|key| !key.is_empty()) {
            let (name, value) = key_header(options.key_header, key)?;
            headers.insert(name, value);
        }
        Ok(Self {
            shown_url: shown(&url),
            url,
            headers,
            timeouts: options.timeouts,
            max_answer_bytes: options.max_answer_bytes,
            error_text,
            client: OnceLock::new(),
        })
    }

    /// The base URL without what may be secret in it.
    pub(crate) fn shown_url(&self) -> &str {
        &self.shown_url
    }

    /// What cleans texts of this provider.
    pub(crate) fn error_text(&self) -> &ErrorText {
        &self.error_text
    }

    /// Limits of waiting.
    pub(super) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Most bytes of an answer.
    pub(crate) fn max_answer_bytes(&self) -> usize {
        self.max_answer_bytes
    }

    /// Posts a request below the base URL and returns when the answer's headers are there.
    ///
    /// # Errors
    /// See [`LlmError`].
    ///
    /// # Cancel safety
    /// Dropping the future drops the connection.
    pub(crate) async fn stream<D: AnswerDecoder>(
        &self,
        path: &str,
        body: Vec<u8>,
        decoder: D,
    ) -> Result<ResponseStream, LlmError> {
        let first_byte = self.timeouts.first_byte;
        let first_byte_by = Instant::now() + first_byte;
        let request = self
            .request(Method::POST, path, &[])?
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(body);
        let response = self.send(request, first_byte_by).await?;
        if let Some(encoding) = foreign_encoding(&response) {
            return Err(LlmError::Protocol {
                detail: self.error_text.clean(&format!(
                    "{} sends content-encoding '{encoding}', which was not asked for",
                    self.shown_url
                )),
            });
        }
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = content_type.to_ascii_lowercase();
        if content_type.contains("html") {
            let detail = format!("{} sends a web page instead of an answer", self.shown_url);
            return Err(LlmError::Protocol { detail });
        }
        let limits = Limits {
            // Some servers name a wrong type, so that the body decides.
            nothing_understood: (!is_known_type(&content_type)).then(|| {
                let shown_url = &self.shown_url;
                let detail = format!("{shown_url} sends '{content_type}' instead of an answer");
                self.error_text.clean(&detail)
            }),
            ..Limits::new(&self.shown_url, self.timeouts, first_byte_by, self.max_answer_bytes)
        };
        let body = response.bytes_stream().boxed();
        Ok(Box::pin(AnswerStream::new(body, BodyFormat::Unknown, decoder, limits)))
    }

    /// Names of the models that `GET PATH?QUERY` lists, sorted, at most 200.
    ///
    /// # Errors
    /// See [`LlmError`].
    pub(crate) async fn models(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Vec<String>, LlmError> {
        let by = Instant::now() + self.timeouts.first_byte;
        let response = self.send(self.request(Method::GET, path, query)?, by).await?;
        let Ok(body) = timeout_at(by, first_bytes(response, models::MAX_BODY)).await else {
            return Err(LlmError::IdleTimeout { after: self.timeouts.first_byte });
        };
        let mut names = models::names(&body).ok_or_else(|| LlmError::Protocol {
            detail: format!("{} sends no list of models", self.shown_url),
        })?;
        names.sort_unstable();
        names.dedup();
        names.truncate(models::MAX_MODELS);
        Ok(names)
    }

    /// A request below the base URL, with the endpoint's headers.
    pub(super) fn request(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<RequestBuilder, LlmError> {
        let mut url = below(&self.url, path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.client()?.request(method, url);
        Ok(request.headers(self.headers.clone()))
    }

    fn client(&self) -> Result<&Client, LlmError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = http_client(&self.timeouts, Reach::of(&self.url))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Sends a request and waits for the headers; anything but success becomes an error.
    pub(super) async fn send(
        &self,
        request: RequestBuilder,
        by: Instant,
    ) -> Result<Response, LlmError> {
        let Ok(sent) = timeout_at(by, request.send()).await else {
            return Err(LlmError::FirstByteTimeout {
                base_url: self.shown_url.clone(),
                after: self.timeouts.first_byte,
            });
        };
        let response = sent.map_err(|error| self.send_error(error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            return Err(self.redirect_error(&response));
        }
        let retry_after = retry_after(response.headers());
        let body = timeout(ERROR_BODY_TIMEOUT, first_bytes(response, MAX_ERROR_BODY)).await;
        let body = body.unwrap_or_default();
        Err(Refusal::from_body(status.as_u16(), &body, retry_after).into_error(&self.error_text))
    }

    fn send_error(&self, error: reqwest::Error) -> LlmError {
        let error = error.without_url();
        let detail = self.error_text.clean(&with_proxy(innermost(&error)));
        if error.is_connect() || error.is_timeout() {
            let is_slow = error.is_timeout();
            let after = self.timeouts.connect.as_millis();
            let detail = if is_slow { format!("no connection in {after} ms") } else { detail };
            return LlmError::Connect { base_url: self.shown_url.clone(), detail };
        }
        // Connected, and then hung up on.
        tracing::debug!(error = %detail, "the request broke off");
        LlmError::Cut
    }

    fn redirect_error(&self, response: &Response) -> LlmError {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let target = location.and_then(|location| response.url().join(location).ok());
        let target = target.map_or_else(|| "elsewhere".to_owned(), |url| shown(&url));
        LlmError::Protocol {
            detail: self.error_text.clean(&format!(
                "{} redirects to {target}, which is not followed so that the key stays here",
                self.shown_url
            )),
        }
    }
}

/// The start of a body. What cannot be read is left out.
pub(crate) async fn first_bytes(mut response: Response, max: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < max
        && let Ok(Some(bytes)) = response.chunk().await
    {
        body.extend_from_slice(&bytes);
    }
    body.truncate(max);
    body
}

/// How the body is encoded, if it is. The client asks for no encoding and decodes none.
fn foreign_encoding(response: &Response) -> Option<String> {
    let encoding = response.headers().get(CONTENT_ENCODING)?;
    let encoding = String::from_utf8_lossy(encoding.as_bytes()).trim().to_ascii_lowercase();
    (!matches!(encoding.as_str(), "" | "identity")).then_some(encoding)
}

/// A type that answers have, or none at all.
fn is_known_type(content_type: &str) -> bool {
    content_type.is_empty()
        || content_type.contains("event-stream")
        || content_type.contains("/json")
}

fn parse_base_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| format!("is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("must start with http:// or https://".to_owned());
    }
    Ok(url)
}

/// A path below the base URL, whose query, if any, is kept.
fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

/// A URL without user, password, query and fragment.
fn shown(url: &Url) -> String {
    let origin = url.origin().ascii_serialization();
    format!("{origin}{}", url.path().trim_end_matches('/'))
}

fn key_header(header: KeyHeader, key: &str) -> Result<(HeaderName, HeaderValue), LlmError> {
    let (name, value) = match header {
        KeyHeader::Bearer => (AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {key}"))),
        KeyHeader::XApiKey => (HeaderName::from_static("x-api-key"), HeaderValue::from_str(key)),
    };
    let mut value = value.map_err(|_illegal| LlmError::NoKey {
        message: "the key holds characters that no header can carry".to_owned(),
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(base_url: &str, key: Option<&str>, key_header: KeyHeader) -> EndpointOptions {
        EndpointOptions {
            base_url: base_url.to_owned(),
            api_key: key.map(|key| key.to_owned().into()),
            key_header,
            headers: &[("anthropic-version", "2023-06-01")],
            timeouts: Timeouts::default(),
            max_answer_bytes: 1000,
        }
    }

    #[test]
    fn urls_are_built_and_shown_without_secrets() {
        let check = |base: &str, chat: &str, shown: &str| {
            let endpoint = Endpoint::new(&options(base, None, KeyHeader::Bearer)).expect(base);
            assert_eq!(below(&endpoint.url, "chat/completions").as_str(), chat);
            assert_eq!(endpoint.shown_url(), shown);
        };
        let openai = "https://api.openai.com/v1";
        check(openai, "https://api.openai.com/v1/chat/completions", openai);
        check("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions", openai);
        check("http://localhost:80", "http://localhost/chat/completions", "http://localhost");
        check(
            "https://u:p@h.example/a?key=k",
            "https://u:p@h.example/a/chat/completions?key=k",
            "https://h.example/a",
        );
    }

    #[test]
    fn impossible_options_are_refused() {
        let check = |base: &str, key: Option<&str>, expect: &str| {
            for key_header in [KeyHeader::Bearer, KeyHeader::XApiKey] {
                let error = Endpoint::new(&options(base, key, key_header)).expect_err(base);
                assert_eq!(error.to_string(), expect);
            }
        };
        check(
            "api.openai.com",
            None,
            "the provider's answer is not understandable: base_url 'api.openai.com' is no URL: relative URL without a base",
        );
        check(
            "ftp://x/v1",
            None,
            "the provider's answer is not understandable: base_url 'ftp://x/v1' must start with http:// or https://",
        );
        check(
            "http://x/v1",
            Some("a\nb"),
            "no usable API key: the key holds characters that no header can carry",
        );
    }

    #[test]
    fn sc_03_debug_output_hides_the_key() {
        for key_header in [KeyHeader::Bearer, KeyHeader::XApiKey] {
            let options = options("http://x/v1", Some("sk-verysecret"), key_header);
            let endpoint = Endpoint::new(&options).expect("legal options");
            assert!(!format!("{options:?} {endpoint:?}").contains("verysecret"));
        }
    }

    #[test]
    fn every_request_carries_the_headers_of_its_endpoint() {
        let check = |key_header: KeyHeader, name: &str, value: &str| {
            let endpoint = Endpoint::new(&options("http://x/v1", Some(" key1 "), key_header));
            let request =
                endpoint.and_then(|it| it.request(Method::GET, "models", &[("limit", "9")]));
            let request = request.expect("legal options").build().expect("a request");
            assert_eq!(request.headers()[name], value);
            assert_eq!(request.headers()["anthropic-version"], "2023-06-01");
            assert_eq!(request.url().as_str(), "http://x/v1/models?limit=9");
        };
        check(KeyHeader::Bearer, "authorization", "Bearer key1");
        check(KeyHeader::XApiKey, "x-api-key", "key1");
    }
}

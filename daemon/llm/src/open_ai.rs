//! Chat Completions, the protocol of OpenAI that most servers speak.

mod answer;
mod chunk;
mod models;
mod options;
mod request;
mod stream;
mod tool_calls;

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LOCATION,
};
use reqwest::{Client, RequestBuilder, Response, Url};
use secrecy::ExposeSecret as _;
use tokio::time::{Instant, timeout, timeout_at};

pub use self::options::{OpenAiOptions, ReasoningEcho};

use self::answer::AnswerDecoder;
use self::options::is_of_domain;
use self::request::Dialect;
use self::stream::{AFTER_FINISH, AnswerStream, BodyFormat, IDLE_TIMEOUTS_WITHOUT_CONTENT, Limits};
use crate::error_text::ErrorText;
use crate::http_client::{Reach, http_client, innermost};
use crate::refusal::{Refusal, retry_after};
use crate::sse::SseDecoder;
use crate::{LlmError, Provider, Request, ResponseStream};

/// Most bytes that are read of an error's body.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// The longest wait for an error's body, whose status says enough.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// A Chat Completions endpoint.
#[derive(Debug)]
pub struct OpenAiCompatible {
    options: OpenAiOptions,
    /// The base URL without what may be secret in it.
    shown_url: String,
    chat_url: Url,
    models_url: Url,
    authorization: Option<HeaderValue>,
    dialect: Dialect,
    error_text: ErrorText,
    /// Made at the first request: reading root certificates would delay the start.
    client: OnceLock<Client>,
}

impl OpenAiCompatible {
    /// Checks the options. Nothing is connected yet.
    ///
    /// # Errors
    /// [`LlmError::Protocol`] for a base URL that is none, [`LlmError::NoKey`] for a key that no header
    /// can carry.
    pub fn new(options: OpenAiOptions) -> Result<Self, LlmError> {
        let error_text = ErrorText::new(options.api_key.clone());
        let url = parse_base_url(&options.base_url).map_err(|problem| LlmError::Protocol {
            detail: error_text.clean(&format!("base_url '{}' {problem}", options.base_url)),
        })?;
        let key = options.api_key.as_ref().map(|key| key.expose_secret().trim());
        let authorization = key.filter(|key| !key.is_empty()).map(bearer).transpose()?;
        Ok(Self {
            shown_url: shown(&url),
            chat_url: below(&url, "chat/completions"),
            models_url: below(&url, "models"),
            authorization,
            dialect: Dialect {
                echo_reasoning: options.echo_reasoning,
                has_max_completion_tokens: is_of_domain(
                    &options.base_url,
                    &["openai.com", "openai.azure.com"],
                ),
            },
            error_text,
            client: OnceLock::new(),
            options,
        })
    }

    fn client(&self) -> Result<&Client, LlmError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = http_client(&self.options.timeouts, Reach::of(&self.chat_url))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Sends a request and waits for the headers; anything but success becomes an error.
    async fn send(&self, request: RequestBuilder, by: Instant) -> Result<Response, LlmError> {
        let request = match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        };
        let Ok(sent) = timeout_at(by, request.send()).await else {
            return Err(LlmError::FirstByteTimeout {
                base_url: self.shown_url.clone(),
                after: self.options.timeouts.first_byte,
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
        let detail = self.error_text.clean(&innermost(&error));
        if error.is_connect() || error.is_timeout() {
            let is_slow = error.is_timeout();
            let after = self.options.timeouts.connect.as_millis();
            let detail = if is_slow { format!("no connection in {after} ms") } else { detail };
            return LlmError::Connect { base_url: self.shown_url.clone(), detail };
        }
        // Connected, and then hung up on.
        tracing::debug!(error = %detail, "the request broke off");
        LlmError::Cut
    }

    fn redirect_error(&self, response: &Response) -> LlmError {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let target = location.and_then(|location| self.chat_url.join(location).ok());
        let target = target.map_or_else(|| "elsewhere".to_owned(), |url| shown(&url));
        LlmError::Protocol {
            detail: self.error_text.clean(&format!(
                "{} redirects to {target}, which is not followed so that the key stays here",
                self.shown_url
            )),
        }
    }
}

#[async_trait]
impl Provider for OpenAiCompatible {
    fn kind(&self) -> &'static str {
        "openai-compatible"
    }

    fn base_url(&self) -> &str {
        &self.shown_url
    }

    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError> {
        let body = request::body(&request, self.dialect)?;
        let first_byte = self.options.timeouts.first_byte;
        let first_byte_by = Instant::now() + first_byte;
        let http_request = self
            .client()?
            .post(self.chat_url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(body);
        let response = self.send(http_request, first_byte_by).await?;
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
        let format = if content_type.contains("/json") {
            BodyFormat::Whole(Vec::new())
        } else {
            BodyFormat::Events(SseDecoder::default())
        };
        let max_bytes = self.options.max_answer_bytes;
        let decoder = AnswerDecoder::new(self.error_text.clone(), max_bytes);
        let idle = self.options.timeouts.idle;
        let limits = Limits {
            base_url: self.shown_url.clone(),
            first_byte,
            first_byte_by,
            idle,
            without_content: idle.saturating_mul(IDLE_TIMEOUTS_WITHOUT_CONTENT),
            after_finish: AFTER_FINISH,
            // Some servers name a wrong type, so that the body decides.
            nothing_understood: (!is_known_type(&content_type)).then(|| {
                let shown_url = &self.shown_url;
                let detail = format!("{shown_url} sends '{content_type}' instead of an answer");
                self.error_text.clean(&detail)
            }),
            max_bytes,
        };
        let body = response.bytes_stream().boxed();
        Ok(Box::pin(AnswerStream::new(body, format, decoder, limits)))
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        let by = Instant::now() + self.options.timeouts.first_byte;
        let response = self.send(self.client()?.get(self.models_url.clone()), by).await?;
        let Ok(body) = timeout_at(by, first_bytes(response, models::MAX_BODY)).await else {
            return Err(LlmError::IdleTimeout { after: self.options.timeouts.first_byte });
        };
        let mut names = models::names(&body).ok_or_else(|| LlmError::Protocol {
            detail: format!("{} sends no list of models", self.shown_url),
        })?;
        names.sort_unstable();
        names.dedup();
        names.truncate(models::MAX_MODELS);
        Ok(names)
    }
}

pub(crate) use models::{MAX_BODY as MAX_MODELS_BODY, names as model_names};

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

/// An endpoint below the base URL, whose query, if any, is kept.
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

fn bearer(key: &str) -> Result<HeaderValue, LlmError> {
    let value = HeaderValue::from_str(&format!("Bearer {key}"));
    let mut value = value.map_err(|_illegal| LlmError::NoKey {
        message: "the key holds characters that no header can carry".to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_built_and_shown_without_secrets() {
        let check = |base: &str, chat: &str, shown: &str| {
            let provider = OpenAiCompatible::new(OpenAiOptions::new(base, None)).expect(base);
            assert_eq!(provider.chat_url.as_str(), chat);
            assert_eq!(provider.base_url(), shown);
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
            let options = OpenAiOptions::new(base, key.map(|key| key.to_owned().into()));
            let error = OpenAiCompatible::new(options).expect_err(base);
            assert_eq!(error.to_string(), expect);
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
        let options = OpenAiOptions::new("http://x/v1", Some("sk-verysecret".to_owned().into()));
        let provider = OpenAiCompatible::new(options).expect("legal options");
        assert!(!format!("{provider:?}").contains("verysecret"));
    }
}

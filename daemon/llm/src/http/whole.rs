//! Asking for an answer of one piece.

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use tokio::time::{Instant, timeout};

use super::endpoint::Endpoint;
use crate::LlmError;

/// Room that is set aside for an answer before any of it is there.
const FIRST_ROOM: usize = 64 * 1024;

impl Endpoint {
    /// Posts a request below the base URL and returns the answer's body.
    ///
    /// # Errors
    /// See [`LlmError`]; [`LlmError::TooLarge`] for more than the endpoint's most bytes of an answer.
    ///
    /// # Cancel safety
    /// Dropping the future drops the connection.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>) -> Result<Vec<u8>, LlmError> {
        let timeouts = self.timeouts();
        let request = self
            .request(Method::POST, path, &[])?
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(body);
        let mut response = self.send(request, Instant::now() + timeouts.first_byte).await?;
        let limit = self.max_answer_bytes();
        let mut answer = Vec::with_capacity(FIRST_ROOM.min(limit));
        loop {
            let Ok(read) = timeout(timeouts.idle, response.chunk()).await else {
                return Err(LlmError::IdleTimeout { after: timeouts.idle });
            };
            match read {
                Ok(Some(bytes)) if answer.len().saturating_add(bytes.len()) <= limit => {
                    answer.extend_from_slice(&bytes);
                }
                Ok(Some(_more)) => return Err(LlmError::TooLarge { limit }),
                Ok(None) => return Ok(answer),
                Err(_broke_off) => return Err(LlmError::Cut),
            }
        }
    }
}

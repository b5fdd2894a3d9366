//! The token of a client: it goes into a header and nowhere else.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use super::RemoteError;

/// Most bytes of a token, and of a file that holds one.
pub const MAX_TOKEN_BYTES: u64 = 4096;

/// A token's text. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Takes a text without the blanks around it.
    ///
    /// # Errors
    /// When it is empty, or cannot stand in a header.
    pub fn new(text: &str) -> Result<Self, RemoteError> {
        let text = text.trim();
        let is_good = !text.is_empty()
            && text.len() as u64 <= MAX_TOKEN_BYTES
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_good { Ok(Self(text.to_owned())) } else { Err(RemoteError::Token) }
    }

    /// Reads a token to its end, such as from standard input.
    ///
    /// # Errors
    /// When nothing that is a token can be read.
    pub fn read(from: impl Read) -> Result<Self, RemoteError> {
        let mut text = String::new();
        let read = from.take(MAX_TOKEN_BYTES + 1).read_to_string(&mut text);
        read.map_err(|_not_text| RemoteError::Token)?;
        Self::new(&text)
    }

    /// Reads a file that only its owner can read. Mode and owner are those of the open file.
    ///
    /// # Errors
    /// When the file cannot be read, others can read it, or it holds no token.
    pub fn from_file(path: &Path) -> Result<Self, RemoteError> {
        Self::read(open_private("--token-file", path)?)
    }
}

/// Opens a file with a secret.
pub(super) fn open_private(option: &'static str, path: &Path) -> Result<File, RemoteError> {
    let failed = |problem: String| RemoteError::File { option, file: path.to_owned(), problem };
    let kind = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    if !kind.is_file() {
        return Err(failed("is not a regular file".to_owned()));
    }
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| failed(error.to_string()))?;
    if metadata.mode() & 0o077 != 0 {
        let mode = metadata.mode() & 0o777;
        return Err(failed(format!(
            "has mode {mode:o}, so others can read it; run chmod 600 on it"
        )));
    }
    Ok(file)
}

/// Adds the token to calls; without one they stay as they are.
#[derive(Clone, Default)]
pub struct Credentials(Option<MetadataValue<Ascii>>);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Credentials").field(&self.0.is_some()).finish()
    }
}

impl Credentials {
    pub(super) fn new(token: Option<&Token>) -> Result<Self, RemoteError> {
        let Some(Token(text)) = token else { return Ok(Self(None)) };
        let mut value: MetadataValue<Ascii> =
            format!("Bearer {text}").parse().map_err(|_not_ascii| RemoteError::Token)?;
        // HTTP/2 keeps it out of its table of headers, and debug output out of logs.
        value.set_sensitive(true);
        Ok(Self(Some(value)))
    }
}

impl Interceptor for Credentials {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn sc_03_a_token_is_not_printed() {
        let token = Token::new(" agentd_a_secret\n").unwrap();
        let credentials = Credentials::new(Some(&token)).unwrap();
        let mut request = Request::new(());
        request = credentials.clone().call(request).unwrap();
        assert_eq!(request.metadata().get("authorization").unwrap(), "Bearer agentd_a_secret");
        let shown = format!("{token:?} {credentials:?} {request:?}");
        assert!(!shown.contains("secret"), "{shown}");
    }

    #[test]
    fn what_cannot_be_a_token_is_refused() {
        for text in ["", " \n", "two words", "日本", &"x".repeat(5000)] {
            assert!(Token::new(text).is_err(), "{text}");
            assert!(Token::read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        std::fs::write(&file, "agentd_a_b\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = Token::from_file(&file).unwrap_err();
        assert!(error.to_string().contains("mode 640"), "{error}");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Token::from_file(&file).unwrap(), Token::new("agentd_a_b").unwrap());
    }
}

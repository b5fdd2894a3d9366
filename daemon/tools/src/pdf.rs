//! Text of PDF documents, read in a process of its own.
//!
//! A document is made by anybody, and reading one takes a large parser: what it does to memory and
//! time must not be done to the daemon. So the daemon's own binary is started once more
//! ([`PDF_COMMAND`]), with bounds that the kernel keeps, gets the document on its input and gives
//! the text on its output. `extract` is what it does.

mod extract;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use agentd_domain::{ToolResult, cut_line};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

pub use extract::run_pdf_helper;

/// The argument with which the daemon's binary reads a document.
pub const PDF_COMMAND: &str = "pdf-text";

/// Largest document in bytes.
pub(crate) const MAX_PDF: usize = 16 * 1024 * 1024;

/// Most bytes of text of a document, and of what the helper says with it.
const MAX_TEXT: usize = 2 * 1024 * 1024;
const MAX_SAID: u64 = 16 * 1024 * 1024;

/// How long a document is read.
const TIME: Duration = Duration::from_secs(20);

/// How much of a reason is shown, in characters.
const MAX_REASON: usize = 200;

/// Text of a document.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PdfText {
    /// The pages, each after a line with its number.
    pub(crate) text: String,
    /// How many pages the document has.
    pub(crate) pages: usize,
    /// What is missing; empty: nothing.
    pub(crate) notes: Vec<String>,
}

/// Reads documents, if the program can be started once more for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PdfReader {
    /// The daemon's binary.
    pub(crate) helper: Option<PathBuf>,
}

/// True for the beginning of a document.
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-")
}

impl PdfReader {
    /// Gives the text of a document.
    ///
    /// # Errors
    /// The result of the call, when there is none.
    ///
    /// # Cancel safety
    /// When the future is dropped, the process that reads is killed.
    pub(crate) async fn text(&self, document: &[u8]) -> Result<PdfText, ToolResult> {
        if document.len() > MAX_PDF {
            return Err(unreadable(&format!("it is larger than {MAX_PDF} bytes")));
        }
        match tokio::time::timeout(TIME, self.ask(document)).await {
            Ok(said) => said,
            Err(_elapsed) => {
                Err(unreadable(&format!("reading it takes longer than {} s", TIME.as_secs())))
            }
        }
    }

    async fn ask(&self, document: &[u8]) -> Result<PdfText, ToolResult> {
        let Some(helper) = &self.helper else {
            return Err(unreadable("this daemon cannot start its own program to read it"));
        };
        let failed = |error: std::io::Error| {
            ToolResult::retryable(
                "PDF_UNREADABLE",
                format!("The PDF document cannot be read: its reader does not start: {error}."),
            )
        };
        let mut child = Command::new(helper)
            .arg(PDF_COMMAND)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let writing = async move {
            // An error is an end of the reader, which its answer tells.
            if let Some(mut stdin) = stdin {
                drop(stdin.write_all(document).await);
            }
        };
        let reading = async move {
            let mut said = Vec::new();
            if let Some(stdout) = stdout {
                stdout.take(MAX_SAID).read_to_end(&mut said).await?;
            }
            Ok(said)
        };
        let ((), said) = tokio::join!(writing, reading);
        let said = said.map_err(failed)?;
        // What came over no memory, no time or a fault of the parser says nothing.
        let said: Result<PdfText, String> = serde_json::from_slice(&said).unwrap_or_else(|_none| {
            Err("it is damaged, or made to use up memory or time".to_owned())
        });
        drop(child.wait().await);
        said.map_err(|why| unreadable(&why))
    }
}

fn unreadable(why: &str) -> ToolResult {
    let why = cut_line(why, MAX_REASON);
    ToolResult::fatal("PDF_UNREADABLE", format!("The PDF document cannot be read: {why}."))
}

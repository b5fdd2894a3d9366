//! Writes a session to a file, page by page; the file has its name only when it is complete.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use agentd_proto::v1;
use agentd_shared::transcript::Item;
use agentd_shared::{Client, RpcError, Transcript, with_deadline};
use tempfile::NamedTempFile;
use tonic::{Code, Status};

use super::PATIENCE;

/// Events of a page.
const PAGE: u32 = 500;

/// Writes all events as JSON Lines, or what was said when the file's name ends in `.md`.
pub(super) async fn export(
    client: &Client,
    session_id: String,
    file: PathBuf,
) -> Result<(), RpcError> {
    let failed = |error: &std::io::Error| {
        let text = format!("{}: {error}", file.display());
        RpcError::from(Status::new(Code::FailedPrecondition, text))
    };
    if file.exists() {
        let error = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        return Err(failed(&error));
    }
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    // Readable by us alone, in the same directory so that it can be renamed.
    let partial = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")));
    let mut partial = partial.map_err(|error| failed(&error))?;
    if file.extension().is_some_and(|extension| extension == "md") {
        let text = markdown(client, session_id).await?;
        partial.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    } else {
        lines(client, session_id, &mut partial).await?.map_err(|error| failed(&error))?;
    }
    partial.as_file().sync_all().map_err(|error| failed(&error))?;
    partial.persist_noclobber(&file).map_err(|error| failed(&error.error))?;
    Ok(())
}

async fn lines(
    client: &Client,
    session_id: String,
    out: &mut NamedTempFile,
) -> Result<std::io::Result<()>, RpcError> {
    let (mut from_seq, mut from_byte) = (1, 0);
    while from_seq > 0 {
        let request =
            v1::ExportSessionRequest { session_id: session_id.clone(), from_seq, from_byte };
        let page = client.session().export_session(with_deadline(request, PATIENCE)).await?;
        let v1::ExportSessionResponse { lines, next_seq, next_byte } = page.into_inner();
        if let Err(error) = out.write_all(&lines) {
            return Ok(Err(error));
        }
        // A daemon that stands still must not keep us here for ever.
        let goes_on = next_seq > from_seq || (next_seq == from_seq && next_byte > from_byte);
        from_seq = if goes_on { next_seq } else { 0 };
        from_byte = next_byte;
    }
    Ok(Ok(()))
}

async fn markdown(client: &Client, session_id: String) -> Result<String, RpcError> {
    let mut transcript = Transcript::default();
    let mut from_seq = 1;
    while from_seq > 0 {
        let request =
            v1::ListEventsRequest { session_id: session_id.clone(), from_seq, page_size: PAGE };
        let page = client.event().list_events(with_deadline(request, PATIENCE)).await?;
        let v1::ListEventsResponse { events, next_seq } = page.into_inner();
        for event in &events {
            transcript.apply(event);
        }
        from_seq = if next_seq > from_seq { next_seq } else { 0 };
    }
    Ok(said(&transcript))
}

/// What was said, as Markdown.
fn said(transcript: &Transcript) -> String {
    let mut parts = Vec::new();
    if !transcript.title().is_empty() {
        parts.push(format!("# {}", transcript.title()));
    }
    for item in transcript.items() {
        match item {
            Item::User(message) => {
                let who = &message.author.name;
                let who = if who.is_empty() { "User" } else { who };
                parts.push(format!("## {who}"));
                parts.push(message.text.clone());
            }
            Item::Assistant(message) => {
                if !message.text.is_empty() {
                    parts.push("## Assistant".to_owned());
                    parts.push(message.text.clone());
                }
                for call in &message.tool_calls {
                    parts.push(format!("- `{}` {}", call.name, call.arguments_json));
                }
            }
            Item::Turn(_) | Item::Question(_) | Item::Note(_) => {}
        }
    }
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

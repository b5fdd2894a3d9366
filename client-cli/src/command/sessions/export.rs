//! `agentctl sessions export`.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use agentd_proto::v1;
use agentd_shared::{Client, ids};
use clap::{Args, ValueEnum};

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::progress::{Progress, Unit};
use crate::transcript_text;

/// Options of `sessions export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// File to write; without it: stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What it looks like
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ExportFormat,
}

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object per line; can be imported.
    #[default]
    Jsonl,
    /// For people.
    Markdown,
}

const PAGE: u32 = 500;

/// Writes a session.
pub(super) async fn run(args: &ExportArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let mut sink = match &args.output {
        Some(file) => Sink::file(file)?,
        None => Sink::Stdout(app.output.clone()),
    };
    let detail = super::show::fetch(&client, &session_id).await?;
    let events = detail.session.map_or(0, |session| session.last_seq);
    // On a terminal the text itself shows how far it has come.
    let progress = args
        .output
        .is_some()
        .then(|| Progress::bar(&app.output, "exporting", Unit::Things("events"), events));
    let reached = |seq| {
        if let Some(progress) = &progress {
            progress.reached(seq);
        }
    };
    write(&client, &session_id, args.format, &mut sink, &reached).await?;
    drop(progress);
    if let Some(file) = &args.output {
        app.output.note(&format!("wrote {}", file.display()));
    }
    Ok(Exit::Ok)
}

/// Where an export goes.
#[derive(Debug)]
pub(crate) enum Sink {
    /// To stdout: cleaned for a terminal, as it is into a pipe.
    Stdout(Output),
    /// To a file, which gets its name when it is complete.
    File(PartialFile),
}

impl Sink {
    /// A new file, readable for its owner only. An existing one is replaced when all is written.
    ///
    /// # Errors
    /// A report when it cannot be created.
    pub(crate) fn file(path: &Path) -> Result<Self, Failure> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary);
        let file = opened.map_err(|error| cannot_write(path, &error))?;
        Ok(Self::File(PartialFile { file, temporary, path: path.to_path_buf(), complete: false }))
    }

    /// Writes text.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Stdout(output) => output.raw(&output.clean(text)),
            Self::File(partial) => {
                let written = partial.file.write_all(text.as_bytes());
                written.map_err(|error| cannot_write(&partial.path, &error))
            }
        }
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        let Self::File(partial) = self else { return Ok(()) };
        let renamed = partial
            .file
            .sync_all()
            .and_then(|()| std::fs::rename(&partial.temporary, &partial.path));
        renamed.map_err(|error| cannot_write(&partial.path, &error))?;
        partial.complete = true;
        Ok(())
    }
}

/// A file under a temporary name.
#[derive(Debug)]
pub(crate) struct PartialFile {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
    complete: bool,
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.complete {
            // Half an export helps nobody; if it cannot be removed its name tells what it is.
            drop(std::fs::remove_file(&self.temporary));
        }
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("cannot write {}", path.display())).because(error)
}

/// Writes a session, page by page, and tells which event each page began with.
///
/// # Errors
/// A report when the daemon refuses or the output cannot be written.
pub(crate) async fn write(
    client: &Client,
    session_id: &str,
    format: ExportFormat,
    sink: &mut Sink,
    reached: &(dyn Fn(u64) + Sync),
) -> Result<(), Failure> {
    match format {
        ExportFormat::Jsonl => write_lines(client, session_id, sink, reached).await?,
        ExportFormat::Markdown => write_markdown(client, session_id, sink, reached).await?,
    }
    sink.finish()
}

/// The daemon writes the lines itself, so that nothing is lost on the way through this version.
async fn write_lines(
    client: &Client,
    session_id: &str,
    sink: &mut Sink,
    reached: &(dyn Fn(u64) + Sync),
) -> Result<(), Failure> {
    let (mut from_seq, mut from_byte) = (1, 0);
    // A page may end inside a line, even inside a character.
    let mut waiting = Vec::new();
    while from_seq > 0 {
        let request =
            v1::ExportSessionRequest { session_id: session_id.to_owned(), from_seq, from_byte };
        let page = client.session().export_session(request).await;
        let page = page.map_err(|status| rpc_failure("cannot export the session", status))?;
        let v1::ExportSessionResponse { lines, next_seq, next_byte } = page.into_inner();
        waiting.extend(lines);
        let whole = waiting.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = waiting.split_off(whole);
        sink.write(&String::from_utf8_lossy(&waiting))?;
        waiting = rest;
        reached(from_seq);
        from_seq = match next_seq {
            same if same == from_seq && next_byte > from_byte => same,
            next => following(from_seq, next),
        };
        from_byte = next_byte;
    }
    sink.write(&String::from_utf8_lossy(&waiting))
}

async fn write_markdown(
    client: &Client,
    session_id: &str,
    sink: &mut Sink,
    reached: &(dyn Fn(u64) + Sync),
) -> Result<(), Failure> {
    let detail = super::show::fetch(client, session_id).await?;
    sink.write(&transcript_text::title(&detail.session.unwrap_or_default()))?;
    let mut from_seq = 1;
    while from_seq > 0 {
        let request =
            v1::ListEventsRequest { session_id: session_id.to_owned(), from_seq, page_size: PAGE };
        let page = client.event().list_events(request).await;
        let page = page.map_err(|status| rpc_failure("cannot read the session", status))?;
        let v1::ListEventsResponse { events, next_seq } = page.into_inner();
        for event in &events {
            sink.write(&transcript_text::markdown(event))?;
        }
        reached(from_seq);
        from_seq = following(from_seq, next_seq);
    }
    Ok(())
}

/// The next page, or 0. A daemon that stands still must not keep us here for ever.
fn following(from_seq: u64, next_seq: u64) -> u64 {
    if next_seq > from_seq { next_seq } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("talk.jsonl");
        let mut sink = Sink::file(&path).unwrap();
        sink.write("{}\n").unwrap();
        drop(sink);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing half is left");
        let mut sink = Sink::file(&path).unwrap();
        sink.write("{}\n").unwrap();
        sink.finish().unwrap();
        drop(sink);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

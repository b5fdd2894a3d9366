//! `agentctl memory import`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::text::one_line;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::markdown;
use crate::app::{App, rpc_failure};
use crate::directory;
use crate::exit::{Exit, Failure};

/// Most bytes of a file.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Lines and bytes of a request; the daemon takes up to 1,000 and 1 MiB.
const CHUNK_LINES: usize = 500;
const CHUNK_BYTES: usize = 768 * 1024;
/// Columns of what is wrong with a line.
const PROBLEM_WIDTH: usize = 120;

/// Options of `memory import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// File to read; `-` for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What it is; without: by the end of its name
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = false)]
    format: Option<ImportFormat>,
    /// Memories of a Markdown file are told in this directory's sessions only
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// What `memory export` writes.
    Jsonl,
    /// Headings, lists and paragraphs.
    Markdown,
}

/// What has become of the lines.
#[derive(Debug, Default, Serialize)]
struct Report {
    new: usize,
    merged: usize,
    known: usize,
    quarantined: usize,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Serialize)]
struct LeftOut {
    line: usize,
    problem: String,
}

/// Takes memories in from a file.
pub(super) async fn run(args: &ImportArgs, app: &App) -> Result<Exit, Failure> {
    let text = read(&args.file)?;
    let client = app.client().await?;
    let is_markdown = match args.format {
        Some(format) => format == ImportFormat::Markdown,
        None => args.file.extension().is_some_and(|it| it == "md" || it == "markdown"),
    };
    let (from, lines) = if is_markdown {
        let workspace = args.workspace.as_ref();
        let workspace =
            workspace.map(|path| directory::named(client.endpoint(), path)).transpose()?;
        let notes = markdown::notes(&text, workspace.as_deref());
        let lines = notes.iter().map(|note| Ok((note.line, serde_json::to_string(note)?)));
        let lines = lines.collect::<Result<Vec<_>, serde_json::Error>>();
        let lines = lines.map_err(|error| {
            Failure::new(Exit::Failed, "cannot write the memories").because(error)
        })?;
        ("Markdown", lines)
    } else if args.workspace.is_some() {
        return Err(Failure::new(Exit::Usage, "--workspace is for Markdown files")
            .because("lines of an export say themselves where they hold"));
    } else {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.to_owned()));
        ("JSON Lines", lines.filter(|(_at, line)| !line.trim().is_empty()).collect())
    };
    if lines.is_empty() {
        return Err(Failure::new(Exit::Failed, format!("{} is empty", args.file.display()))
            .hint("give a file that `agentctl memory export` wrote, or a Markdown file"));
    }
    let mut report = Report::default();
    for chunk in chunks(&lines) {
        send(&client, app, from, chunk, &mut report).await?;
    }
    if args.json {
        app.output.json(&report)?;
    } else {
        for LeftOut { line, problem } in &report.left_out {
            app.output.note(&format!("line {line}: {}", one_line(problem, PROBLEM_WIDTH)));
        }
        let Report { new, merged, known, quarantined, left_out } = &report;
        app.output.line(&format!(
            "{new} new, {merged} became part of others, {known} known already, {quarantined} wait for \
             confirmation, {} left out",
            left_out.len()
        ))?;
    }
    Ok(if report.left_out.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn read(file: &Path) -> Result<String, Failure> {
    let failure = |error: &std::io::Error| {
        let exit = match error.kind() {
            std::io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Failed,
        };
        Failure::new(exit, format!("cannot read {}", file.display())).because(error)
    };
    let mut source: Box<dyn std::io::Read> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(file).map_err(|error| failure(&error))?)
    };
    let mut text = String::new();
    let read = source.by_ref().take(MAX_FILE + 1).read_to_string(&mut text);
    let length = read.map_err(|error| failure(&error))?;
    if length as u64 > MAX_FILE {
        return Err(Failure::new(Exit::Failed, format!("{} is too large", file.display()))
            .because(format!("at most {MAX_FILE} bytes are read")));
    }
    Ok(text)
}

/// Lines in the portions that the daemon takes.
fn chunks(lines: &[(usize, String)]) -> Vec<&[(usize, String)]> {
    let mut chunks = Vec::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest.iter().take(CHUNK_LINES).take_while(|(_at, line)| {
            bytes += line.len() + 1;
            bytes <= CHUNK_BYTES
        });
        // A line that is too long for any portion is sent alone, and refused.
        let (chunk, after) = rest.split_at(fitting.count().max(1));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

async fn send(
    client: &Client,
    app: &App,
    from: &str,
    chunk: &[(usize, String)],
    report: &mut Report,
) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for (_at, line) in chunk {
        lines.extend(line.as_bytes());
        lines.push(b'\n');
    }
    let request =
        v1::ImportMemoriesRequest { lines, from: from.to_owned(), author: Some(app.author()) };
    let answer = client.memory().import_memories(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot import the memories", status))?;
    for imported in answer.into_inner().lines {
        match imported.outcome() {
            v1::AddedMemory::New => report.new += 1,
            v1::AddedMemory::Merged => report.merged += 1,
            v1::AddedMemory::Known => report.known += 1,
            v1::AddedMemory::Quarantined => report.quarantined += 1,
            v1::AddedMemory::Unspecified => {
                let at = usize::try_from(imported.line).unwrap_or(0).saturating_sub(1);
                report.left_out.push(LeftOut {
                    line: chunk.get(at).map_or(0, |(line, _text)| *line),
                    problem: imported.problem,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sent_in_portions_that_the_daemon_takes() {
        let line = |at, length| (at, "x".repeat(length));
        let short: Vec<_> = (0..1201).map(|at| line(at, 3)).collect();
        let sizes: Vec<_> = chunks(&short).iter().map(|chunk| chunk.len()).collect();
        assert_eq!(sizes, [500, 500, 201]);
        let long = [line(1, CHUNK_BYTES / 2), line(2, CHUNK_BYTES / 2), line(3, CHUNK_BYTES * 2)];
        let sizes: Vec<_> = chunks(&long).iter().map(|chunk| chunk.len()).collect();
        assert_eq!(sizes, [1, 1, 1]);
        assert!(chunks(&[]).is_empty());
    }
}

//! `agentctl memory import`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::text::one_line;
use agentd_shared::{Client, directory};
use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::markdown;
use super::tea_agent::{self, Reading};
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::progress::{Progress, Unit};

/// Most bytes of a text, and of a database, which holds other things, too.
const MAX_FILE: u64 = 64 * 1024 * 1024;
const MAX_DATABASE: u64 = 256 * 1024 * 1024;
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
    /// Take in memories of tea_agent whose date cannot be read, too, as of now
    #[arg(long)]
    undated: bool,
    /// Only tell what would become of the memories
    #[arg(long)]
    dry_run: bool,
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
    /// The database of a tea_agent.
    TeaAgent,
}

/// What has become of the lines.
#[derive(Debug, Default, Serialize)]
struct Report {
    new: usize,
    merged: usize,
    known: usize,
    quarantined: usize,
    /// Forgotten where they are from.
    forgotten: usize,
    left_out: Vec<LeftOut>,
    dry_run: bool,
}

/// What a file holds, and what is known of it before the daemon is asked.
struct Source {
    from: &'static str,
    /// What the lines are numbered by.
    unit: &'static str,
    lines: Vec<(usize, String)>,
    report: Report,
}

#[derive(Debug, Serialize)]
struct LeftOut {
    line: usize,
    problem: String,
}

/// Takes memories in from a file.
pub(super) async fn run(args: &ImportArgs, app: &App) -> Result<Exit, Failure> {
    let bytes = read(&args.file)?;
    let client = app.client().await?;
    let format = args.format.unwrap_or_else(|| guess(&args.file, &bytes));
    if args.workspace.is_some() && format != ImportFormat::Markdown {
        return Err(Failure::new(Exit::Usage, "--workspace is for Markdown files")
            .because("other files say themselves where their memories hold"));
    }
    if args.undated && format != ImportFormat::TeaAgent {
        return Err(Failure::new(Exit::Usage, "--undated is for databases of tea_agent"));
    }
    let source = match format {
        ImportFormat::TeaAgent => of_tea_agent(args, bytes)?,
        ImportFormat::Markdown => {
            let workspace = args.workspace.as_ref();
            let workspace =
                workspace.map(|path| directory::named(client.endpoint(), path)).transpose()?;
            of_markdown(&text(&args.file, bytes)?, workspace.as_deref())?
        }
        ImportFormat::Jsonl => of_lines(&text(&args.file, bytes)?),
    };
    let Source { from, unit, lines, mut report } = source;
    if lines.is_empty() && report.left_out.is_empty() && report.forgotten == 0 {
        return Err(Failure::new(Exit::Failed, format!("{} is empty", args.file.display())).hint(
            "give a file that `agentctl memory export` wrote, a Markdown file, or a database of tea_agent",
        ));
    }
    report.dry_run = args.dry_run;
    let total = u64::try_from(lines.len()).unwrap_or(u64::MAX);
    let progress = Progress::bar(&app.output, "taking in", Unit::Things("memories"), total);
    let mut taken = 0;
    for chunk in chunks(&lines) {
        let count = u64::try_from(chunk.len()).unwrap_or(0);
        send(&client, app, from, chunk, &mut report).await?;
        taken += count;
        progress.reached(taken);
    }
    drop(progress);
    report.left_out.sort_by_key(|left_out| left_out.line);
    if args.json {
        app.output.json(&report)?;
    } else {
        for LeftOut { line, problem } in &report.left_out {
            app.output.note(&format!("{unit} {line}: {}", one_line(problem, PROBLEM_WIDTH)));
        }
        let Report { new, merged, known, quarantined, forgotten, left_out, dry_run } = &report;
        if *forgotten > 0 {
            app.output.note(&format!("{forgotten} were forgotten where they are from"));
        }
        let would = if *dry_run { "nothing was changed; this would be: " } else { "" };
        app.output.line(&format!(
            "{would}{new} new, {merged} became part of others, {known} known already, {quarantined} wait for \
             confirmation, {} left out",
            left_out.len()
        ))?;
    }
    Ok(if report.left_out.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// What a file is, by how it begins and the end of its name.
fn guess(file: &Path, bytes: &[u8]) -> ImportFormat {
    if bytes.starts_with(tea_agent::MAGIC) {
        ImportFormat::TeaAgent
    } else if file.extension().is_some_and(|it| it == "md" || it == "markdown") {
        ImportFormat::Markdown
    } else {
        ImportFormat::Jsonl
    }
}

fn of_lines(text: &str) -> Source {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.to_owned()));
    let lines = lines.filter(|(_at, line)| !line.trim().is_empty()).collect();
    Source { from: "JSON Lines", unit: "line", lines, report: Report::default() }
}

fn of_markdown(text: &str, workspace: Option<&str>) -> Result<Source, Failure> {
    let notes = markdown::notes(text, workspace);
    let lines = notes.iter().map(|note| Ok((note.line, serde_json::to_string(note)?)));
    let lines = lines.collect::<Result<Vec<_>, serde_json::Error>>();
    let lines = lines
        .map_err(|error| Failure::new(Exit::Failed, "cannot write the memories").because(error))?;
    Ok(Source { from: "Markdown", unit: "line", lines, report: Report::default() })
}

fn of_tea_agent(args: &ImportArgs, bytes: Vec<u8>) -> Result<Source, Failure> {
    let shown = args.file.display();
    for suffix in ["-wal", "-journal"] {
        let mut beside = args.file.clone().into_os_string();
        beside.push(suffix);
        if std::fs::metadata(&beside).is_ok_and(|it| it.len() > 0) {
            let what = format!("{shown} does not hold everything yet");
            return Err(Failure::new(Exit::Failed, what)
                .because(format!("changes of it are in {}", beside.display()))
                .hint(format!(
                    "end tea_agent, or say `sqlite3 {shown} 'PRAGMA wal_checkpoint(TRUNCATE)'`"
                )));
        }
    }
    let reading = Reading {
        zone: TimeZone::system(),
        now_ms: i64::try_from(now_ms()).unwrap_or(i64::MAX),
        with_undated: args.undated,
    };
    let found = tea_agent::read(bytes, &reading).map_err(|problem| {
        Failure::new(Exit::Failed, format!("cannot read {shown}")).because(problem)
    })?;
    let left_out = found.left_out.into_iter().map(|(line, problem)| LeftOut { line, problem });
    let report =
        Report { left_out: left_out.collect(), forgotten: found.forgotten, ..Report::default() };
    Ok(Source { from: "tea_agent", unit: "row", lines: found.lines, report })
}

fn text(file: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    let failure = |why: String| {
        Failure::new(Exit::Failed, format!("cannot read {}", file.display())).because(why)
    };
    if bytes.len() as u64 > MAX_FILE {
        return Err(failure(format!("it has more than {MAX_FILE} bytes")));
    }
    String::from_utf8(bytes).map_err(|_binary| failure("it is not UTF-8".to_owned()))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
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
    let mut bytes = Vec::new();
    let read = source.by_ref().take(MAX_DATABASE + 1).read_to_end(&mut bytes);
    let length = read.map_err(|error| failure(&error))?;
    if length as u64 > MAX_DATABASE {
        return Err(Failure::new(Exit::Failed, format!("{} is too large", file.display()))
            .because(format!("at most {MAX_DATABASE} bytes are read")));
    }
    Ok(bytes)
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
    let request = v1::ImportMemoriesRequest {
        lines,
        from: from.to_owned(),
        author: Some(app.author()),
        dry_run: report.dry_run,
    };
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

//! Reading a text file, a page of lines at a time.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult, floor_char_boundary};
use async_trait::async_trait;
use ring::digest::{Context, SHA256};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::save::MAX_FILE;
use super::workspace::{OpenedFile, Workspace};
use super::{FileLedger, Protected, blocking, hex, planned_read, shown};
use crate::pdf::{MAX_PDF, PdfReader, PdfText, is_pdf};
use crate::run::interrupted;
use crate::{About, ToolContext, TypedTool};

/// How much of a file is looked at, in bytes.
const MAX_READ: usize = 2 * 1024 * 1024;

/// Bytes between two looks at the cancellation.
const CHUNK: u64 = 64 * 1024;

/// Bytes that are read at once to make a check sum.
const READ_AT_ONCE: usize = 64 * 1024;

/// Longest page in bytes. It leaves room for notes below the limit of a call's output, so that a
/// page is never cut in its middle.
const MAX_PAGE: usize = 100 * 1024;

/// Lines of a page when the call does not say.
const DEFAULT_LINES: usize = 2_000;

/// Arguments of read_file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Relative to the workspace.
    path: String,
    /// First line, from 1.
    #[schemars(range(min = 1))]
    offset: Option<u32>,
    /// Most lines; left out: 2000.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ReadFile {
    pub(crate) protected: Protected,
    pub(crate) pdf: PdfReader,
}

#[async_trait]
impl TypedTool for ReadFile {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "read_file",
            description: "Reads a text file or the text of a PDF. Long files come in pages: a note in \
                          brackets tells how to go on.",
            capabilities: Capabilities::WORKSPACE_READ,
            aliases: &["readFile"],
        }
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let summary = format!("read {}", shown(&arguments.path));
        planned_read(ctx, &self.protected, &arguments.path, summary).await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let ledger = Arc::clone(&ctx.files);
        let (first, limit) = (arguments.offset.map_or(1, to_usize), limit(&arguments));
        let outcome =
            blocking(ctx, move |cancel| read(&workspace, &protected, &ledger, &arguments, cancel));
        match outcome.await {
            Ok(Outcome::Told(result)) => result,
            Ok(Outcome::Document(document)) => match self.pdf.text(&document).await {
                Ok(text) => document_page(text, first, limit),
                Err(refused) => refused,
            },
            Err(refused) => refused,
        }
    }
}

fn read(
    root: &Path,
    protected: &Protected,
    ledger: &FileLedger,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<Outcome, ToolResult> {
    let workspace = Workspace::open(root, protected)?;
    let OpenedFile { file, metadata, place } = workspace.open_file(&arguments.path)?;
    let bytes = read_start(&file, cancel)?;
    if let Some(sha256) = hash(&bytes, &file, cancel)? {
        ledger.note(&workspace.absolute(&place), Some(&sha256));
    }
    if bytes.is_empty() {
        return Ok(Outcome::Told(ToolResult::empty("[The file is empty.]")));
    }
    let size = metadata.len();
    if is_pdf(&bytes) {
        // What follows the part that was looked at is wanted too.
        let most = u64::try_from(MAX_PDF).unwrap_or(u64::MAX).saturating_add(1);
        let again = workspace.open_file(&arguments.path)?.file;
        let mut document = Vec::new();
        again.take(most).read_to_end(&mut document).map_err(|error| {
            ToolResult::retryable("IO_ERROR", format!("The file cannot be read on: {error}."))
        })?;
        return Ok(Outcome::Document(document));
    }
    if let Some(kind) = binary_kind(&bytes) {
        let text = format!("[Not text but {kind}, {size} bytes. Not shown.]");
        return Ok(Outcome::Told(ToolResult::success(text)));
    }
    let first = arguments.offset.map_or(1, to_usize);
    page(bytes, size, first, limit(arguments)).map(Outcome::Told)
}

/// What reading came to.
enum Outcome {
    /// The result of the call.
    Told(ToolResult),
    /// A PDF, whose text is still to be read.
    Document(Vec<u8>),
}

fn limit(arguments: &Arguments) -> usize {
    arguments.limit.map_or(DEFAULT_LINES, to_usize)
}

/// Lines of the text of a document.
fn document_page(pdf: PdfText, first: usize, limit: usize) -> ToolResult {
    let PdfText { text, pages, notes } = pdf;
    let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let mut result = page(text.into_bytes(), size, first, limit).unwrap_or_else(|refused| refused);
    let note = format!("Text of a PDF of {pages} pages; its layout and pictures are left out.");
    for note in notes.into_iter().chain([note]) {
        if !result.output.ends_with('\n') {
            result.output.push('\n');
        }
        result.output.extend(["[", note.as_str(), "]"]);
    }
    result
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// SHA-256 in hex of what was read and of what follows it; none when it is too much to be changed.
fn hash(
    start: &[u8],
    mut rest: &File,
    cancel: &CancellationToken,
) -> Result<Option<String>, ToolResult> {
    let mut hash = Context::new(&SHA256);
    hash.update(start);
    let (mut total, mut chunk) = (start.len(), vec![0; READ_AT_ONCE]);
    while start.len() > MAX_READ {
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        let read = rest.read(&mut chunk).map_err(|error| {
            ToolResult::retryable("IO_ERROR", format!("The file cannot be read on: {error}."))
        })?;
        total += read;
        if total > MAX_FILE {
            return Ok(None);
        }
        if read == 0 {
            break;
        }
        hash.update(chunk.get(..read).unwrap_or_default());
    }
    Ok(Some(hex(hash.finish().as_ref())))
}

/// Reads at most one byte more than [`MAX_READ`].
fn read_start(file: &File, cancel: &CancellationToken) -> Result<Vec<u8>, ToolResult> {
    let mut rest = file.take(u64::try_from(MAX_READ).unwrap_or(u64::MAX).saturating_add(1));
    let mut bytes = Vec::new();
    loop {
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        let read = rest.by_ref().take(CHUNK).read_to_end(&mut bytes).map_err(|error| {
            ToolResult::retryable("IO_ERROR", format!("The file cannot be read on: {error}."))
        })?;
        if read == 0 {
            return Ok(bytes);
        }
    }
}

/// Lines `first` and following of a text, with notes about what is not shown.
fn page(
    mut bytes: Vec<u8>,
    size: u64,
    first: usize,
    limit: usize,
) -> Result<ToolResult, ToolResult> {
    let is_cut = bytes.len() > MAX_READ;
    if is_cut {
        bytes.truncate(MAX_READ);
        // Up to the last line end, so that neither a line nor a character is shown by half.
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            bytes.truncate(end + 1);
        }
    }
    let is_utf8 = std::str::from_utf8(&bytes).is_ok();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);

    let total = text.split_inclusive('\n').count();
    if first > total {
        return Err(ToolResult::fatal(
            "OFFSET_BEYOND_END",
            format!("There is no line {first}: {total} lines of the file can be read."),
        ));
    }
    let mut shown = String::new();
    let mut lines = 0;
    let mut notes = Vec::new();
    for line in text.split_inclusive('\n').skip(first.saturating_sub(1)).take(limit) {
        if shown.len() + line.len() <= MAX_PAGE {
            shown.push_str(line);
            lines += 1;
            continue;
        }
        if lines == 0 {
            // Skipping it would leave the reader no way on.
            shown.push_str(line.get(..floor_char_boundary(line, MAX_PAGE)).unwrap_or_default());
            lines = 1;
            notes.push(format!(
                "[Line {first} has {} bytes; its first {} are shown.]",
                line.len(),
                shown.len()
            ));
        }
        break;
    }
    let last = first.saturating_sub(1) + lines;
    if first > 1 || last < total {
        let of = if is_cut { "more than " } else { "" };
        let next =
            if last < total { format!(" Go on with offset {}.", last + 1) } else { String::new() };
        notes.push(format!("[Lines {first} to {last} of {of}{total}.{next}]"));
    }
    if is_cut {
        notes.push(format!("[The file has {size} bytes; only the first {MAX_READ} can be read.]"));
    }
    if !is_utf8 {
        notes.push("[Bytes that are not UTF-8 are shown as \u{fffd}.]".to_owned());
    }
    if !notes.is_empty() {
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(&notes.join("\n"));
    }
    Ok(ToolResult::success(shown))
}

/// What a file is that is not text.
fn binary_kind(bytes: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 14] = [
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF87a", "a GIF image"),
        (b"GIF89a", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive or office document"),
        (b"\x1f\x8b", "gzip-compressed data"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
        (b"\xfd7zXZ\0", "xz-compressed data"),
        (b"\x7fELF", "an ELF program"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\0asm", "a WebAssembly module"),
        (b"\xff\xfe", "text in UTF-16"),
        (b"\xfe\xff", "text in UTF-16"),
    ];
    /// Text holds no NUL; this far it is looked for.
    const LOOKED_AT: usize = 8 * 1024;
    let known = KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
    known.or_else(|| bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0).then_some("binary data"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, first: usize, limit: usize, expect: &str) {
        let size = u64::try_from(text.len()).expect("a small file");
        let result = page(text.as_bytes().to_vec(), size, first, limit);
        assert_eq!(result, Ok(ToolResult::success(expect)), "{text:?}");
    }

    #[test]
    fn a_whole_file_is_shown_as_it_is() {
        check("one\ntwo\n", 1, 10, "one\ntwo\n");
        check("no end", 1, 10, "no end");
        check("a\r\nb\r\n", 1, 10, "a\r\nb\r\n");
        check("\u{feff}marked", 1, 10, "marked");
    }

    #[test]
    fn a_part_says_how_to_go_on() {
        check("1\n2\n3\n", 1, 2, "1\n2\n[Lines 1 to 2 of 3. Go on with offset 3.]");
        check("1\n2\n3\n", 3, 2, "3\n[Lines 3 to 3 of 3.]");
        check("1\n2\n3", 2, 9, "2\n3\n[Lines 2 to 3 of 3.]");
        let beyond = page(b"1\n2\n".to_vec(), 4, 3, 1).expect_err("beyond the end");
        assert_eq!(beyond.output, "There is no line 3: 2 lines of the file can be read.");
    }

    #[test]
    fn en_01_long_lines_are_cut_on_character_boundaries() {
        for end in ["世", "😀", "e\u{301}", "👨‍👩‍👧‍👦"] {
            let text = format!("{}{end}tail\nnext\n", "a".repeat(MAX_PAGE - 1));
            let size = u64::try_from(text.len()).expect("a small file");
            let result = page(text.into_bytes(), size, 1, 10).expect("a page");
            assert!(result.output.contains("[Line 1 has"), "{end}");
            assert!(result.output.ends_with("[Lines 1 to 1 of 2. Go on with offset 2.]"), "{end}");
            assert!(result.output.len() < MAX_PAGE + 200);
        }
    }

    #[test]
    fn a_page_of_long_lines_ends_on_a_line() {
        let text = format!("{}\n", "x".repeat(999)).repeat(200);
        let size = u64::try_from(text.len()).expect("a small file");
        let result = page(text.into_bytes(), size, 1, 2_000).expect("a page");
        assert!(result.output.ends_with("[Lines 1 to 102 of 200. Go on with offset 103.]"));
    }

    #[test]
    fn a_huge_file_is_shown_up_to_a_line_end() {
        let bytes = "世世世\n".repeat(MAX_READ / 10 + 1).into_bytes();
        let result = page(bytes, 5_000_000, 1, 1).expect("a page");
        assert_eq!(
            result.output,
            "世世世\n[Lines 1 to 1 of more than 209715. Go on with offset 2.]\n\
             [The file has 5000000 bytes; only the first 2097152 can be read.]"
        );
    }

    #[test]
    fn bytes_that_are_not_text_are_noted() {
        let result = page(b"caf\xe9\n".to_vec(), 5, 1, 10).expect("a page");
        assert_eq!(result.output, "caf\u{fffd}\n[Bytes that are not UTF-8 are shown as \u{fffd}.]");
    }

    #[test]
    fn binary_files_are_told_from_text() {
        let check = |bytes: &[u8], expect| assert_eq!(binary_kind(bytes), expect);
        check(b"\x7fELF\x02\x01", Some("an ELF program"));
        check(b"a\0b", Some("binary data"));
        check("plain 世界".as_bytes(), None);
        check(b"caf\xe9", None);
    }
}

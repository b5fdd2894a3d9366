//! Lines that a search found: looking through one file, and what is told of all of them.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use agentd_domain::Evidence;
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};
use tokio_util::sync::CancellationToken;

use super::excerpt::excerpt;
use super::grep_files::Mode;
use super::shown;

/// Longest text of all lines, in bytes; see `MAX_PAGE` of read_file.
const MAX_BYTES: usize = 48 * 1024;

/// Most matches that are counted in one line.
const MAX_COUNTED: u64 = 1_000;

/// How a file is looked through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) mode: Mode,
    /// Most lines that are kept of a file.
    pub(super) limit: usize,
    /// Ends the search where it is.
    pub(super) stop: &'a CancellationToken,
}

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct FileHits {
    /// Lines with a match.
    pub(super) lines: u64,
    /// A NUL was met.
    pub(super) is_binary: bool,
    /// Texts of the first lines, with their context.
    texts: Vec<String>,
    /// Numbers and texts of the first lines with a match.
    matches: Vec<(u64, String)>,
    bytes: usize,
}

/// Looks through a file.
///
/// # Errors
/// When it cannot be read, when a line is too long, and when the search is to end.
pub(super) fn look_through(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    file: &mut dyn Read,
    wanted: Wanted<'_>,
) -> io::Result<FileHits> {
    let mut seen = Seen { hits: FileHits::default(), matcher, wanted };
    let source = Stoppable { file, stop: wanted.stop };
    searcher.search_reader(matcher, source, &mut seen)?;
    Ok(seen.hits)
}

/// A file whose reading ends when the search does.
struct Stoppable<'a> {
    file: &'a mut dyn Read,
    stop: &'a CancellationToken,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(io::Error::other("the search was stopped"));
        }
        self.file.read(buffer)
    }
}

struct Seen<'a> {
    hits: FileHits,
    matcher: &'a RegexMatcher,
    wanted: Wanted<'a>,
}

impl Seen<'_> {
    /// True while texts are kept.
    fn keeps(&self) -> bool {
        self.wanted.mode == Mode::Content
            && self.hits.lines <= self.wanted.limit as u64
            && self.hits.bytes <= MAX_BYTES
    }

    fn keep(&mut self, text: String) {
        self.hits.bytes += text.len() + 1;
        self.hits.texts.push(text);
    }

    /// The text of a line with a match.
    fn describe(&self, line: &[u8]) -> io::Result<String> {
        let (mut first, mut count) = (None, 0_u64);
        self.matcher
            .find_iter(line, |found| {
                first.get_or_insert(found.start()..found.end());
                count += 1;
                count <= MAX_COUNTED && !self.wanted.stop.is_cancelled()
            })
            .map_err(io::Error::other)?;
        let text = excerpt(line, &first.unwrap_or(0..0));
        let is_cut = text.len() < line.len().saturating_sub(2);
        Ok(match count {
            2.. if is_cut && count > MAX_COUNTED => {
                format!("{text} [more than {MAX_COUNTED} matches in this line]")
            }
            2.. if is_cut => format!("{text} [{count} matches in this line]"),
            _ => text,
        })
    }
}

impl Sink for Seen<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.wanted.stop.is_cancelled() {
            return Err(io::Error::other("the search was stopped"));
        }
        self.hits.lines += 1;
        if self.keeps() {
            let number = found.line_number().unwrap_or_default();
            let text = self.describe(found.bytes())?;
            self.keep(format!("{number}: {text}"));
            self.hits.matches.push((number, text));
        }
        Ok(self.wanted.mode != Mode::Files)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        // What follows the last line that is kept belongs to it; what precedes the next does not.
        let is_of_next = *context.kind() == SinkContextKind::Before
            && self.hits.lines >= self.wanted.limit as u64;
        if self.keeps() && !is_of_next {
            let number = context.line_number().unwrap_or_default();
            self.keep(format!("{number}- {}", excerpt(context.bytes(), &(0..0))));
        }
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        if self.keeps() && self.hits.lines < self.wanted.limit as u64 {
            self.keep("--".to_owned());
        }
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> io::Result<bool> {
        self.hits.is_binary = true;
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.hits.is_binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// What was found in all files: counts of everything, texts of the first in order of their paths.
#[derive(Debug)]
pub(super) struct Hits {
    /// Lines with a match; with [`Mode::Files`] one a file.
    pub(super) lines: u64,
    searched: u64,
    files: u64,
    mode: Mode,
    limit: usize,
    kept: BTreeMap<PathBuf, FileHits>,
    kept_units: usize,
    kept_bytes: usize,
}

impl Hits {
    /// Nothing yet.
    pub(super) fn new(mode: Mode, limit: usize) -> Self {
        let kept = BTreeMap::new();
        Self { lines: 0, searched: 0, files: 0, mode, limit, kept, kept_units: 0, kept_bytes: 0 }
    }

    /// Adds what was found in a file.
    pub(super) fn note(&mut self, place: &Path, found: FileHits) {
        self.searched += 1;
        if found.lines == 0 {
            return;
        }
        self.files += 1;
        self.lines += found.lines;
        self.kept_units += self.units(&found);
        self.kept_bytes += found.bytes;
        self.kept.insert(place.to_owned(), found);
        // The last are let go while those before them fill what can be shown.
        while let Some(last) = self.kept.last_entry() {
            let (units, bytes) = (units_of(self.mode, last.get()), last.get().bytes);
            if self.kept_units - units < self.limit && self.kept_bytes - bytes < MAX_BYTES {
                break;
            }
            last.remove();
            self.kept_units -= units;
            self.kept_bytes -= bytes;
        }
    }

    fn units(&self, found: &FileHits) -> usize {
        units_of(self.mode, found)
    }

    /// The text, notes on it, and what the answer rests on.
    pub(super) fn told(&self) -> (String, Vec<String>, Vec<Evidence>) {
        let (mut output, mut evidence) = (String::new(), Vec::new());
        let mut shown_units = 0_usize;
        'files: for (place, found) in &self.kept {
            let name = shown(&place.to_string_lossy());
            let head = match self.mode {
                Mode::Content if found.is_binary => format!("{name} (binary)\n"),
                Mode::Content | Mode::Files => format!("{name}\n"),
                Mode::Count => format!("{name}: {}\n", found.lines),
            };
            if shown_units >= self.limit || output.len() + head.len() > MAX_BYTES {
                break;
            }
            output.push_str(&head);
            if self.mode != Mode::Content {
                shown_units += 1;
                continue;
            }
            let mut matches = found.matches.iter();
            for text in &found.texts {
                let is_match = text.bytes().find(|byte| !byte.is_ascii_digit()) == Some(b':');
                if output.len() + text.len() > MAX_BYTES || (is_match && shown_units >= self.limit)
                {
                    break 'files;
                }
                output.push_str(text);
                output.push('\n');
                if is_match && let Some((number, excerpt)) = matches.next() {
                    shown_units += 1;
                    evidence.push(Evidence {
                        uri: format!("file:{name}#L{number}"),
                        title: String::new(),
                        excerpt: excerpt.clone(),
                    });
                }
            }
            output.push('\n');
        }
        (output, vec![self.count(shown_units)], evidence)
    }

    fn count(&self, shown_units: usize) -> String {
        let Self { lines, searched, files, .. } = self;
        if *lines == 0 {
            return format!("[No match in {searched} files.]");
        }
        let (total, what) = match self.mode {
            Mode::Content => {
                (*lines, format!("{lines} lines in {files} of {searched} files match"))
            }
            Mode::Files => (*files, format!("{files} of {searched} files match")),
            Mode::Count => (*files, format!("{lines} lines in {files} of {searched} files match")),
        };
        if (shown_units as u64) < total {
            format!(
                "[{what}; {shown_units} are shown. A narrower pattern, path or glob shows others.]"
            )
        } else {
            format!("[{what}.]")
        }
    }
}

/// How much of the limit a file takes.
fn units_of(mode: Mode, found: &FileHits) -> usize {
    if mode == Mode::Content { found.matches.len().max(1) } else { 1 }
}

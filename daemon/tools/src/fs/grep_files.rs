//! Finding lines in files by a regular expression.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use async_trait::async_trait;
use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::hits::{Hits, Wanted, look_through};
use super::scope::Names;
use super::skipped::Skipped;
use super::walk::{Found, Walk};
use super::workspace::{OpenedFile, Workspace, told};
use super::{Protected, blocking, search_result, searching, shown};
use crate::run::interrupted;
use crate::{About, ToolContext, TypedTool};

/// Longest line that is looked through, in bytes.
const MAX_LINE: usize = 32 * 1024 * 1024;

/// Largest compiled expression, in bytes.
const MAX_REGEX: usize = 4 * 1024 * 1024;

/// How much of an error of an expression is shown, in characters.
const MAX_ERROR: usize = 400;

/// What is told of the lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    #[default]
    Content,
    Files,
    Count,
}

/// Arguments of grep_files.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Regular expression (Rust syntax) for a line.
    #[schemars(length(min = 1, max = 10000))]
    pattern: String,
    /// File or directory; left out: the workspace.
    path: Option<String>,
    /// Such as `*.rs` or `!*.min.js`.
    #[schemars(length(max = 1000))]
    glob: Option<String>,
    /// Such as rust or py.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Left out: content, the lines.
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    #[schemars(range(max = 20))]
    context: u8,
    #[serde(default)]
    ignore_case: bool,
    /// It is plain text.
    #[serde(default)]
    literal: bool,
    /// Left out: 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u16>,
    #[serde(default)]
    include_hidden: bool,
    /// What .gitignore names too.
    #[serde(default)]
    include_ignored: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct GrepFiles {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for GrepFiles {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "grep_files",
            description: "Finds lines in files of the workspace. Notes in brackets tell counts and what \
                          was left out.",
            // A tree has no version that is cheap to know, so an answer is not given twice.
            capabilities: Capabilities { cacheable: false, ..Capabilities::WORKSPACE_READ },
            aliases: &["grep", "searchInFiles", "search_files"],
        }
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let arguments = arguments.clone();
        blocking(ctx, move |_cancel| {
            arguments.matcher()?;
            let names = arguments.names()?;
            let place = match Base::open(&Workspace::open(&workspace, &protected)?, &names.base)? {
                Base::File(file) => file.place,
                Base::Directory(place) => place,
            };
            let pattern = shown(&arguments.pattern);
            Ok(Action::read(format!("search {} for {pattern}", told(&place)), [told(&place)]))
        })
        .await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        searching(ctx, move |cancel, enough| {
            grep(&workspace, &protected, &arguments, cancel, enough)
        })
        .await
    }
}

impl Arguments {
    fn matcher(&self) -> Result<RegexMatcher, ToolResult> {
        RegexMatcherBuilder::new()
            .case_insensitive(self.ignore_case)
            .fixed_strings(self.literal)
            .multi_line(true)
            .crlf(true)
            .line_terminator(Some(b'\n'))
            .size_limit(MAX_REGEX)
            .build(&self.pattern)
            .map_err(|error| {
                ToolResult::fatal(
                    "INVALID_PATTERN",
                    format!(
                        "pattern: {}. Escape what is meant literally, or set literal; an expression \
                         cannot reach over a line end.",
                        cut_line(&error.to_string(), MAX_ERROR)
                    ),
                )
            })
    }

    /// A file that was named is looked through although it is binary.
    fn searcher(&self, is_named: bool) -> Searcher {
        let detection =
            if is_named { BinaryDetection::convert(0) } else { BinaryDetection::quit(0) };
        SearcherBuilder::new()
            .before_context(usize::from(self.context))
            .after_context(usize::from(self.context))
            .heap_limit(Some(MAX_LINE))
            .binary_detection(detection)
            .build()
    }

    fn names(&self) -> Result<Names, ToolResult> {
        Names::read(self.path.as_deref(), self.glob.as_deref(), self.kind.as_deref())
    }
}

enum Base {
    File(OpenedFile),
    Directory(std::path::PathBuf),
}

impl Base {
    fn open(workspace: &Workspace<'_>, path: &str) -> Result<Self, ToolResult> {
        match workspace.open_dir(path) {
            Ok((_dir, place)) => Ok(Self::Directory(place)),
            Err(refusal) if refusal.error_code == "NOT_A_DIRECTORY" => {
                workspace.open_file(path).map(Self::File)
            }
            Err(refusal) => Err(refusal),
        }
    }
}

fn grep(
    root: &Path,
    protected: &Protected,
    arguments: &Arguments,
    cancel: &CancellationToken,
    enough: &CancellationToken,
) -> Result<ToolResult, ToolResult> {
    let matcher = arguments.matcher()?;
    let names = arguments.names()?;
    let workspace = Workspace::open(root, protected)?;
    let base = Base::open(&workspace, &names.base)?;
    let limit = usize::from(arguments.limit.unwrap_or(100));
    let wanted = Wanted { mode: arguments.mode, limit, stop: enough };
    let hits = Mutex::new(Hits::new(arguments.mode, limit));
    // Each has a buffer that would take longer to make than most files to look through.
    let idle = Mutex::new(Vec::new());
    let look = |file: &mut dyn io::Read, place: &Path, is_named: bool, skipped: &mut Skipped| {
        let taken = lock(&idle).pop();
        let mut searcher = taken.unwrap_or_else(|| arguments.searcher(is_named));
        let looked = look_through(&mut searcher, &matcher, file, wanted);
        lock(&idle).push(searcher);
        match looked {
            Ok(found) => {
                if found.is_binary && !is_named {
                    skipped.binary += 1;
                }
                lock(&hits).note(place, found);
            }
            Err(_) if enough.is_cancelled() => {}
            Err(error) => skipped.unreadable(place, &error),
        }
    };
    let skipped = match base {
        Base::File(mut opened) => {
            let mut skipped = Skipped::default();
            look(&mut opened.file, &opened.place, true, &mut skipped);
            skipped
        }
        Base::Directory(base) => {
            let walk = Walk {
                base: &base,
                hidden: arguments.include_hidden,
                dots: &names.dots,
                ignored: arguments.include_ignored,
                stop: enough,
            };
            walk.run(&workspace, &|file: &Found<'_>, skipped| {
                if !names.fit(file) {
                    return;
                }
                match open(file) {
                    Ok(Some(mut opened)) => look(&mut opened, file.place, false, skipped),
                    Ok(None) => skipped.special += 1,
                    Err(error) => skipped.unreadable(file.place, &error),
                }
            })
        }
    };
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    let hits = hits.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (output, mut notes, evidence) = hits.told();
    notes.extend(skipped.notes());
    Ok(search_result(output, notes, hits.lines, &skipped, enough).with_evidence(evidence))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a file that was come by; none when it is no plain file any more.
fn open(file: &Found<'_>) -> io::Result<Option<cap_std::fs::File>> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let opened = file.dir.open_with(file.name, &options)?;
    Ok(opened.metadata()?.is_file().then_some(opened))
}

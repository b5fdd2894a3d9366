//! What is in an archive. Nothing is ever extracted.

mod listing;
mod tar;
mod zip;

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use flate2::read::MultiGzDecoder;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::listing::{Listing, Stop};
use crate::fs::{Protected, blocking, open_file, planned_read, shown};
use crate::run::interrupted;
use crate::{About, Rank, ToolContext, TypedTool};

/// Most bytes that are unpacked to read the headers of a compressed archive.
const MAX_UNPACKED: u64 = 1024 * 1024 * 1024;

/// Size of a block of a tar archive, in bytes.
const BLOCK: usize = 512;

/// Arguments of list_archive.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Path of the archive, relative to the workspace.
    path: String,
    /// First entry to show, counted from 1; left out: 1.
    #[schemars(range(min = 1))]
    offset: Option<u32>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ListArchive {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for ListArchive {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "list_archive",
            description: "Lists the entries of a zip, tar or tar.gz archive of the workspace with \
                          their sizes. Nothing is extracted.",
            capabilities: Capabilities::WORKSPACE_READ,
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let path = &arguments.path;
        planned_read(ctx, &self.protected, path, format!("list the archive {}", shown(path))).await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        blocking(ctx, move |cancel| list(&workspace, &protected, &arguments, cancel))
            .await
            .unwrap_or_else(|refusal| refusal)
    }
}

fn list(
    root: &Path,
    protected: &Protected,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<ToolResult, ToolResult> {
    let (file, metadata) = open_file(root, protected, &arguments.path)?;
    let first = arguments.offset.map_or(1, |at| usize::try_from(at).unwrap_or(usize::MAX));
    let mut listing = Listing::new(first, cancel);
    let kind = match read(file, metadata.len(), &mut listing) {
        Ok(kind) => kind,
        Err(Stop::Cancelled) => return Err(interrupted()),
        Err(Stop::NotAnArchive(what)) => {
            return Err(ToolResult::fatal(
                "NOT_AN_ARCHIVE",
                format!("'{}' is {what}", shown(&arguments.path)),
            ));
        }
        Err(Stop::Damaged(_) | Stop::TooMuch(_)) if listing.is_empty() => {
            return Err(ToolResult::fatal(
                "ARCHIVE_DAMAGED",
                format!(
                    "'{}' cannot be listed: its first entry is damaged.",
                    shown(&arguments.path)
                ),
            ));
        }
        // What was read before is worth showing.
        Err(Stop::Damaged(note) | Stop::TooMuch(note)) => {
            listing.note(note);
            "archive"
        }
    };
    listing.into_result(kind)
}

fn read(mut file: File, size: u64, listing: &mut Listing<'_>) -> Result<&'static str, Stop> {
    let damaged = |error: io::Error| Stop::damaged(&error);
    let mut start = [0; BLOCK];
    let filled = fill(&mut file, &mut start).map_err(damaged)?;
    let start = start.get(..filled).unwrap_or_default();
    file.seek(SeekFrom::Start(0)).map_err(damaged)?;
    if start.starts_with(b"\x1f\x8b") {
        let unpacked = MultiGzDecoder::new(BufReader::new(file)).take(MAX_UNPACKED);
        return tar::read(unpacked, listing).map(|()| "tar.gz");
    }
    if tar::is_header(start) {
        return tar::read_file(file, size, listing).map(|()| "tar");
    }
    if zip::read(&mut file, size, listing)? {
        return Ok("zip");
    }
    Err(Stop::NotAnArchive(other_kind(start)))
}

/// Reads until `buffer` is full or there is no more.
fn fill(from: &mut impl io::Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest @ [_, ..]) = buffer.get_mut(filled..) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// What a file is that cannot be listed.
fn other_kind(start: &[u8]) -> &'static str {
    const KINDS: [(&[u8], &str); 5] = [
        (b"\x28\xb5\x2f\xfd", "compressed with zstd; only zip, tar and tar.gz are listed."),
        (b"\xfd7zXZ\0", "compressed with xz; only zip, tar and tar.gz are listed."),
        (b"BZh", "compressed with bzip2; only zip, tar and tar.gz are listed."),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive; only zip, tar and tar.gz are listed."),
        (b"Rar!", "a RAR archive; only zip, tar and tar.gz are listed."),
    ];
    KINDS
        .iter()
        .find(|(magic, _)| start.starts_with(magic))
        .map_or("not a zip, tar or tar.gz archive, or cut off.", |(_, what)| what)
}

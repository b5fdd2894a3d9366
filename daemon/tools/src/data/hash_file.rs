//! Check sums of a file.

use std::io::Read as _;
use std::path::Path;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use md5::{Digest as _, Md5};
use ring::digest;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::fs::{Protected, blocking, open_file, planned_read, shown};
use crate::run::interrupted;
use crate::{About, Rank, ToolContext, TypedTool};

/// Largest file, in bytes. It keeps a sparse file of petabytes from being read to its end.
const MAX_FILE: u64 = 16 * 1024 * 1024 * 1024;

/// Bytes between two looks at the cancellation.
const CHUNK: usize = 256 * 1024;

/// Which sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Algorithm {
    Sha256,
    Sha512,
    Sha1,
    Md5,
}

/// Arguments of hash_file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Path of the file, relative to the workspace.
    path: String,
    /// Left out: sha256.
    algorithm: Option<Algorithm>,
    /// A sum in hex that the file should have.
    #[schemars(length(min = 1, max = 200))]
    expected: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct HashFile {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for HashFile {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "hash_file",
            description: "Calculates the check sum of a file of the workspace and compares it \
                          with an expected one.",
            capabilities: Capabilities::WORKSPACE_READ,
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let path = &arguments.path;
        planned_read(ctx, &self.protected, path, format!("hash {}", shown(path))).await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        blocking(ctx, move |cancel| hash(&workspace, &protected, &arguments, cancel))
            .await
            .unwrap_or_else(|refusal| refusal)
    }
}

fn hash(
    root: &Path,
    protected: &Protected,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<ToolResult, ToolResult> {
    let (mut file, metadata) = open_file(root, protected, &arguments.path)?;
    if metadata.len() > MAX_FILE {
        return Err(too_large(metadata.len()));
    }
    let mut sum = Sum::new(arguments.algorithm.unwrap_or(Algorithm::Sha256));
    let mut chunk = vec![0; CHUNK];
    let mut size = 0_u64;
    loop {
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        let read = file.read(&mut chunk).map_err(|error| {
            ToolResult::retryable("IO_ERROR", format!("The file cannot be read on: {error}."))
        })?;
        if read == 0 {
            break;
        }
        size = size.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        // It may grow while it is read.
        if size > MAX_FILE {
            return Err(too_large(size));
        }
        sum.add(chunk.get(..read).unwrap_or_default());
    }
    let name = sum.name();
    let hex = sum.hex();
    let mut output = format!("{name}: {hex}\nbytes: {size}");
    if let Some(expected) = &arguments.expected {
        let is_same = expected.trim().eq_ignore_ascii_case(&hex);
        output.push_str(if is_same {
            "\nIt is the expected sum."
        } else {
            "\nIt is NOT the expected sum."
        });
    }
    Ok(ToolResult::success(output))
}

fn too_large(size: u64) -> ToolResult {
    ToolResult::fatal(
        "FILE_TOO_LARGE",
        format!("The file has {size} bytes or more; at most {MAX_FILE} are read."),
    )
}

/// A sum as it grows.
enum Sum {
    Ring(digest::Context, &'static str),
    Md5(Md5),
}

impl Sum {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Sha256 => Self::Ring(digest::Context::new(&digest::SHA256), "sha256"),
            Algorithm::Sha512 => Self::Ring(digest::Context::new(&digest::SHA512), "sha512"),
            Algorithm::Sha1 => Self::Ring(
                digest::Context::new(&digest::SHA1_FOR_LEGACY_USE_ONLY),
                "sha1 (not safe against forgery)",
            ),
            Algorithm::Md5 => Self::Md5(Md5::new()),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Ring(_, name) => name,
            Self::Md5(_) => "md5 (not safe against forgery)",
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Ring(context, _) => context.update(bytes),
            Self::Md5(context) => context.update(bytes),
        }
    }

    fn hex(self) -> String {
        use std::fmt::Write as _;
        let write = |bytes: &[u8]| {
            bytes.iter().fold(String::new(), |mut hex, byte| {
                // Writing to a string does not fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            })
        };
        match self {
            Self::Ring(context, _) => write(context.finish().as_ref()),
            Self::Md5(context) => write(&context.finalize()),
        }
    }
}

//! Showing a picture of the workspace to a model that sees.
//!
//! The file goes to the model as it is: what is too large is refused, with what would make it fit.
//! A model that sees no pictures reads that in the picture's place (`agentd_llm`, the repair of
//! requests).

use std::io::Read as _;
use std::path::Path;

use agentd_domain::{Action, Capabilities, Evidence, ToolImage, ToolResult};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::ImageType;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::fs::{Protected, blocking, open_file, planned_read, shown};
use crate::{About, Rank, ToolContext, TypedTool};

/// Longest side in pixels; providers refuse longer ones.
const MAX_SIDE: usize = 8_000;

/// Arguments of view_image.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Path of the image, relative to the workspace.
    path: String,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ViewImage {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for ViewImage {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "view_image",
            description: "Shows you a picture of the workspace (PNG, JPEG, GIF or WebP, such as a \
                          screenshot, photo or diagram), if you can see images.",
            capabilities: Capabilities::WORKSPACE_READ,
            aliases: &["vision_analyze"],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let path = &arguments.path;
        planned_read(ctx, &self.protected, path, format!("look at {}", shown(path))).await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        blocking(ctx, move |_cancel| view(&workspace, &protected, &arguments.path))
            .await
            .unwrap_or_else(|refusal| refusal)
    }
}

fn view(root: &Path, protected: &Protected, path: &str) -> Result<ToolResult, ToolResult> {
    let (file, metadata) = open_file(root, protected, path)?;
    let most = u64::try_from(ToolImage::MAX_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| {
        ToolResult::retryable("IO_ERROR", format!("The file cannot be read on: {error}."))
    })?;
    let path = shown(path);
    let (kind, media_type) = kind(&bytes).ok_or_else(|| {
        ToolResult::fatal(
            "NOT_AN_IMAGE",
            format!("'{path}' is no PNG, JPEG, GIF or WebP: convert it to one of them."),
        )
    })?;
    if bytes.len() > ToolImage::MAX_BYTES {
        return Err(ToolResult::fatal(
            "IMAGE_TOO_LARGE",
            format!(
                "'{path}' has {} bytes, more than {most}: make a smaller copy or cut out the part \
                 that matters.",
                metadata.len()
            ),
        ));
    }
    let size = imagesize::blob_size(&bytes).map_err(|error| {
        ToolResult::fatal("NOT_AN_IMAGE", format!("'{path}' is damaged: {error}."))
    })?;
    let (width, height) = (size.width, size.height);
    if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
        return Err(ToolResult::fatal(
            "IMAGE_TOO_LARGE",
            format!("'{path}' has {width} x {height} pixels: 1 to {MAX_SIDE} a side are shown."),
        ));
    }
    let image =
        ToolImage { media_type: media_type.to_owned(), data_base64: STANDARD.encode(&bytes) };
    let text = format!("[{path}: {kind}, {width} x {height} pixels, {} bytes]", bytes.len());
    let evidence =
        Evidence { uri: format!("file:{path}"), title: String::new(), excerpt: String::new() };
    let mut result = ToolResult::success(text).with_evidence([evidence]);
    result.image = Some(Box::new(image));
    Ok(result)
}

/// What people and providers call the format of these bytes.
fn kind(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match imagesize::image_type(bytes).ok()? {
        ImageType::Png => Some(("PNG", "image/png")),
        ImageType::Jpeg => Some(("JPEG", "image/jpeg")),
        ImageType::Gif => Some(("GIF", "image/gif")),
        ImageType::Webp => Some(("WebP", "image/webp")),
        _ => None,
    }
}

//! Reading the output of an earlier call again, of which requests hold no more than that it was there. The
//! tool says what is asked: the turn reads it from the session's log.

use agentd_domain::{Action, Capabilities, OutputPart, OutputRequest, SessionRequest, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{About, Rank, ToolContext, TypedTool};

/// Characters that are given when the call does not say.
const DEFAULT_CHARS: u32 = 16_000;

/// Most characters at once. Four bytes each still fit the limit of an output.
const MAX_CHARS: u32 = 30_000;

/// Arguments of recall_output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// As the note says that stands in place of the output.
    #[schemars(length(min = 1, max = 64))]
    call_id: String,
    /// First character, from 0.
    offset: Option<u32>,
    /// Most characters; left out: 16000.
    #[schemars(range(min = 1, max = 30000))]
    limit: Option<u32>,
    /// Only lines with this text, and those around them.
    #[schemars(length(min = 1, max = 200))]
    pattern: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct RecallOutput;

#[async_trait]
impl TypedTool for RecallOutput {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "recall_output",
            description: "Shows the output of an earlier call of this session again, of which the \
                          conversation holds only a note or a part.",
            // It asks the turn, which reads the log.
            capabilities: Capabilities {
                parallel_safe: false,
                cacheable: false,
                retry_same_args: false,
                ..Capabilities::PURE
            },
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        // The notes name it.
        Rank::Second
    }

    async fn run(&self, _ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        match request(arguments) {
            Ok(request) => {
                let request = Some(Box::new(SessionRequest::Output(request)));
                ToolResult { request, ..ToolResult::success("") }
            }
            Err(problem) => ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", problem),
        }
    }
}

fn request(arguments: Arguments) -> Result<OutputRequest, String> {
    let Arguments { call_id, offset, limit, pattern } = arguments;
    let part = match pattern {
        Some(_) if offset.is_some() || limit.is_some() => {
            return Err("pattern: give it alone, or offset and limit without it.".to_owned());
        }
        Some(pattern) if pattern.contains('\n') => {
            return Err(
                "pattern: it is looked for in each line, so it has no line break.".to_owned()
            );
        }
        Some(pattern) => OutputPart::Matching { pattern },
        None => OutputPart::Range {
            offset: offset.unwrap_or(0),
            limit: limit.unwrap_or(DEFAULT_CHARS).clamp(1, MAX_CHARS),
        },
    };
    Ok(OutputRequest { call_id: call_id.trim().to_owned(), part })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<OutputRequest, String> {
        request(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_part_is_a_range_or_the_lines_around_a_text() {
        let range = |offset, limit| OutputPart::Range { offset, limit };
        for (json, part) in [
            (r#"{"call_id":" c1 "}"#, range(0, DEFAULT_CHARS)),
            (r#"{"call_id":"c1","offset":5,"limit":99999}"#, range(5, MAX_CHARS)),
            (r#"{"call_id":"c1","pattern":"x"}"#, OutputPart::Matching { pattern: "x".into() }),
        ] {
            assert_eq!(read(json), Ok(OutputRequest { call_id: "c1".into(), part }), "{json}");
        }
        for json in
            [r#"{"call_id":"c1","pattern":"x","limit":3}"#, r#"{"call_id":"c1","pattern":"x\ny"}"#]
        {
            assert!(read(json).unwrap_err().starts_with("pattern: "), "{json}");
        }
    }
}

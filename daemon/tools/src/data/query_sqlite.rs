//! Reading a SQLite database.
//!
//! The file is read through the workspace's handle and opened from memory, so no path is given to
//! SQLite and nothing on the disk can change. What a statement may do is decided by SQLite's own
//! authorizer when it compiles it, never by the words of the statement.

mod cells;
mod image;
mod reader;
mod wal;

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use async_trait::async_trait;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::image::Image;
use self::reader::Reader;
use crate::fs::{Protected, blocking, planned_read, shown};
use crate::run::interrupted;
use crate::{About, Rank, ToolContext, TypedTool};

/// Rows that are given, when nothing is said and at most (spec a.3).
const USUAL_ROWS: u32 = 100;
const MOST_ROWS: u32 = 200;

/// How long a query goes on. It is less than a call may take, so that what was found is told.
const QUERY_TIME: Duration = Duration::from_secs(20);

/// How much of a query stands in a summary, in characters.
const MAX_SUMMARY: usize = 160;

/// Arguments of query_sqlite.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Path of the database, relative to the workspace.
    path: String,
    /// One statement that reads. Left out: the schema is shown.
    #[schemars(length(max = 10_000))]
    sql: Option<String>,
    /// Values for ? in it.
    #[serde(default)]
    #[schemars(schema_with = "values")]
    params: Option<Vec<Value>>,
    /// Most rows to give; left out: 100.
    #[schemars(range(min = 1, max = 200))]
    max_rows: Option<u32>,
}

fn values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "type": ["string", "number", "boolean"] },
        "maxItems": 100
    })
}

/// See the module.
#[derive(Debug)]
pub(crate) struct QuerySqlite {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for QuerySqlite {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "query_sqlite",
            description: "Runs a read-only SQL query on a SQLite database of the workspace; without \
                          sql it shows the schema.",
            // What stands in the log beside the file changes the answer too.
            capabilities: Capabilities { cacheable: false, ..Capabilities::WORKSPACE_READ },
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let Arguments { path, sql, .. } = arguments;
        let what = match sql {
            Some(sql) => format!("query {}: {}", shown(path), shown(&cut_line(sql, MAX_SUMMARY))),
            None => format!("look at the schema of {}", shown(path)),
        };
        planned_read(ctx, &self.protected, path, what).await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let enough = ctx.cancel.child_token();
        let _stop = enough.clone().drop_guard();
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let token = enough.clone();
        let mut work = pin!(blocking(ctx, move |cancel| {
            query(&workspace, &protected, &arguments, (cancel, &token))
        }));
        let result = tokio::select! {
            biased;
            result = &mut work => result,
            () = tokio::time::sleep(QUERY_TIME) => {
                enough.cancel();
                work.await
            }
        };
        result.unwrap_or_else(|refusal| refusal)
    }
}

/// `enough` is cancelled when the query has gone on for long enough, and when `cancel` is.
fn query(
    root: &Path,
    protected: &Protected,
    arguments: &Arguments,
    (cancel, enough): (&CancellationToken, &CancellationToken),
) -> Result<ToolResult, ToolResult> {
    let Arguments { path, sql, params, max_rows } = arguments;
    let image = Image::read(root, protected, path, cancel)?;
    let from_log = image.from_log;
    let reader = Reader::open(image, enough)?;
    let most = max_rows.unwrap_or(USUAL_ROWS).clamp(1, MOST_ROWS);
    let sql = sql.as_deref().filter(|sql| !sql.trim().is_empty());
    let answer = match sql {
        Some(sql) => reader.rows(sql, params.as_deref().unwrap_or_default(), most),
        None => reader.schema(),
    };
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    let mut result = answer?;
    if from_log > 0 {
        let note = format!("{from_log} pages are taken from the write-ahead log beside the file");
        result.output = format!("{}\n[{note}.]", result.output);
    }
    Ok(result)
}

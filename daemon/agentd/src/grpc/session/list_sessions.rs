//! Lists sessions in pages.

use std::fmt::Write as _;

use agentd_proto::v1;
use agentd_store::SessionCursor;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

const DEFAULT_PAGE: u32 = 100;
const MAX_PAGE: u32 = 1000;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ListSessionsRequest,
) -> Result<v1::ListSessionsResponse, Status> {
    let v1::ListSessionsRequest { page_size, page_token } = request;
    let limit = from_proto::page_size(page_size, DEFAULT_PAGE, MAX_PAGE)?;
    let from = match page_token.as_str() {
        "" => None,
        token => Some(SessionCursor(from_hex(token).ok_or_else(|| {
            let hint = "give next_page_token as it came";
            status::bad_field("page_token", "it is not a page token", hint)
        })?)),
    };
    let page = ctx.engine.list(from, limit).await.map_err(|error| status::from_command(&error))?;
    let sessions = page
        .sessions
        .iter()
        .map(|record| to_proto::record(record, ctx.engine.attached(record.session_id)))
        .collect();
    let next_page_token = page.next.map(|SessionCursor(bytes)| to_hex(&bytes)).unwrap_or_default();
    Ok(v1::ListSessionsResponse { sessions, next_page_token })
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}

fn from_hex(hex: &str) -> Option<Vec<u8>> {
    const MAX_TOKEN: usize = 128;
    if hex.len() > MAX_TOKEN || !hex.len().is_multiple_of(2) || !hex.is_ascii() {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

//! The calls that run, as the rows above the prompt that are drawn anew while they do.

use agentd_shared::Transcript;
use agentd_shared::format::{Role, card};

use crate::look::Look;

/// Most calls that have a row; the daemon runs a few at a time.
const ROWS: usize = 4;
/// Lines of output that a call shows that runs alone, and one of several.
const TAIL: usize = 3;
const TAIL_OF_SEVERAL: usize = 1;

/// Calls that run, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Running {
    call_ids: Vec<String>,
}

impl Running {
    /// A call begins.
    pub(super) fn begin(&mut self, call_id: &str) {
        self.end(call_id);
        self.call_ids.push(call_id.to_owned());
    }

    /// A call has ended. True when it was known to run.
    pub(super) fn end(&mut self, call_id: &str) -> bool {
        let before = self.call_ids.len();
        self.call_ids.retain(|running| running != call_id);
        self.call_ids.len() < before
    }

    /// None of them runs any more. True when one did.
    pub(super) fn clear(&mut self) -> bool {
        !std::mem::take(&mut self.call_ids).is_empty()
    }

    /// Tells whether something runs.
    pub(super) fn is_empty(&self) -> bool {
        self.call_ids.is_empty()
    }

    /// Their rows, at most `height` of them: rows that the cursor cannot go up to stay for ever.
    pub(super) fn rows(
        &self,
        transcript: &Transcript,
        now_ms: i64,
        height: usize,
        look: Look,
    ) -> Vec<String> {
        let tail = if self.call_ids.len() == 1 { TAIL } else { TAIL_OF_SEVERAL };
        let shown = self.call_ids.iter().take(ROWS);
        let calls = shown.filter_map(|call_id| transcript.tool_call(call_id));
        let mut rows: Vec<String> = calls
            .flat_map(|call| look.paint_all(&card::running(call, now_ms, tail, look.width)))
            .collect();
        let more = self.call_ids.len().saturating_sub(ROWS);
        if more > 0 {
            rows.push(look.row(Role::Dim, &format!("  … {more} more run")));
        }
        rows.truncate(height);
        rows
    }
}

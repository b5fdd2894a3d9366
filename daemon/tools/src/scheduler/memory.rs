//! What a turn remembers of its calls.

use std::collections::HashMap;

use agentd_domain::{Action, ActionTarget, ToolEffect, ToolResult, ToolStatus};
use ring::digest::{Context, SHA256};
use serde_json::Value;

use super::back_off::BackOff;
use crate::PreparedCall;

/// Most bytes of output that are remembered in a turn.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Stands for a call: its tool, its arguments and, where the result depends on them, the state of the
/// workspace (spec d.6) and of the files that it reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Fingerprint(Vec<u8>);

/// Results of calls that may be given again within the turn. Calls with effects are never among
/// them, and each of those makes what was read of the workspace before it out of date.
#[derive(Debug, Default)]
pub struct TurnMemory {
    pub(super) back_off: BackOff,
    revision: u64,
    results: HashMap<Fingerprint, ToolResult>,
    bytes: usize,
}

impl TurnMemory {
    /// The fingerprint of a call in the present state of the workspace.
    pub(super) fn fingerprint(&self, call: &PreparedCall, action: &Action) -> Fingerprint {
        let revision = if call.capabilities.observes_workspace { self.revision } else { 0 };
        let mut hash = Context::new(&SHA256);
        hash.update(call.tool.spec().name.as_bytes());
        hash.update(format!("\n{revision}\n").as_bytes());
        hash_canonical(&call.arguments, &mut hash);
        // Others change files too, without the turn knowing.
        for target in &action.targets {
            if let ActionTarget::Read { version: Some(version), .. } = target {
                hash_canonical(&Value::String(version.clone()), &mut hash);
            }
        }
        Fingerprint(hash.finish().as_ref().to_vec())
    }

    /// The result of an equal call.
    pub(super) fn recall(&self, fingerprint: &Fingerprint) -> Option<&ToolResult> {
        self.results.get(fingerprint)
    }

    /// Notes what came of a call that was run.
    pub(super) fn note(
        &mut self,
        fingerprint: Option<&Fingerprint>,
        call: Option<&PreparedCall>,
        result: &ToolResult,
    ) {
        let effect = call.map(|call| call.capabilities.effect);
        let may_have_changed = matches!(
            effect,
            Some(ToolEffect::WorkspaceWrite | ToolEffect::Process | ToolEffect::Exclusive)
        );
        if may_have_changed || result.workspace_changed {
            self.revision += 1;
        }
        let is_settled =
            matches!(result.status, ToolStatus::Success | ToolStatus::Partial | ToolStatus::Empty);
        let image = result.image.as_ref().map_or(0, |image| image.data_base64.len());
        let bytes = result.output.len() + result.diff.len() + image;
        if let Some(fingerprint) = fingerprint
            && is_settled
            && self.bytes + bytes <= MAX_BYTES
        {
            self.bytes += bytes;
            self.results.insert(fingerprint.clone(), result.clone());
        }
    }
}

/// Hashes JSON so that equal values have equal hashes, whatever the order of their keys.
fn hash_canonical(value: &Value, hash: &mut Context) {
    match value {
        Value::Array(items) => {
            hash.update(format!("[{}", items.len()).as_bytes());
            for item in items {
                hash_canonical(item, hash);
            }
        }
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_unstable();
            hash.update(format!("{{{}", keys.len()).as_bytes());
            for key in keys {
                hash_canonical(&Value::String(key.clone()), hash);
                if let Some(value) = fields.get(key) {
                    hash_canonical(value, hash);
                }
            }
        }
        // Scalars as JSON text: strings are quoted, so nothing runs together.
        scalar => hash.update(format!("{scalar},").as_bytes()),
    }
}

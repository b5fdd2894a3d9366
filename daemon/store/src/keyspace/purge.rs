//! Finding what is left of a deleted session.

use std::ops::ControlFlow;

use agentd_domain::SessionId;

use crate::ReadError;
use crate::keyspace::{Direction, Key, Keyspace, under};

/// Up to `limit` keys of a session's events.
pub(crate) fn event_keys(
    keys: &impl Keyspace,
    session_id: SessionId,
    limit: usize,
) -> Result<Vec<Vec<u8>>, ReadError> {
    keys_under(keys, &Key::of(Key::EVENT, session_id), limit)
}

pub(super) fn keys_under(
    keys: &impl Keyspace,
    prefix: &[u8],
    limit: usize,
) -> Result<Vec<Vec<u8>>, ReadError> {
    let mut found = Vec::new();
    keys.scan(under(prefix), Direction::Forward, &mut |key, _value| {
        if found.len() == limit {
            return ControlFlow::Break(());
        }
        found.push(key.to_vec());
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

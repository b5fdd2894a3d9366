//! Where a terminal begins in the log of a session.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;

use crate::attachment::AttachPosition;
use crate::client::{Client, with_deadline};
use crate::which::Chosen;

/// Turns that are shown of a session where this terminal has never been.
const REPLAYED_TURNS: u32 = 10;
/// Turns that are shown at least of a session that goes on: an empty screen tells nothing.
const SHOWN_TURNS: usize = 3;
/// Events that are looked at for the turns in what was missed.
const MISSED_PAGE: u32 = 1000;
/// Longest wait for the daemon to say how far we have read.
const CURSOR_PATIENCE: Duration = Duration::from_secs(2);

/// Where to begin: a session where this terminal has never been is not told from its beginning.
pub async fn first_position(client: &Client, client_id: &str, chosen: &Chosen) -> AttachPosition {
    if chosen.is_new {
        return AttachPosition::FromSeq(1);
    }
    // A cursor never moves backwards, so that asking for 0 tells where it is.
    let request = v1::SetReadCursorRequest {
        session_id: chosen.session_id.clone(),
        client_id: client_id.to_owned(),
        seq: 0,
    };
    let answer = client.event().set_read_cursor(with_deadline(request, CURSOR_PATIENCE)).await;
    let seen = match answer {
        Ok(answer) if answer.get_ref().seq == 0 => {
            return AttachPosition::LastTurns(REPLAYED_TURNS);
        }
        Ok(answer) => answer.get_ref().seq,
        // If it cannot be told, the attachment says why.
        Err(_) => return AttachPosition::ReadCursor,
    };
    let request = v1::ListEventsRequest {
        session_id: chosen.session_id.clone(),
        from_seq: seen.saturating_add(1),
        page_size: MISSED_PAGE,
    };
    match client.event().list_events(with_deadline(request, CURSOR_PATIENCE)).await {
        Ok(missed) => position_after(missed.get_ref()),
        Err(_) => AttachPosition::ReadCursor,
    }
}

/// Where to begin after what was missed: all of it is shown, and some turns in any case.
fn position_after(missed: &v1::ListEventsResponse) -> AttachPosition {
    let begins = |event: &&v1::Event| matches!(event.body, Some(Body::TurnStarted(_)));
    let turns = missed.events.iter().filter(begins).count();
    if missed.next_seq > 0 || turns >= SHOWN_TURNS {
        AttachPosition::ReadCursor
    } else {
        AttachPosition::LastTurns(u32::try_from(SHOWN_TURNS).unwrap_or(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_session_shows_its_newest_turns_unless_more_was_missed() {
        let check = |turns: usize, next_seq: u64, expect: AttachPosition| {
            let started = Some(Body::TurnStarted(v1::TurnStarted::default()));
            let event = v1::Event { body: started, ..v1::Event::default() };
            let missed = v1::ListEventsResponse { events: vec![event; turns], next_seq };
            assert_eq!(position_after(&missed), expect, "{turns} turns, next {next_seq}");
        };
        check(0, 0, AttachPosition::LastTurns(3));
        check(2, 0, AttachPosition::LastTurns(3));
        check(3, 0, AttachPosition::ReadCursor);
        check(1, 900, AttachPosition::ReadCursor);
    }
}

//! Finding in a conversation what is to be remembered, when it has come to rest (spec b.5).
//!
//! Only what users said counts; answers are there to understand it. What is found in a conversation that
//! holds text from elsewhere waits for a user, unless it is in their own words.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use agentd_domain::{
    EventBody, ItemId, MemoriesExtracted, MemoryAuthor, MemoryCategory, MemoryOrigin, MemoryScope,
    Seq, SessionId, TimestampMs, UsagePurpose, cut_line,
};
use agentd_memory::{
    Added, Extracted, INSTRUCTIONS, MAX_ANSWER, NewMemory, Vouched, usual_priority,
};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::session::SessionDeps;
use crate::short_answer::{self, Asked};
use crate::usage::Account;

/// Turns that are looked at together, the oldest first.
const MOST_TURNS: usize = 20;
/// Characters of what a user said in one message.
const SAID: usize = 2_000;
/// Characters of an answer (spec b.5: 500).
const ANSWERED: usize = 500;

/// A turn.
#[derive(Debug)]
struct Turn {
    /// When it began.
    at: TimestampMs,
    said: String,
    answered: String,
}

/// A conversation, as far as it has not been looked at.
#[derive(Debug, Default)]
struct Read {
    /// In order.
    turns: Vec<Turn>,
    through: Seq,
    /// The last message of a user.
    last_said: Seq,
    /// Turns behind those.
    left: u32,
}

/// Which part of a session is looked at.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) session_id: SessionId,
    /// The session's model.
    pub(crate) model: String,
    /// The first event.
    pub(crate) from: Seq,
    /// Where what is so holds.
    pub(crate) workspace: String,
    /// Text from elsewhere came into the session.
    pub(crate) outside_text: bool,
}

/// Looks through a session from an event on, and adds what is found. None when nothing could be found
/// out: it is tried again after the next turn.
pub(crate) async fn extract(
    deps: Arc<SessionDeps>,
    part: Part,
    account: Arc<Account>,
) -> Option<MemoriesExtracted> {
    let Part { session_id, model, from, workspace, outside_text } = part;
    let read = read(&deps, session_id, from).await?;
    let zone = TimeZone::system();
    let asked = Asked {
        model: &model,
        instructions: INSTRUCTIONS,
        text: written(&read.turns, &zone),
        purpose: UsagePurpose::Memory,
        most_bytes: MAX_ANSWER,
    };
    let limit = deps.config.borrow().extract_timeout;
    let asking = short_answer::ask(&deps, &account, asked);
    let Ok(answer) = tokio::time::timeout(limit, asking).await else {
        tracing::warn!(%session_id, "the model was too slow to look for memories");
        return None;
    };
    let Some(found) = agentd_memory::parse(&answer?) else {
        tracing::warn!(%session_id, "what the model found is no list");
        return None;
    };
    let said: Vec<&str> = read.turns.iter().map(|turn| turn.said.as_str()).collect();
    let root = crate::rules::root_of(Path::new(&workspace)).await;
    let mut extracted = MemoriesExtracted {
        through: read.through,
        turns_left: read.left,
        added: Vec::new(),
        waiting: Vec::new(),
    };
    for item in found {
        let content = cut_line(&item.content, 80);
        let vouched = agentd_memory::vouched(&item.content, &said, outside_text);
        let (item, expires_at) = with_time(item, &zone);
        let new = NewMemory { expires_at, ..new_memory(item, session_id, &read, vouched, &root) };
        match deps.memories.add(new).await {
            Ok(Added::New(id) | Added::MergedInto(id)) => extracted.added.push(id),
            Ok(Added::Quarantined(id)) => extracted.waiting.push(id),
            Ok(Added::Known(_)) => {}
            // It may hold a secret, so that it is not told what it was.
            Err(error @ agentd_memory::MemoryError::Secret { .. }) => {
                tracing::info!(%session_id, %error, "something found is not remembered");
            }
            Err(error) => {
                tracing::warn!(%session_id, content, %error, "something found is not remembered");
            }
        }
    }
    Some(extracted)
}

async fn read(deps: &SessionDeps, session_id: SessionId, from: Seq) -> Option<Read> {
    let mut read = Read::default();
    let mut waiting: HashMap<ItemId, String> = HashMap::new();
    let all = crate::session::for_each_event(&*deps.store, session_id, from, |event| {
        if matches!(event.body, EventBody::TurnStarted(_)) && read.turns.len() == MOST_TURNS {
            read.left += 1;
        }
        if read.left > 0 {
            return;
        }
        read.through = event.seq;
        match &event.body {
            EventBody::MessageAccepted(accepted) => {
                waiting.insert(accepted.item_id, cut_line(&accepted.text, SAID));
                read.last_said = event.seq;
            }
            EventBody::MessageWithdrawn(withdrawn) => drop(waiting.remove(&withdrawn.item_id)),
            EventBody::TurnStarted(started) => {
                let said = started.item_ids.iter().filter_map(|item| waiting.remove(item));
                let said = said.collect::<Vec<_>>().join("\n");
                read.turns.push(Turn { at: event.at, said, answered: String::new() });
            }
            EventBody::MessagesDelivered(delivered) => {
                let said = delivered.item_ids.iter().filter_map(|item| waiting.remove(item));
                if let Some(turn) = read.turns.last_mut() {
                    said.for_each(|said| turn.said.extend(["\n", &said]));
                }
            }
            EventBody::AssistantMessage(message) if message.tool_calls.is_empty() => {
                if let Some(turn) = read.turns.last_mut() {
                    turn.answered = cut_line(&message.text, ANSWERED);
                }
            }
            _ => {}
        }
    });
    if let Err(error) = all.await {
        tracing::warn!(%session_id, %error, "the conversation could not be read for memories");
        return None;
    }
    read.turns.retain(|turn| !turn.said.trim().is_empty());
    (!read.turns.is_empty()).then_some(read)
}

/// What the model is shown. It needs the time at which something was said to know when "tomorrow" is.
fn written(turns: &[Turn], zone: &TimeZone) -> String {
    let written = turns.iter().map(|Turn { at, said, answered }| {
        let at = when(*at, zone);
        format!("[{at}]\nUser: {said}\nAssistant: {answered}")
    });
    written.collect::<Vec<_>>().join("\n\n")
}

/// A time with its zone, and the day of the week, which people speak of.
fn when(at: TimestampMs, zone: &TimeZone) -> String {
    let Ok(at) = Timestamp::from_millisecond(at.0) else { return String::new() };
    at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z, %A").to_string()
}

fn new_memory(
    item: Extracted,
    session_id: SessionId,
    read: &Read,
    vouched: Vouched,
    root: &str,
) -> NewMemory {
    let Extracted { content, category, importance, tags, expires_at: _ } = item;
    NewMemory {
        vouched,
        content,
        priority: Some(usual_priority(category)),
        importance,
        category,
        tags,
        // What is so may be so of this workspace only; wishes are the user's.
        scope: match category {
            MemoryCategory::Fact | MemoryCategory::General => {
                MemoryScope::Workspace { root: root.to_owned() }
            }
            _ => MemoryScope::User,
        },
        pinned: false,
        expires_at: None,
        origin: MemoryOrigin {
            author: MemoryAuthor::Extraction,
            session_id: Some(session_id),
            seq: Some(read.last_said),
        },
    }
}

/// What was found, and when it ends or is due. Who is to be reminded at a time that nobody can read is not
/// reminded, but what he wants is remembered.
fn with_time(mut item: Extracted, zone: &TimeZone) -> (Extracted, Option<TimestampMs>) {
    let at = item.expires_at.as_deref().and_then(|text| time(text, zone));
    if item.category == MemoryCategory::Reminder && at.is_none() {
        item.category = MemoryCategory::Fact;
    }
    (item, at)
}

/// A time as models write it: with its zone, or the user's own time, or a day.
fn time(text: &str, zone: &TimeZone) -> Option<TimestampMs> {
    let text = text.trim();
    let at = match text.parse::<Timestamp>() {
        Ok(at) => at,
        Err(_without_zone) => {
            text.parse::<DateTime>().ok()?.to_zoned_datetime(zone.clone()).ok()?.timestamp()
        }
    };
    Some(TimestampMs(at.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> TimeZone {
        TimeZone::get("Europe/Berlin").unwrap()
    }

    #[test]
    fn times_are_read_as_models_write_them() {
        let check = |text: &str, expect: Option<&str>| {
            let expect = expect.map(|it| it.parse::<Timestamp>().unwrap().as_millisecond());
            assert_eq!(time(text, &berlin()).map(|at| at.0), expect, "{text}");
        };
        check("2027-01-31T09:00:00Z", Some("2027-01-31T09:00:00Z"));
        check(" 2027-01-31T09:00:00+05:00 ", Some("2027-01-31T04:00:00Z"));
        check("2027-01-31T09:00:00", Some("2027-01-31T08:00:00Z"));
        check("2027-07-31 09:00", Some("2027-07-31T07:00:00Z"));
        check("2027-01-31", Some("2027-01-30T23:00:00Z"));
        check("tomorrow at nine", None);
        check("", None);
    }

    #[test]
    fn the_model_is_told_when_something_was_said() {
        let at = TimestampMs(1_796_054_400_000);
        let turn = Turn { at, said: "call Bob tomorrow".to_owned(), answered: "ok".to_owned() };
        assert_eq!(
            written(&[turn], &berlin()),
            "[2026-11-30T17:00:00+01:00, Monday]\nUser: call Bob tomorrow\nAssistant: ok"
        );
        assert_eq!(when(TimestampMs(i64::MAX), &berlin()), "");
    }

    #[test]
    fn a_reminder_without_a_time_is_remembered_as_what_it_says() {
        let item = |expires_at: Option<&str>| Extracted {
            content: "Wants to call Bob".to_owned(),
            category: MemoryCategory::Reminder,
            importance: None,
            tags: Vec::new(),
            expires_at: expires_at.map(str::to_owned),
        };
        let (dated, at) = with_time(item(Some("2027-01-31")), &berlin());
        assert_eq!((dated.category, at.is_some()), (MemoryCategory::Reminder, true));
        for unreadable in [None, Some("soon")] {
            let (kept, at) = with_time(item(unreadable), &berlin());
            assert_eq!((kept.category, at), (MemoryCategory::Fact, None));
        }
    }
}

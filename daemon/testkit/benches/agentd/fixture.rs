//! Stores that were filled by earlier runs of a daemon, written straight through the store.

use std::path::Path;

use agentd_domain::{
    AssistantMessage, Author, ClientMessageId, Completeness, Cost, Delivery, Event, EventBody,
    ItemId, MessageAccepted, Priority, Seq, SessionCreated, SessionId, SessionRecord, TimestampMs,
    TitleSource, TurnCompleted, TurnEnd, TurnId, TurnStarted, Usage, UsagePurpose, UsageRecorded,
};
use agentd_store::{Batch, SledOptions, SledStore, Store as _, Write};

/// When the first of these events happened, Unix milliseconds.
const BEGIN_MS: u64 = 1_760_000_000_000;

/// Events of one turn: accepted, started, answer, usage, completed.
const TURN_EVENTS: usize = 5;

/// A log that grows turn by turn.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) session_id: SessionId,
    number: u64,
    seq: u64,
    turns: u64,
}

impl Log {
    pub(crate) fn new(number: u64) -> Self {
        let session_id = SessionId::from_parts(BEGIN_MS + number, u128::from(number));
        Self { session_id, number, seq: 0, turns: 0 }
    }

    fn event(&mut self, turn_id: Option<TurnId>, body: impl Into<EventBody>) -> Event {
        self.seq += 1;
        let at = TimestampMs(i64::try_from(BEGIN_MS + self.number + self.seq).unwrap_or(i64::MAX));
        Event { seq: Seq(self.seq), at, turn_id, body: body.into() }
    }

    fn created(&mut self) -> Event {
        let created = SessionCreated {
            permission_mode: agentd_domain::PermissionMode::Ask,
            work_mode: agentd_domain::WorkMode::Develop,
            further_roots: Vec::new(),
            effort: None,
            workspace: "/tmp".to_owned(),
            title: String::new(),
            model: String::new(),
            origin: None,
        };
        self.event(None, created)
    }

    /// The events of one more turn.
    fn turn(&mut self) -> anyhow::Result<[Event; TURN_EVENTS]> {
        self.turns += 1;
        let (at, random) = (BEGIN_MS + self.seq, u128::from(self.number << 32 | self.turns));
        let turn_id = TurnId::from_parts(at, random);
        let question = ItemId::from_parts(at, random);
        let usage = Usage { prompt_tokens: 900, completion_tokens: 60, ..Usage::default() };
        let accepted = MessageAccepted {
            unattended: false,
            expires_at: None,
            priority: Priority::Normal,
            item_id: question,
            client_message_id: format!("fixture-{}", self.turns).parse::<ClientMessageId>()?,
            text: format!("question {}: why do the tests of the parser fail?", self.turns),
            delivery: Delivery::Queue,
            author: author(),
        };
        let started = TurnStarted {
            reminder: String::new(),
            effort: None,
            item_ids: vec![question],
            provider: "openai-compatible".to_owned(),
            model: "scripted".to_owned(),
        };
        let answer = AssistantMessage {
            native: None,
            item_id: ItemId::from_parts(at + 1, random),
            reasoning: String::new(),
            text: "The parser takes a closing bracket for the end of the list. ".repeat(3),
            tool_calls: Vec::new(),
            completeness: Completeness::Complete,
        };
        let recorded = UsageRecorded {
            cost: Cost::default(),
            purpose: UsagePurpose::Turn,
            provider: "openai-compatible".to_owned(),
            model: "scripted".to_owned(),
            usage,
            first_byte_ms: 200,
            elapsed_ms: 1_500,
        };
        let completed =
            TurnCompleted { end: TurnEnd::Answered, rounds: 1, usage, elapsed_ms: 1_500 };
        Ok([
            self.event(None, accepted),
            self.event(Some(turn_id), started),
            self.event(Some(turn_id), answer),
            self.event(Some(turn_id), recorded),
            self.event(Some(turn_id), completed),
        ])
    }

    fn record(&self) -> SessionRecord {
        let time = |ms| TimestampMs(i64::try_from(ms).unwrap_or(i64::MAX));
        SessionRecord {
            title: format!("question {}", self.number),
            title_source: Some(TitleSource::FirstMessage),
            workspace: "/tmp".to_owned(),
            created_at: time(BEGIN_MS + self.number),
            updated_at: time(BEGIN_MS + self.number + self.seq),
            last_seq: Seq(self.seq),
            turns: self.turns,
            ..SessionRecord::new(self.session_id)
        }
    }
}

fn author() -> Author {
    Author { client_id: "fixture".to_owned(), name: "ann@pts/3".to_owned() }
}

/// Bytes that a submitted message takes in the store: its event and the session's index entry.
pub(crate) fn bytes_of_a_submit() -> anyhow::Result<usize> {
    let mut log = Log::new(0);
    let [accepted, ..] = log.turn()?;
    Ok(accepted.encode().len() + serde_json::to_vec(&log.record())?.len())
}

/// Fills a new store with sessions of one turn each.
pub(crate) async fn many_sessions(dir: &Path, sessions: u64) -> anyhow::Result<()> {
    let store = open(dir)?;
    let numbers: Vec<u64> = (1..=sessions).collect();
    for chunk in numbers.chunks(200) {
        let mut writes = Vec::new();
        for number in chunk {
            let mut log = Log::new(*number);
            let mut events = vec![log.created()];
            events.extend(log.turn()?);
            writes.push(Write::Append { session_id: log.session_id, events });
            writes.push(Write::PutSession(log.record()));
        }
        store.commit(Batch::from(writes)).await?;
    }
    store.close().await?;
    Ok(())
}

/// Adds a session of many turns to a store. Returns its id and its events.
pub(crate) async fn long_session(dir: &Path, turns: usize) -> anyhow::Result<(SessionId, usize)> {
    let store = open(dir)?;
    let mut log = Log::new(1_000_000);
    let mut events = vec![log.created()];
    for turn in 1..=turns {
        events.extend(log.turn()?);
        if turn % 200 == 0 || turn == turns {
            let append =
                Write::Append { session_id: log.session_id, events: std::mem::take(&mut events) };
            store.commit(Batch::from(vec![append, Write::PutSession(log.record())])).await?;
        }
    }
    store.close().await?;
    Ok((log.session_id, 1 + turns * TURN_EVENTS))
}

/// Without fsync: what is measured comes later.
fn open(dir: &Path) -> anyhow::Result<SledStore> {
    let options = SledOptions { fsync: false, ..SledOptions::default() };
    Ok(SledStore::open(dir, options)?.store)
}

//! The words of what was said, without the texts: which session, where in its log, when and by whom.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use agentd_domain::{
    Day, Event, EventBody, HistoryQuery, ItemId, Seq, SessionId, Speaker, TimestampMs,
    floor_char_boundary,
};
use agentd_search::{ChatTurn, Document, Index, Question, names, with_neighbours};

/// Bytes of a message that are indexed, from its beginning.
const INDEXED: usize = 32 * 1024;

/// Names of users that are told apart.
const MAX_NAMES: usize = 1_000;

/// What a question may call the model.
const MODEL_NAMES: [&str; 3] = ["assistant", "agent", "model"];

/// How much is held, and how long without use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Most messages, the newest.
    pub messages: usize,
    /// Most bytes of their texts. The index of them takes about three times as much memory.
    pub bytes: usize,
    /// What nobody has searched for so long leaves memory.
    pub idle_unload: Duration,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { messages: 200_000, bytes: 64 * 1024 * 1024, idle_unload: Duration::from_secs(3_600) }
    }
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) session: SessionId,
    pub(super) seq: Seq,
    pub(super) score: f32,
}

/// See the page.
#[derive(Debug)]
pub(super) struct Texts {
    limits: HistoryLimits,
    index: Index<u32>,
    slots: Vec<Option<Text>>,
    free: Vec<u32>,
    sessions: HashMap<SessionId, Said>,
    by_age: BTreeSet<(TimestampMs, u32)>,
    bytes: usize,
    /// The names of users.
    names: Vec<Box<str>>,
}

/// One message.
#[derive(Debug, Clone, Copy)]
struct Text {
    session: SessionId,
    seq: Seq,
    at: TimestampMs,
    by: Speaker,
    /// Among the names, of a user that is told apart.
    name: Option<u16>,
    bytes: u32,
}

/// What was said in a session.
#[derive(Debug, Default)]
struct Said {
    /// How far its log has been read.
    through: Seq,
    /// In the order in which it was said.
    slots: Vec<u32>,
    /// Where what belongs to the newest turn begins; none: no turn has begun.
    turn_from: Option<Seq>,
    /// Messages that may still be taken back.
    waiting: Vec<(ItemId, u32)>,
    left_out: u64,
}

/// The part of a message that is indexed.
pub(super) fn indexed(text: &str) -> &str {
    text.get(..floor_char_boundary(text, INDEXED)).unwrap_or(text)
}

impl Texts {
    pub(super) fn new(limits: HistoryLimits) -> Self {
        Self {
            limits,
            index: Index::without_pairs(),
            slots: Vec::new(),
            free: Vec::new(),
            sessions: HashMap::new(),
            by_age: BTreeSet::new(),
            bytes: 0,
            names: Vec::new(),
        }
    }

    /// Messages that are held.
    pub(super) fn len(&self) -> usize {
        self.by_age.len()
    }

    /// Older ones that are not.
    pub(super) fn left_out(&self) -> u64 {
        self.sessions.values().map(|said| said.left_out).sum()
    }

    /// How far a session has been read.
    pub(super) fn through(&self, session: SessionId) -> Seq {
        self.sessions.get(&session).map_or(Seq::ZERO, |said| said.through)
    }

    /// Takes in the next event of a session.
    pub(super) fn take(&mut self, session: SessionId, event: &Event) {
        self.sessions.entry(session).or_default().through = event.seq;
        match &event.body {
            EventBody::MessageAccepted(accepted) => {
                let name = self.name(&accepted.author.name);
                let by = (Speaker::User, name);
                if let Some(slot) = self.add(session, event, by, &accepted.text)
                    && let Some(said) = self.sessions.get_mut(&session)
                {
                    said.waiting.push((accepted.item_id, slot));
                }
            }
            EventBody::AssistantMessage(message) => {
                self.add(session, event, (Speaker::Assistant, None), &message.text);
            }
            EventBody::TurnStarted(started) => {
                let asked = self.first_of(session, &started.item_ids);
                if let Some(said) = self.sessions.get_mut(&session) {
                    said.turn_from = Some(asked.unwrap_or(event.seq));
                }
                self.is_said(session, &started.item_ids);
            }
            EventBody::MessagesDelivered(delivered) => self.is_said(session, &delivered.item_ids),
            EventBody::MessageWithdrawn(withdrawn) => self.take_back(session, withdrawn.item_id),
            EventBody::MessageExpired(expired) => self.take_back(session, expired.item_id),
            _ => {}
        }
    }

    /// Forgets a session.
    pub(super) fn forget(&mut self, session: SessionId) {
        let Some(said) = self.sessions.remove(&session) else { return };
        for slot in said.slots {
            self.remove(slot);
        }
    }

    /// The number of a name; none when there are too many. What comes after an `@` is a terminal.
    fn name(&mut self, name: &str) -> Option<u16> {
        let name = name.split('@').next().unwrap_or_default();
        if name.is_empty() {
            return None;
        }
        let place = self.names.iter().position(|known| **known == *name).or_else(|| {
            (self.names.len() < MAX_NAMES).then(|| {
                self.names.push(name.into());
                self.names.len() - 1
            })
        });
        place.and_then(|place| u16::try_from(place).ok())
    }

    /// Adds a message and returns its slot; none when it has no text, or is too old to be held.
    fn add(
        &mut self,
        session: SessionId,
        event: &Event,
        (by, name): (Speaker, Option<u16>),
        text: &str,
    ) -> Option<u32> {
        if text.trim().is_empty() {
            return None;
        }
        let text = indexed(text);
        while self.len() >= self.limits.messages || self.bytes + text.len() > self.limits.bytes {
            match self.by_age.first().copied() {
                Some((oldest, slot)) if oldest < event.at => self.leave_out(slot),
                _ => {
                    self.sessions.entry(session).or_default().left_out += 1;
                    return None;
                }
            }
        }
        let slot = if let Some(slot) = self.free.pop() {
            slot
        } else {
            let slot = u32::try_from(self.slots.len()).ok()?;
            self.slots.push(None);
            slot
        };
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let entry = Text { session, seq: event.seq, at: event.at, by, name, bytes };
        let label = match (by, name) {
            (Speaker::Assistant, _) => "assistant",
            (Speaker::User, name) => {
                name.and_then(|name| self.names.get(usize::from(name))).map_or("", |name| &**name)
            }
        };
        let date = Day::of(event.at).in_words();
        self.index.insert(slot, Document { parts: &[text], labels: &[label], date: &date });
        *self.slots.get_mut(slot as usize)? = Some(entry);
        self.by_age.insert((event.at, slot));
        self.bytes += text.len();
        self.sessions.entry(session).or_default().slots.push(slot);
        Some(slot)
    }

    /// Takes a message out because there are too many.
    fn leave_out(&mut self, slot: u32) {
        let Some(text) = self.remove(slot) else { return };
        if let Some(said) = self.sessions.get_mut(&text.session) {
            said.slots.retain(|it| *it != slot);
            said.waiting.retain(|(_item, it)| *it != slot);
            said.left_out += 1;
        }
    }

    fn remove(&mut self, slot: u32) -> Option<Text> {
        let text = self.slots.get_mut(slot as usize)?.take()?;
        self.index.remove(slot);
        self.by_age.remove(&(text.at, slot));
        self.bytes -= text.bytes as usize;
        self.free.push(slot);
        Some(text)
    }

    /// Where the first of some waiting messages is.
    fn first_of(&self, session: SessionId, items: &[ItemId]) -> Option<Seq> {
        let waiting = &self.sessions.get(&session)?.waiting;
        let wanted = waiting.iter().filter(|(item, _slot)| items.contains(item));
        wanted.filter_map(|(_item, slot)| Some(self.text(*slot)?.seq)).min()
    }

    /// Messages whose turn has come cannot be taken back.
    fn is_said(&mut self, session: SessionId, items: &[ItemId]) {
        if let Some(said) = self.sessions.get_mut(&session) {
            said.waiting.retain(|(item, _slot)| !items.contains(item));
        }
    }

    /// A message that no turn has used was not said.
    fn take_back(&mut self, session: SessionId, item: ItemId) {
        let Some(said) = self.sessions.get_mut(&session) else { return };
        let Some(place) = said.waiting.iter().position(|(it, _slot)| *it == item) else { return };
        let (_item, slot) = said.waiting.swap_remove(place);
        said.slots.retain(|it| *it != slot);
        self.remove(slot);
    }

    fn text(&self, slot: u32) -> Option<&Text> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The wanted messages that fit a question, at most `most`: the best first, of equals the newest.
    /// What is said nearby helps a message to be found, whoever said it and when.
    pub(super) fn search(&self, query: &HistoryQuery, most: usize) -> Vec<Found> {
        let HistoryQuery { question, session, since, by, most: _, without_turn_of } = query;
        let in_session = |text: &Text| session.is_none_or(|session| session == text.session);
        // By slot.
        let mut scores = vec![0.0_f32; self.slots.len()];
        let is_wanted = |slot| self.text(slot).is_some_and(in_session);
        self.index.score(Question(&[(1.0, question)]), is_wanted, |hit| {
            if let Some(score) = scores.get_mut(hit.key as usize) {
                *score = hit.score;
            }
        });
        let named: Vec<bool> = self.names.iter().map(|name| names(question, name)).collect();
        let names_model = MODEL_NAMES.iter().any(|name| names(question, name));
        let mut found: Vec<(f32, TimestampMs, &Text)> = Vec::new();
        let score_of = |slot: u32| scores.get(slot as usize).copied().unwrap_or(0.0);
        for said in self.sessions.values() {
            if said.slots.iter().all(|slot| score_of(*slot) <= 0.0) {
                continue;
            }
            let texts: Vec<(u32, &Text)> =
                said.slots.iter().filter_map(|slot| Some((*slot, self.text(*slot)?))).collect();
            let turns = texts.iter().map(|(slot, text)| ChatTurn {
                score: score_of(*slot),
                is_named: match (text.by, text.name) {
                    (Speaker::Assistant, _) => names_model,
                    (Speaker::User, name) => {
                        name.and_then(|name| named.get(usize::from(name))).is_some_and(|it| *it)
                    }
                },
            });
            let scored = with_neighbours(&turns.collect::<Vec<_>>());
            let scored = texts.into_iter().zip(scored).filter(|((_slot, text), score)| {
                *score > 0.0
                    && (Some(text.session) != *without_turn_of
                        || said.turn_from.is_none_or(|from| text.seq < from))
                    && by.is_none_or(|by| by == text.by)
                    && since.is_none_or(|since| since <= text.at)
            });
            found.extend(scored.map(|((_slot, text), score)| (score, text.at, text)));
        }
        found.sort_unstable_by(|(a, a_at, a_text), (b, b_at, b_text)| {
            let key = |text: &Text| (text.session, text.seq);
            b.total_cmp(a).then(b_at.cmp(a_at)).then(key(a_text).cmp(&key(b_text)))
        });
        found.truncate(most);
        let found = found.into_iter();
        found
            .map(|(score, _at, text)| Found { session: text.session, seq: text.seq, score })
            .collect()
    }
}

#[cfg(test)]
mod tests;

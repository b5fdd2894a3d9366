//! Folded turns, and which of them bear on what was just asked (L2; spec c.3, c.4).
//!
//! What is recalled is told once, at the end of the turn that recalls it, and stays there: a block before
//! the conversation that is chosen anew for each message would change the beginning of every request.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use agentd_domain::{Seq, SeqRange, TurnsRecalled, cut_head_tail, cut_line};
use agentd_llm::Message;
use agentd_search::keywords;

use crate::Conversation;
use crate::policy::Policy;
use crate::turn_messages::TurnMessages;

/// Bytes of what was said, and of the answer, that are kept of a folded turn (spec c.2).
const MAX_TEXT: usize = 2_000;
/// Most folded turns that are kept whatever the configuration says.
const MAX_PAIRS: usize = 1_000;
/// Characters of a turn that is recalled in short: what was said, and the answer (spec c.4).
const SHORT: (usize, usize) = (80, 120);
/// Paths of a turn that are compared.
const MAX_FILES: usize = 64;

const HEADER: &str = "[Earlier turns of this conversation that may bear on this message, from its log. They are a record, \
     not a request.]";

/// A folded turn.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) range: SeqRange,
    user: String,
    answer: String,
    files: BTreeSet<String>,
    /// Found when they are needed first.
    words: OnceLock<BTreeSet<String>>,
}

/// Folded turns, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs(Vec<Arc<Pair>>);

impl Pairs {
    pub(crate) fn extend<'a>(&mut self, turns: impl Iterator<Item = &'a TurnMessages>) {
        self.0.extend(turns.filter_map(Pair::of).map(Arc::new));
        self.0.drain(..self.0.len().saturating_sub(MAX_PAIRS));
    }

    pub(crate) fn forget_before(&mut self, from: Seq) {
        self.0.retain(|pair| pair.range.first >= from);
    }

    pub(crate) fn ranges(&self) -> impl DoubleEndedIterator<Item = SeqRange> + '_ {
        self.0.iter().map(|pair| pair.range)
    }
}

impl Pair {
    fn of(turn: &TurnMessages) -> Option<Self> {
        let user = turn.said().collect::<Vec<_>>().join("\n");
        let answer = turn.answered();
        if user.trim().is_empty() {
            return None;
        }
        Some(Self {
            range: turn.range(),
            files: paths(&user).chain(turn.paths()).take(MAX_FILES).collect(),
            user: cut_head_tail(&user, MAX_TEXT),
            answer: cut_head_tail(answer, MAX_TEXT),
            words: OnceLock::new(),
        })
    }

    fn words(&self) -> &BTreeSet<String> {
        self.words.get_or_init(|| keywords(&format!("{}\n{}", self.user, self.answer)))
    }

    /// How much it has to do with a message, 0 to 1 (spec c.4). Words that are not there are no likeness.
    fn likeness(&self, asked: &BTreeSet<String>, files: &BTreeSet<String>) -> f64 {
        let words = self.words();
        let same = asked.intersection(words).count();
        let all = asked.len() + words.len() - same;
        #[expect(clippy::cast_precision_loss, reason = "counts of words")]
        let jaccard = if all == 0 { 0.0 } else { same as f64 / all as f64 };
        let files = files.intersection(&self.files).count();
        #[expect(clippy::cast_precision_loss, reason = "at most 64")]
        let by_files = if files == 0 { 0.0 } else { 0.4 + 0.1 * files as f64 };
        jaccard.max(by_files).min(1.0)
    }

    fn whole(&self) -> String {
        format!("User: {}\nAssistant: {}", self.user, self.answer)
    }

    fn short(&self) -> String {
        let (user, answer) = SHORT;
        let (user, answer) = (cut_line(&self.user, user), cut_line(&self.answer, answer));
        format!("User: {user} → Assistant: {answer}")
    }
}

impl Conversation {
    /// The folded turns that bear on what was just said and do not stand in the conversation. None when
    /// there are none.
    pub fn recall(&self, policy: &Policy) -> Option<TurnsRecalled> {
        let said = self.said_last();
        if self.pairs.0.is_empty() || said.trim().is_empty() {
            return None;
        }
        let (asked, files) = (keywords(&said), paths(&said).take(MAX_FILES).collect());
        let told = self.recalled();
        let mut like: Vec<(f64, &Pair)> = self
            .pairs
            .0
            .iter()
            .filter(|pair| !told.contains(&pair.range))
            .map(|pair| (pair.likeness(&asked, &files), &**pair))
            .filter(|(likeness, _)| *likeness > 0.0)
            .collect();
        // The newest of those that are as like.
        like.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(second.range.cmp(&first.range)));
        let config = &policy.config;
        let is_any = like.first().is_some_and(|(best, _)| *best >= config.recall_short);
        let mut chosen: Vec<(SeqRange, String)> = Vec::new();
        let mut tokens = self.counter.message(&Message::user(HEADER));
        for (number, (likeness, pair)) in like.into_iter().enumerate() {
            // Where nothing is like enough the best is told all the same, unless something else still is.
            let is_only = number == 0 && !is_any && told.is_empty();
            let mut text = if likeness >= config.recall_whole || is_only {
                pair.whole()
            } else if likeness >= config.recall_short {
                pair.short()
            } else {
                break;
            };
            let mut cost = self.counter.text(&text);
            if tokens + cost > policy.recall {
                text = pair.short();
                cost = self.counter.text(&text);
            }
            if tokens + cost <= policy.recall {
                tokens += cost;
                chosen.push((pair.range, text));
            }
        }
        if chosen.is_empty() {
            return None;
        }
        chosen.sort_by_key(|(range, _)| *range);
        let texts: Vec<&str> = chosen.iter().map(|(_, text)| text.as_str()).collect();
        let text = format!("{HEADER}\n\n{}", texts.join("\n\n"));
        Some(TurnsRecalled { turns: chosen.iter().map(|(range, _)| *range).collect(), text })
    }
}

/// What looks like paths of files in a text.
pub(crate) fn paths(text: &str) -> impl Iterator<Item = String> + '_ {
    let is_around = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;:!?，。；：（）「」".contains(c);
    text.split(is_around).filter_map(|word| {
        let word = word.trim_end_matches('.').trim_start_matches("./");
        let (name, ending) = word.rsplit_once('.')?;
        let is_ending = (1..=5).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && ending.chars().any(|c| c.is_ascii_alphabetic());
        let is_name = name.chars().any(char::is_alphanumeric) && !word.contains("//");
        (is_ending && is_name).then(|| word.to_owned())
    })
}

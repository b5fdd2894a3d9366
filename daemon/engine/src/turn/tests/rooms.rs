//! Turn after turn in a room that is too small: whatever is left out, folded, told and recalled, the log read
//! anew is what the turn had.

use agentd_domain::{ContextTrimmed, MemoriesTold, MemoryId, ToldMemory};

use super::*;
use crate::session::test_log::native_answer;

/// One turn: what is said, whether memories are told, its rounds as calls with outputs of so many
/// characters, and the room that it has.
#[derive(Debug, Clone)]
struct Said {
    words: usize,
    told: bool,
    steer: bool,
    rounds: Vec<(Vec<usize>, bool)>,
    room: u64,
}

fn any_turn() -> impl Strategy<Value = Said> {
    let outputs = prop::collection::vec(prop_oneof![3 => 0_usize..300, 1 => 0_usize..9_000], 0..4);
    let rounds = prop::collection::vec((outputs, any::<bool>()), 0..4);
    let words = prop_oneof![3 => 1_usize..60, 1 => 1_usize..500];
    (words, any::<bool>(), any::<bool>(), rounds, 60_u64..2_500)
        .prop_map(|(words, told, steer, rounds, room)| Said { words, told, steer, rounds, room })
}

/// A session whose turns run one after the other, as `stages` has them.
struct Session {
    log: Log,
    /// What the last turn read before its own steps, and how much of the log that was.
    kept: (Conversation, usize),
    /// The conversation of the running turn, fed by its own steps.
    live: Conversation,
    number: u64,
}

impl Session {
    fn item(&mut self) -> agentd_domain::ItemId {
        self.number += 1;
        item(self.number)
    }

    fn step(&mut self, body: impl Into<EventBody>) {
        let body = body.into();
        let turn_id = self.log.state.turn.as_ref().unwrap().turn_id;
        self.live.apply_step(turn_id, &body);
        self.log.step(body);
    }

    fn trimmed(&mut self, trimmed: agentd_context::Trimmed) {
        let agentd_context::Trimmed { first_kept, dropped, steps } = trimmed;
        let body = ContextTrimmed { first_kept_seq: first_kept, dropped_tokens: dropped, steps };
        self.log.step(body);
    }

    /// As `make_room` does.
    fn make_room(&mut self, policy: &Policy) {
        if let Some(trimmed) = self.live.trim(policy) {
            self.trimmed(trimmed);
        }
        if self.live.tokens() > policy.compact_above
            && let Some(cut) = self.live.cut(policy, Keep::Tokens(policy.keep_tokens()))
        {
            let compacted = self.live.extract(policy, &cut, CompactionReason::Window);
            if compacted.tokens_after < compacted.tokens_before {
                self.log.step(compacted.clone());
                self.live.compacted(&compacted);
            } else {
                let trimmed = self.live.leave_out(&cut);
                self.trimmed(trimmed);
            }
        }
        if self.live.tokens() > policy.compact_above
            && let Some(trimmed) = self.live.squeeze(policy)
        {
            self.trimmed(trimmed);
        }
    }

    fn turn(&mut self, said: &Said) {
        let policy = Policy::new(ContextConfig::default(), 8_192, said.room);
        let id = self.item();
        let text =
            format!("{} src/file{}.rs", "go on and say it ".repeat(said.words), self.number % 5);
        self.log.submit(id, &text, Delivery::Queue);
        self.log.start(turn(self.number));
        let (mut conversation, read) = self.kept.clone();
        self.log.events[read..].iter().for_each(|event| conversation.apply(event));
        self.kept = (conversation.clone(), self.log.events.len());
        self.live = conversation;
        if said.told {
            let told = ToldMemory { id: MemoryId::from_parts(9, self.number.into()), revision: 1 };
            let (told, text) = (vec![told], format!("[remember] {}", self.number));
            self.step(MemoriesTold { told, withdrawn: Vec::new(), known: 1, text });
        }
        if let Some(recalled) = self.live.recall(&policy) {
            self.step(recalled);
        }
        for (outputs, native) in &said.rounds {
            self.make_room(&policy);
            let id = self.item();
            let names: Vec<String> = (0..outputs.len()).map(|call| format!("c{call}")).collect();
            let calls: Vec<&str> = names.iter().map(String::as_str).collect();
            self.step(if *native {
                native_answer(id, "hm", &calls, &id.to_string())
            } else {
                answer(id, &"well ".repeat(outputs.len()), &calls)
            });
            for (call, output) in calls.iter().zip(outputs) {
                self.step(finished(call, &"世x\n".repeat(output / 3)));
            }
        }
        if said.steer {
            let id = self.item();
            self.log.submit(id, "mind the gap", Delivery::Steer);
            self.log.perform(&Op::Steer);
            self.live.push_user("mind the gap");
        }
        self.make_room(&policy);
        let id = self.item();
        self.step(answer(id, "done with it", &[]));
        self.log.perform(&Op::Complete);
    }

    /// The conversation as the next turn reads it from the log, from where that may begin and from the start.
    fn read_anew(&self) -> [Conversation; 2] {
        let from = match self.log.state.recall_from {
            Seq::ZERO => self.log.state.context_from,
            from => from.min(self.log.state.context_from),
        };
        let from = self.log.events.iter().position(|event| event.seq >= from).unwrap_or(0);
        [conversation(&self.log.events[from..]), conversation(&self.log.events)]
    }
}

proptest! {
    #[test]
    fn co_03_what_is_read_anew_is_what_turns_had_whatever_was_left_out_and_folded(
        turns in prop::collection::vec(any_turn(), 1..14),
    ) {
        let (log, live) = (Log::new(), Conversation::default());
        let mut session = Session { log, kept: (live.clone(), 0), live, number: 100 };
        for said in &turns {
            session.turn(said);
            let had = messages(&session.live);
            assert_well_formed(&had);
            for anew in session.read_anew() {
                prop_assert_eq!(shown(&messages(&anew)), shown(&had));
                prop_assert_eq!(anew.tokens(), session.live.tokens());
                prop_assert_eq!(anew.told_memories(), session.live.told_memories());
            }
        }
    }
}

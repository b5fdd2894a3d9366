//! Live text: pieces that say where they belong.
//!
//! A piece may come twice, overlap what is there, come after its item is final, or leave a gap. Only
//! what extends a text is taken; a gap is remembered until a piece or the final message closes it.

use agentd_proto::v1;

use super::{AssistantItem, Change, Item, TextChannel, ToolCallItem, ToolCallState, Transcript};

/// What a piece did to a text.
enum Extension {
    /// It added this much of itself.
    Added(String),
    /// All of it was there before.
    Known,
    /// Something between the text and the piece is missing.
    Gap,
}

impl Transcript {
    pub(super) fn apply_delta(&mut self, event: &v1::Event, delta: &v1::ItemDelta) -> Change {
        let channel = match delta.channel() {
            v1::DeltaChannel::Reasoning => TextChannel::Reasoning,
            v1::DeltaChannel::Text => TextChannel::Text,
            v1::DeltaChannel::ToolOutput => TextChannel::ToolOutput,
            v1::DeltaChannel::Unspecified => return Change::Nothing,
        };
        let item_id = delta.item_id.clone();
        let text = match channel {
            TextChannel::ToolOutput => self.running_output(&item_id),
            TextChannel::Reasoning => {
                self.live_item(event, &item_id).map(|item| &mut item.reasoning)
            }
            TextChannel::Text => self.live_item(event, &item_id).map(|item| &mut item.text),
        };
        let Some(text) = text else { return Change::Nothing };
        match extend(text, delta) {
            Extension::Known => Change::Nothing,
            Extension::Added(added) => {
                self.close_gap(&item_id);
                Change::LiveText { item_id, channel, added }
            }
            Extension::Gap if self.gaps.contains(&item_id) => Change::Nothing,
            Extension::Gap => {
                self.gaps.push(item_id.clone());
                Change::Gap { item_id }
            }
        }
    }

    pub(super) fn close_gap(&mut self, id: &str) {
        self.gaps.retain(|gap| gap != id);
    }

    /// Removes a live item, whose late pieces are void from now on.
    pub(super) fn end_live(&mut self, item_id: &str) {
        self.live.retain(|item| item.item_id != item_id);
        self.close_gap(item_id);
        if !self.void.iter().any(|void| void == item_id) {
            self.void.push(item_id.to_owned());
        }
    }

    /// Removes what a turn left unfinished: it never became durable.
    pub(super) fn drop_live_of(&mut self, turn_id: &str) {
        let left: Vec<String> = self
            .live
            .iter()
            .filter(|item| item.turn_id == turn_id)
            .map(|item| item.item_id.clone())
            .collect();
        for item_id in left {
            self.end_live(&item_id);
        }
    }

    fn live_item(&mut self, event: &v1::Event, item_id: &str) -> Option<&mut AssistantItem> {
        let known = self.live.iter().position(|item| item.item_id == item_id);
        let at = match known {
            Some(at) => at,
            None if self.is_void(event, item_id) => return None,
            None => {
                self.live.push(AssistantItem {
                    item_id: item_id.to_owned(),
                    turn_id: event.turn_id.clone(),
                    at_ms: event.at_ms,
                    ..AssistantItem::default()
                });
                self.live.len() - 1
            }
        };
        self.live.get_mut(at)
    }

    /// Tells whether a piece comes after its item or its turn has ended.
    fn is_void(&self, event: &v1::Event, item_id: &str) -> bool {
        self.void.iter().any(|void| void == item_id)
            || self.turn(&event.turn_id).is_some_and(|turn| turn.state.is_over())
    }

    fn running_output(&mut self, call_id: &str) -> Option<&mut String> {
        let call = self.tool_call_mut(call_id)?;
        (call.state == ToolCallState::Running).then_some(&mut call.output)
    }

    pub(super) fn tool_call_mut(&mut self, call_id: &str) -> Option<&mut ToolCallItem> {
        self.items.iter_mut().rev().find_map(|item| match item {
            Item::Assistant(message) => {
                message.tool_calls.iter_mut().find(|call| call.call_id == call_id)
            }
            _ => None,
        })
    }
}

fn extend(text: &mut String, delta: &v1::ItemDelta) -> Extension {
    let have = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let Some(overlap) = have.checked_sub(delta.offset) else { return Extension::Gap };
    let overlap = usize::try_from(overlap).unwrap_or(usize::MAX);
    if overlap >= delta.text.len() {
        return Extension::Known;
    }
    // Both are the same text, so the end of one is a character boundary of the other; if not, they
    // are not the same text, and only attaching again can tell.
    match delta.text.get(overlap..) {
        Some(added) => {
            text.push_str(added);
            Extension::Added(added.to_owned())
        }
        None => Extension::Gap,
    }
}

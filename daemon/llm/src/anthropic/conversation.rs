//! From well-formed messages to those of a request.
//!
//! The roles alternate: all results of an answer's calls, and what the user says after them, share
//! one message, the results first.

use std::collections::VecDeque;

use agentd_domain::ToolCall;

use super::block::{Block, WireMessage, WireRole};
use super::native::{self, NativeBlock};
use crate::{Message, WellFormed};

/// The conversation as a request holds it.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) system: Vec<Block<'a>>,
    pub(super) messages: Vec<WireMessage<'a>>,
    /// Ids of the newest answer's calls that have no result yet.
    open: VecDeque<&'a str>,
}

/// Whether earlier thinking goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EarlierThinking {
    /// That of the model that is asked does.
    Kept,
    /// It is left out.
    LeftOut,
}

impl<'a> Conversation<'a> {
    pub(super) fn of(request: &'a WellFormed, earlier: EarlierThinking) -> Self {
        let mut conversation = Self {
            system: request.system().map(Block::text).into_iter().collect(),
            messages: Vec::new(),
            open: VecDeque::new(),
        };
        for message in request.conversation() {
            match message {
                // There is but the one at the front.
                Message::System(_) => {}
                Message::User { text, images } => {
                    let images = images.iter().map(Block::image);
                    let text = (!text.is_empty()).then(|| Block::text(text));
                    conversation.append(WireRole::User, images.chain(text).collect());
                }
                Message::Assistant { reasoning: _, text, tool_calls, native } => {
                    let native = native.as_deref().filter(|_| earlier == EarlierThinking::Kept);
                    let native =
                        native.and_then(|it| native::usable(it, &request.model, tool_calls.len()));
                    match native {
                        Some(blocks) => conversation.append_native(&blocks),
                        None => conversation.append_answer(text, tool_calls),
                    }
                }
                // Results come in the order of their calls.
                Message::Tool { call_id, name: _, output } => {
                    let id = conversation.open.pop_front().unwrap_or(call_id.as_str());
                    conversation.append(WireRole::User, vec![Block::tool_result(id, output)]);
                }
            }
        }
        conversation
    }

    /// Some block is thinking.
    pub(super) fn has_thinking(&self) -> bool {
        self.messages.iter().flat_map(|message| &message.content).any(Block::is_thinking)
    }

    /// The model is in the middle of a tool turn that does not begin with thinking. The API refuses to
    /// switch thinking on there, as when another model wrote the calls.
    pub(super) fn is_in_turn_without_thinking(&self) -> bool {
        let mut first_of_turn = None;
        for pair in self.messages.rchunks(2) {
            let [assistant, user] = pair else { break };
            if !user.content.iter().any(Block::is_tool_result) {
                break;
            }
            first_of_turn = Some(assistant);
        }
        first_of_turn
            .is_some_and(|message| !message.content.first().is_some_and(Block::is_thinking))
    }

    /// Asks to keep what was read up to the instructions, up to the newest message, and up to the
    /// user's one before it: only twenty blocks are searched back from a place that was not kept yet.
    pub(super) fn set_cache_control(&mut self) {
        let users = self.messages.iter_mut().rev().filter(|message| message.role == WireRole::User);
        for block in users.take(2).filter_map(|message| message.content.last_mut()) {
            block.set_cache_control();
        }
        if let Some(block) = self.system.last_mut() {
            block.set_cache_control();
        }
    }

    fn append_native(&mut self, blocks: &[NativeBlock<'a>]) {
        self.open = native::tool_ids(blocks).collect();
        self.append(WireRole::Assistant, blocks.iter().copied().map(Block::Native).collect());
    }

    fn append_answer(&mut self, text: &'a str, calls: &'a [ToolCall]) {
        self.open = calls.iter().map(|call| call.call_id.as_str()).collect();
        let text = (!text.is_empty()).then(|| Block::text(text));
        let calls = calls.iter().map(Block::tool_use);
        self.append(WireRole::Assistant, text.into_iter().chain(calls).collect());
    }

    fn append(&mut self, role: WireRole, mut blocks: Vec<Block<'a>>) {
        match self.messages.last_mut() {
            Some(last) if last.role == role => last.content.append(&mut blocks),
            _ => self.messages.push(WireMessage { role, content: blocks }),
        }
    }
}

//! One round: a request to the model, and its answer streamed to the terminals.
//!
//! It asks once. The provider's layers try again where that helps, and say so in the answer's stream:
//! what the terminals were shown is void then, and they are told.

use std::sync::Arc;

use agentd_context::Conversation;
use agentd_domain::{
    AssistantMessage, AttemptRestarted, Completeness, EventBody, ItemId, NativeBlocks, Notice,
    NoticeLevel, ToolCall, TurnEnd, UsagePurpose,
};
use agentd_llm::{Completion, Finish, LlmError, Message, Request, Restart, StreamPart};
use futures_util::StreamExt as _;

use super::overflow::Unanswered;
use super::prompt::system_prompt;
use super::{Ended, Phase, TurnOutcome, TurnReport, TurnTask};
use crate::model::ResolvedModel;
use crate::session::{OpenCall, TextChannel};

/// Most bytes of an answer in the provider's own form that are kept. Beside a text of the largest size
/// the event still fits a line of an export.
const MAX_NATIVE_BYTES: usize = 1024 * 1024;

/// What the model may use for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    /// The tools.
    Tools,
    /// Only what it has: none of its calls would be run.
    Nothing,
}

/// A whole answer.
#[derive(Debug)]
pub(super) struct Answer {
    item_id: ItemId,
    reasoning: String,
    text: String,
    /// The same in the provider's own form, if it is whole and not too large to keep.
    native: Option<NativeBlocks>,
    /// The tools it asks for, and whether each call may be only a part of what was meant.
    pub(super) calls: Vec<(ToolCall, bool)>,
    /// How the turn ends if there are no calls.
    pub(super) end: TurnEnd,
    /// Tokens of the request as the server counted them, if it is the turn's model's.
    pub(super) prompt_tokens: Option<u64>,
}

impl Answer {
    /// The steps to record.
    pub(super) fn events(&self) -> Vec<EventBody> {
        let message = AssistantMessage {
            native: self.native.clone(),
            item_id: self.item_id,
            reasoning: self.reasoning.clone(),
            text: self.text.clone(),
            tool_calls: self.calls.iter().map(|(call, _cut)| call.clone()).collect(),
            completeness: match self.end {
                TurnEnd::OutputLimit => Completeness::Cut,
                TurnEnd::Answered | TurnEnd::RoundsLimit | TurnEnd::Refused => {
                    Completeness::Complete
                }
            },
        };
        vec![message.into()]
    }

    /// What it says.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The calls to run.
    pub(super) fn open_calls(&self) -> Vec<OpenCall> {
        self.calls
            .iter()
            .map(|(call, cut)| OpenCall { call: call.clone(), started: None, cut: *cut })
            .collect()
    }
}

/// What has come of the attempt that runs.
#[derive(Debug)]
struct Received {
    item_id: ItemId,
    /// The model that answers.
    model: String,
    reasoning: String,
    text: String,
}

impl Received {
    fn is_shown(&self) -> bool {
        !(self.reasoning.is_empty() && self.text.is_empty())
    }
}

/// Why no whole answer came.
enum Broken {
    Cancelled,
    Failed(LlmError),
    /// The turn cannot go on.
    Ended(Ended),
}

impl From<Ended> for Broken {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

impl TurnTask {
    /// Asks the model until it has answered whole or failed for good. What the attempts used is on the
    /// session's account when this returns; the actor records it with the next step.
    pub(super) async fn ask(
        &self,
        model: &ResolvedModel,
        conversation: &Conversation,
        offer: Offer,
    ) -> Result<Answer, Unanswered> {
        let _asking = self.times.within(Phase::FirstByte);
        let mut received = self.nothing_yet(&model.model);
        let request = self.request(model, conversation, offer);
        match self.receive(model, request, &mut received).await {
            Ok(completion) => Ok(self.answer(model, received, completion)),
            Err(Broken::Cancelled) => {
                Err(Ended(TurnOutcome::Cancelled { last: Vec::new() }).into())
            }
            Err(Broken::Failed(error)) if received.is_shown() => {
                Err(Ended(TurnOutcome::from_llm_error(&error)).into())
            }
            Err(Broken::Failed(error)) => Err(Unanswered::from_error(error, received.model)),
            Err(Broken::Ended(ended)) => Err(ended.into()),
        }
    }

    async fn receive(
        &self,
        model: &ResolvedModel,
        request: Request,
        received: &mut Received,
    ) -> Result<Completion, Broken> {
        let stream = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Broken::Cancelled),
            stream = model.provider.stream(request) => stream,
        };
        let mut stream = stream.map_err(Broken::Failed)?;
        loop {
            let part = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(Broken::Cancelled),
                part = stream.next() => part,
            };
            if !matches!(part, None | Some(Err(_) | Ok(StreamPart::Restarted(_)))) {
                self.times.part();
            }
            let (channel, text) = match part {
                Some(Ok(StreamPart::Reasoning(text))) => {
                    received.reasoning.push_str(&text);
                    (TextChannel::Reasoning, text)
                }
                Some(Ok(StreamPart::Text(text))) => {
                    received.text.push_str(&text);
                    (TextChannel::Text, text)
                }
                Some(Ok(StreamPart::Restarted(restart))) => {
                    self.restart(restart, received).await?;
                    continue;
                }
                Some(Ok(StreamPart::Finished(completion))) => return Ok(completion),
                Some(Err(error)) => return Err(Broken::Failed(error)),
                None => return Err(Broken::Failed(LlmError::Cut)),
            };
            let item_id = received.item_id;
            self.report(TurnReport::Delta { item_id, channel, text }).await?;
        }
    }

    /// Discards what was shown and says so; says too when another model answers.
    async fn restart(&self, restart: Restart, received: &mut Received) -> Result<(), Ended> {
        let Restart { attempt, model, error } = restart;
        let mut steps = Vec::new();
        if model != received.model {
            let text = format!(
                "{} cannot answer now ({}); {model} is asked instead.",
                received.model, error.message
            );
            steps.push(Notice { level: NoticeLevel::Warn, text }.into());
        }
        let void = std::mem::replace(received, self.nothing_yet(&model));
        if void.is_shown() {
            let discarded_item_id = void.item_id;
            steps.push(AttemptRestarted { discarded_item_id, attempt, error }.into());
        }
        if !steps.is_empty() {
            self.record_steps(steps).await?;
        }
        Ok(())
    }

    fn nothing_yet(&self, model: &str) -> Received {
        Received {
            item_id: self.deps.ids.item_id(self.deps.clock.now()),
            model: model.to_owned(),
            reasoning: String::new(),
            text: String::new(),
        }
    }

    fn request(&self, model: &ResolvedModel, conversation: &Conversation, offer: Offer) -> Request {
        let may_call = model.info.tools && offer == Offer::Tools;
        if offer == Offer::Nothing {
            self.account.prefix_changes_in_turn();
        }
        let system = Message::System(system_prompt(&self.roots));
        let request = Request {
            model: model.model.clone(),
            info: Arc::clone(&model.info),
            messages: std::iter::once(system)
                .chain(self.project_message())
                .chain(conversation.messages())
                .collect(),
            tools: if may_call { self.deps.tools.offered() } else { Vec::new() },
            max_output_tokens: model.max_output_tokens,
            effort: model.effort.and_then(|effort| effort.effective),
            cache_key: Some(self.session_id.to_string()),
            meter: Some(self.times.around(self.account.meter(UsagePurpose::Turn))),
        };
        if !model.is_offline() {
            self.account.check_prefix(&request);
        }
        request
    }

    fn answer(&self, asked: &ResolvedModel, received: Received, completion: Completion) -> Answer {
        let is_asked = received.model == asked.model;
        let counted = completion.usage.as_ref().filter(|usage| is_asked && !usage.estimated);
        let prompt_tokens = counted.map(|usage| usage.prompt_tokens);
        let end = match completion.finish {
            Finish::Done => TurnEnd::Answered,
            Finish::OutputLimit => TurnEnd::OutputLimit,
            Finish::Refused => TurnEnd::Refused,
        };
        let native = completion.native.filter(|native| {
            let bytes: usize = native.blocks.iter().map(String::len).sum();
            // Blocks of an answer that was cut may be cut themselves.
            end != TurnEnd::OutputLimit && bytes <= MAX_NATIVE_BYTES
        });
        let now = self.deps.clock.now();
        let calls = completion
            .tool_calls
            .into_iter()
            .map(|call| {
                let cut = !call.is_whole || completion.finish == Finish::OutputLimit;
                let call = ToolCall {
                    call_id: self.deps.ids.call_id(now),
                    name: call.name,
                    arguments_json: call.arguments_json,
                };
                (call, cut)
            })
            .collect();
        let Received { item_id, model: _, reasoning, text } = received;
        Answer { item_id, reasoning, text, native, calls, end, prompt_tokens }
    }
}

//! One round: a request to the model, its answer streamed to the terminals, and bounded attempts.

use std::sync::Arc;

use agentd_domain::{
    AssistantMessage, AttemptRestarted, Completeness, Cost, EventBody, ItemId, NativeBlocks,
    ToolCall, TurnEnd, Usage, UsagePurpose, UsageRecorded,
};
use agentd_llm::{
    Completion, Finish, LlmError, Message, Request, Restart, StreamPart, estimate_tokens,
};
use backon::BackoffBuilder as _;
use futures_util::StreamExt as _;
use tokio::time::Instant;

use super::prompt::{fixed_tokens, system_prompt};
use super::{Conversation, Ended, TurnOutcome, TurnReport, TurnTask, cancelled};
use crate::model::ResolvedModel;
use crate::session::{DeltaChannel, OpenCall};

/// Most bytes of an answer in the provider's own form that are kept. Beside a text of the largest size
/// the event still fits a line of an export.
const MAX_NATIVE_BYTES: usize = 1024 * 1024;

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
    usage: Option<UsageRecorded>,
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
        let usage = self.usage.clone().map(EventBody::from);
        std::iter::once(message.into()).chain(usage).collect()
    }

    /// The calls to run.
    pub(super) fn open_calls(&self) -> Vec<OpenCall> {
        self.calls
            .iter()
            .map(|(call, cut)| OpenCall { call: call.clone(), started: None, cut: *cut })
            .collect()
    }
}

/// What came of one attempt before it broke off.
#[derive(Debug, Default)]
struct Received {
    reasoning: String,
    text: String,
    first_byte_ms: Option<u64>,
}

impl Received {
    fn is_shown(&self) -> bool {
        !(self.reasoning.is_empty() && self.text.is_empty())
    }
}

enum Broken {
    Cancelled(Received),
    Failed(LlmError, Received),
}

impl TurnTask {
    /// Asks the model until it has answered whole, it fails for good, or attempts run out.
    pub(super) async fn ask(
        &self,
        model: &ResolvedModel,
        conversation: &Conversation,
    ) -> Result<Answer, Ended> {
        let config = self.deps.config();
        let mut delays = backon::ExponentialBuilder::default()
            .with_min_delay(config.retry_base)
            .with_max_delay(config.retry_max)
            .with_max_times(usize::try_from(config.max_attempts.saturating_sub(1)).unwrap_or(0))
            .with_jitter()
            .build();
        let mut attempt = 1;
        loop {
            let item_id = self.deps.ids.item_id(self.deps.clock.now());
            let started = Instant::now();
            let (error, received) =
                match self.attempt(model, conversation, item_id, started).await? {
                    Ok(answer) => return Ok(answer),
                    Err(Broken::Cancelled(received)) => {
                        let usage = self.estimated_usage(model, conversation, &received, started);
                        return Err(Ended(TurnOutcome::Cancelled {
                            last: usage.map(EventBody::from).into_iter().collect(),
                        }));
                    }
                    Err(Broken::Failed(error, received)) => (error, received),
                };
            let usage = self.estimated_usage(model, conversation, &received, started);
            let delay = delays.next().filter(|_| error.is_retryable()).and_then(|delay| {
                match error.retry_after() {
                    // Waiting longer than users would is failing without saying so.
                    Some(wanted) if wanted > config.retry_max => None,
                    Some(wanted) => Some(delay.max(wanted)),
                    None => Some(delay),
                }
            });
            let Some(delay) = delay else {
                return Err(Ended(TurnOutcome::Failed {
                    error: error.report(),
                    last: usage.map(EventBody::from).into_iter().collect(),
                }));
            };
            attempt += 1;
            tracing::warn!(attempt, %error, delay_ms = delay.as_millis(), "model request broke off, trying again");
            if received.is_shown() {
                let restarted =
                    AttemptRestarted { discarded_item_id: item_id, attempt, error: error.report() };
                let mut steps = vec![EventBody::from(restarted)];
                steps.extend(usage.map(EventBody::from));
                self.record_steps(steps).await?;
            }
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(cancelled()),
                () = tokio::time::sleep(delay) => {}
            }
        }
    }

    async fn attempt(
        &self,
        model: &ResolvedModel,
        conversation: &Conversation,
        mut item_id: ItemId,
        started: Instant,
    ) -> Result<Result<Answer, Broken>, Ended> {
        let request = self.request(model, conversation);
        let mut received = Received::default();
        let stream = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Ok(Err(Broken::Cancelled(received))),
            stream = model.provider.stream(request) => stream,
        };
        let mut stream = match stream {
            Ok(stream) => stream,
            Err(error) => return Ok(Err(Broken::Failed(error, received))),
        };
        loop {
            let part = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(Err(Broken::Cancelled(received))),
                part = stream.next() => part,
            };
            received.first_byte_ms.get_or_insert_with(|| elapsed_ms(started));
            let (channel, text) = match part {
                Some(Ok(StreamPart::Reasoning(text))) => {
                    received.reasoning.push_str(&text);
                    (DeltaChannel::Reasoning, text)
                }
                Some(Ok(StreamPart::Text(text))) => {
                    received.text.push_str(&text);
                    (DeltaChannel::Text, text)
                }
                Some(Ok(StreamPart::Restarted(restart))) => {
                    if std::mem::take(&mut received).is_shown() {
                        let Restart { attempt, model: _, error } = restart;
                        let restarted =
                            AttemptRestarted { discarded_item_id: item_id, attempt, error };
                        self.record_steps(vec![restarted.into()]).await?;
                        item_id = self.deps.ids.item_id(self.deps.clock.now());
                    }
                    continue;
                }
                Some(Ok(StreamPart::Finished(completion))) => {
                    let usage = self.usage(model, conversation, &received, &completion, started);
                    return Ok(Ok(self.answer(item_id, received, completion, usage)));
                }
                Some(Err(error)) => return Ok(Err(Broken::Failed(error, received))),
                None => return Ok(Err(Broken::Failed(LlmError::Cut, received))),
            };
            self.report(TurnReport::Delta { item_id, channel, text }).await?;
        }
    }

    fn request(&self, model: &ResolvedModel, conversation: &Conversation) -> Request {
        let system = Message::System(system_prompt(&self.workspace));
        Request {
            model: model.model.clone(),
            info: Arc::clone(&model.info),
            messages: std::iter::once(system).chain(conversation.messages()).collect(),
            tools: if model.info.tools { self.deps.tools.specs() } else { Vec::new() },
            max_output_tokens: model.max_output_tokens,
            effort: model.effort.and_then(|effort| effort.effective),
            cache_key: Some(self.session_id.to_string()),
            meter: None,
        }
    }

    fn answer(
        &self,
        item_id: ItemId,
        received: Received,
        completion: Completion,
        usage: Option<UsageRecorded>,
    ) -> Answer {
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
        let Received { reasoning, text, first_byte_ms: _ } = received;
        Answer { item_id, reasoning, text, native, calls, end, usage }
    }

    /// What the provider counted, or our estimate. None for the offline engine, which costs nothing.
    fn usage(
        &self,
        model: &ResolvedModel,
        conversation: &Conversation,
        received: &Received,
        completion: &Completion,
        started: Instant,
    ) -> Option<UsageRecorded> {
        let mut recorded = self.estimated_usage_of(model, conversation, received, started)?;
        if let Some(usage) = completion.usage {
            recorded.usage = usage;
        }
        Some(recorded)
    }

    /// Our estimate for an attempt that broke off; none when nothing had come yet.
    fn estimated_usage(
        &self,
        model: &ResolvedModel,
        conversation: &Conversation,
        received: &Received,
        started: Instant,
    ) -> Option<UsageRecorded> {
        received
            .is_shown()
            .then(|| self.estimated_usage_of(model, conversation, received, started))
            .flatten()
    }

    fn estimated_usage_of(
        &self,
        model: &ResolvedModel,
        conversation: &Conversation,
        received: &Received,
        started: Instant,
    ) -> Option<UsageRecorded> {
        if model.is_offline() {
            return None;
        }
        let fixed = fixed_tokens(&self.workspace, &self.deps.tools);
        let reasoning_tokens = estimate_tokens(&received.reasoning);
        Some(UsageRecorded {
            cost: Cost::default(),
            purpose: UsagePurpose::Turn,
            provider: model.provider.kind().to_owned(),
            model: model.model.clone(),
            usage: Usage {
                cache_write_tokens: 0,
                prompt_tokens: fixed + conversation.tokens(),
                completion_tokens: reasoning_tokens + estimate_tokens(&received.text),
                reasoning_tokens,
                cached_prompt_tokens: 0,
                estimated: true,
            },
            first_byte_ms: received.first_byte_ms.unwrap_or(0),
            elapsed_ms: elapsed_ms(started),
        })
    }
}

pub(super) fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

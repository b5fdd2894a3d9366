//! A scripted model, and layers around it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;

use crate::layers::{Candidate, Endpoint, EndpointLimits, FallbackPolicy, RetryPolicy, Stack};
use crate::{
    Attempt, Completion, Finish, LlmError, Meter, Provider, Request, ResponseStream, Spent,
    StreamPart,
};

/// What a scripted model does next. A script that runs out ends the answer as a model would.
#[derive(Debug)]
pub(super) enum Step {
    Text(&'static str),
    Hang,
    Fail(LlmError),
    /// Fails before the answer begins.
    Refuse(LlmError),
}

/// A model that follows scripts: one per request, "ok" when there is none.
#[derive(Debug, Default)]
pub(super) struct Scripted {
    pub(super) scripts: Mutex<VecDeque<Vec<Step>>>,
    /// When it was asked, and for which model.
    pub(super) asked: Mutex<Vec<(Instant, String)>>,
    /// Answers that somebody still reads.
    pub(super) open: Arc<AtomicU32>,
}

impl Scripted {
    pub(super) fn script(&self, steps: Vec<Step>) {
        self.scripts.lock().expect("scripts").push_back(steps);
    }

    /// Waits between one request and the next.
    pub(super) fn waits(&self) -> Vec<Duration> {
        let asked = self.asked.lock().expect("times");
        asked.iter().zip(asked.iter().skip(1)).map(|(one, next)| next.0 - one.0).collect()
    }

    pub(super) fn times_asked(&self) -> usize {
        self.asked.lock().expect("times").len()
    }

    pub(super) fn open(&self) -> u32 {
        self.open.load(Ordering::Relaxed)
    }
}

/// An answer that is being read.
struct Reading(Arc<AtomicU32>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Provider for Scripted {
    fn kind(&self) -> &'static str {
        "scripted"
    }

    fn base_url(&self) -> &'static str {
        "http://scripted"
    }

    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError> {
        self.asked.lock().expect("times").push((Instant::now(), request.model));
        let script = self.scripts.lock().expect("scripts").pop_front();
        let mut steps: VecDeque<Step> = script.unwrap_or_else(|| vec![Step::Text("ok")]).into();
        if matches!(steps.front(), Some(Step::Refuse(_)))
            && let Some(Step::Refuse(error)) = steps.pop_front()
        {
            return Err(error);
        }
        self.open.fetch_add(1, Ordering::Relaxed);
        let reading = Reading(Arc::clone(&self.open));
        let parts = stream::unfold(Some((steps, reading)), |state| async move {
            let (mut steps, reading) = state?;
            match steps.pop_front() {
                Some(Step::Text(text)) => {
                    Some((Ok(StreamPart::Text(text.to_owned())), Some((steps, reading))))
                }
                Some(Step::Hang) => std::future::pending().await,
                Some(Step::Fail(error) | Step::Refuse(error)) => Some((Err(error), None)),
                None => {
                    let finished = Completion {
                        finish: Finish::Done,
                        tool_calls: Vec::new(),
                        usage: None,
                        native: None,
                    };
                    Some((Ok(StreamPart::Finished(finished)), None))
                }
            }
        });
        Ok(Box::pin(parts))
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        Ok(Vec::new())
    }
}

/// A model in its layers.
pub(super) struct World {
    pub(super) model: Arc<Scripted>,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) stack: Stack,
}

pub(super) fn candidate(
    name: &str,
    model: &Arc<Scripted>,
    endpoint: &Arc<Endpoint>,
    max_attempts: u32,
) -> Candidate {
    Candidate {
        model: name.to_owned(),
        info: Arc::default(),
        provider: Arc::<Scripted>::clone(model),
        endpoint: Arc::clone(endpoint),
        retry: RetryPolicy { max_attempts, ..RetryPolicy::default() },
        max_output_tokens: None,
        effort: None,
    }
}

/// One model with these limits, which is tried so often.
pub(super) fn world(limits: &EndpointLimits, max_attempts: u32) -> World {
    let model = Arc::new(Scripted::default());
    let endpoint = Arc::new(Endpoint::new("http://scripted", limits));
    let first = candidate("main", &model, &endpoint, max_attempts);
    let stack = Stack::new(first, Vec::new(), FallbackPolicy::default());
    World { model, endpoint, stack }
}

pub(super) fn request() -> Request {
    Request {
        model: "main".to_owned(),
        messages: vec![crate::Message::user("abcd")],
        ..Request::default()
    }
}

/// What an answer came to: its text as a careful reader keeps it, how often it began anew, its end.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) restarts: Vec<(u32, String, String)>,
    pub(super) error: Option<LlmError>,
}

pub(super) async fn read(mut parts: ResponseStream) -> Answer {
    let mut answer = Answer { text: String::new(), restarts: Vec::new(), error: None };
    let mut is_whole = false;
    while let Some(part) = parts.next().await {
        assert!(!is_whole && answer.error.is_none(), "nothing follows the end: {part:?}");
        match part {
            Ok(StreamPart::Text(text)) => answer.text.push_str(&text),
            Ok(StreamPart::Reasoning(_)) => {}
            Ok(StreamPart::Restarted(restart)) => {
                answer.text.clear();
                answer.restarts.push((restart.attempt, restart.model, restart.error.code));
            }
            Ok(StreamPart::Finished(_)) => is_whole = true,
            Err(error) => answer.error = Some(error),
        }
    }
    assert!(is_whole || answer.error.is_some(), "a stream ends with its answer or an error");
    answer
}

pub(super) async fn ask(stack: &Stack, request: Request) -> Answer {
    match stack.stream(request).await {
        Ok(parts) => read(parts).await,
        Err(error) => Answer { text: String::new(), restarts: Vec::new(), error: Some(error) },
    }
}

impl World {
    pub(super) async fn ask(&self) -> Answer {
        ask(&self.stack, request()).await
    }
}

/// A meter that writes down what it is asked and told.
#[derive(Debug, Default)]
pub(super) struct Notebook {
    pub(super) admitted: Mutex<Vec<Attempt>>,
    pub(super) spent: Mutex<Vec<Spent>>,
    /// Attempts after which no more are admitted.
    pub(super) limit: Option<usize>,
}

impl Meter for Notebook {
    fn admit(&self, attempt: &Attempt) -> Result<(), LlmError> {
        let mut admitted = self.admitted.lock().expect("attempts");
        if self.limit.is_some_and(|limit| admitted.len() >= limit) {
            return Err(LlmError::Budget { message: "used up".to_owned() });
        }
        admitted.push(attempt.clone());
        Ok(())
    }

    fn record(&self, spent: Spent) {
        self.spent.lock().expect("attempts").push(spent);
    }
}

/// Lets every task that can run do so, without time going by.
pub(super) async fn settle() {
    for _turn in 0..20 {
        tokio::task::yield_now().await;
    }
}

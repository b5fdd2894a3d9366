//! `POST /embeddings`, as OpenAI has it and most servers speak it.

use std::ops::Range;

use agentd_domain::Usage;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::embedder::{check_texts, normalised};
use crate::http::endpoint::{Endpoint, EndpointOptions, KeyHeader};
use crate::{
    Embedded, Embedder, LlmError, MAX_DIMENSIONS, Secret, TextKind, Timeouts, estimate_tokens,
};

/// Most texts of a request; some servers take no more than 32.
const MAX_TEXTS: usize = 32;
/// Most bytes of the texts of a request, unless one alone has more.
const MAX_BYTES: usize = 64 * 1024;
/// Most bytes of an answer: so many texts of the longest vectors, at 24 bytes a number, and as much again.
const MAX_ANSWER_BYTES: usize = 2 * MAX_TEXTS * MAX_DIMENSIONS * 24;

/// How to reach a model that makes vectors.
#[derive(Debug, Clone)]
pub struct EmbeddingOptions {
    /// Such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as a bearer token. Local servers need none.
    pub api_key: Option<Secret>,
    /// Limits of waiting.
    pub timeouts: Timeouts,
    /// The model.
    pub model: String,
    /// Length of vectors that is asked for; none: the model's own.
    pub dimensions: Option<u32>,
    /// Put before what is looked for, such as "query: ".
    pub query_prefix: String,
    /// Put before what may be found, such as "passage: ".
    pub document_prefix: String,
}

/// A model at an endpoint.
#[derive(Debug)]
pub struct OpenAiEmbeddings {
    endpoint: Endpoint,
    model: String,
    space: String,
    dimensions: Option<u32>,
    query_prefix: String,
    document_prefix: String,
}

impl OpenAiEmbeddings {
    /// Checks the options. Nothing is connected yet.
    ///
    /// # Errors
    /// [`LlmError::Protocol`] for a base URL that is none, [`LlmError::NoKey`] for a key that no header
    /// can carry.
    pub fn new(options: EmbeddingOptions) -> Result<Self, LlmError> {
        let EmbeddingOptions {
            base_url,
            api_key,
            timeouts,
            model,
            dimensions,
            query_prefix,
            document_prefix,
        } = options;
        let endpoint = Endpoint::new(&EndpointOptions {
            base_url,
            api_key,
            key_header: KeyHeader::Bearer,
            headers: &[],
            timeouts,
            max_answer_bytes: MAX_ANSWER_BYTES,
        })?;
        let space = space(&model, dimensions, &document_prefix);
        Ok(Self { endpoint, model, space, dimensions, query_prefix, document_prefix })
    }

    /// One request.
    async fn ask(&self, texts: &[String], prefix: &str) -> Result<Embedded, LlmError> {
        let input: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let estimated = input.iter().map(|text| estimate_tokens(text)).sum();
        let asked = Asked {
            model: &self.model,
            input: &input,
            encoding_format: "float",
            dimensions: self.dimensions,
        };
        let body = serde_json::to_vec(&asked)
            .map_err(|error| LlmError::Protocol { detail: error.to_string() })?;
        let answer = self.endpoint.post("embeddings", body).await?;
        read(&answer, texts.len(), estimated).map_err(|problem| {
            let detail = format!("{} sends {problem}", self.endpoint.shown_url());
            LlmError::Protocol { detail: self.endpoint.error_text().clean(&detail) }
        })
    }
}

#[async_trait]
impl Embedder for OpenAiEmbeddings {
    fn model(&self) -> &str {
        &self.model
    }

    fn place(&self) -> &str {
        self.endpoint.shown_url()
    }

    fn space(&self) -> &str {
        &self.space
    }

    async fn embed(&self, texts: &[String], kind: TextKind) -> Result<Embedded, LlmError> {
        check_texts(texts)?;
        let prefix = match kind {
            TextKind::Query => &self.query_prefix,
            TextKind::Document => &self.document_prefix,
        };
        let mut all = Embedded { vectors: Vec::new(), usage: Usage::default() };
        for range in batches(texts) {
            let batch = texts.get(range).unwrap_or_default();
            let Embedded { vectors, usage } = self.ask(batch, prefix).await?;
            all.vectors.extend(vectors);
            all.usage.add(&usage);
        }
        let lengths = |vectors: &[Vec<f32>]| vectors.iter().map(Vec::len).max();
        if all.vectors.iter().any(|vector| Some(vector.len()) != lengths(&all.vectors)) {
            let detail =
                format!("{} sends vectors of different lengths", self.endpoint.shown_url());
            return Err(LlmError::Protocol { detail });
        }
        Ok(all)
    }
}

/// What makes vectors comparable, in one line.
fn space(model: &str, dimensions: Option<u32>, document_prefix: &str) -> String {
    let dimensions = dimensions.map(|dimensions| format!(" {dimensions}"));
    let prefix = Some(document_prefix).filter(|it| !it.is_empty()).map(|it| format!(" {it:?}"));
    [model, &dimensions.unwrap_or_default(), &prefix.unwrap_or_default()].concat()
}

/// Cuts texts into requests.
fn batches(texts: &[String]) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let (mut from, mut bytes) = (0, 0_usize);
    for (at, text) in texts.iter().enumerate() {
        let is_full = at - from == MAX_TEXTS || bytes.saturating_add(text.len()) > MAX_BYTES;
        if is_full && at > from {
            batches.push(from..at);
            (from, bytes) = (at, 0);
        }
        bytes = bytes.saturating_add(text.len());
    }
    if from < texts.len() {
        batches.push(from..texts.len());
    }
    batches
}

#[derive(Serialize)]
struct Asked<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct Item {
    /// Some servers leave it out and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: u64,
}

/// Reads the answer to `count` texts, or says what it is instead.
fn read(body: &[u8], count: usize, estimated: u64) -> Result<Embedded, String> {
    let answer: Answer =
        serde_json::from_slice(body).map_err(|error| format!("no list of vectors: {error}"))?;
    if answer.data.len() != count {
        return Err(format!("{} vectors for {count} texts", answer.data.len()));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    let length = answer.data.first().map_or(0, |item| item.embedding.len());
    if length == 0 || length > MAX_DIMENSIONS {
        return Err(format!("a vector of {length} numbers; 1 to {MAX_DIMENSIONS} are taken"));
    }
    for (at, Item { index, embedding }) in answer.data.into_iter().enumerate() {
        if embedding.len() != length {
            return Err("vectors of different lengths".to_owned());
        }
        let index = index.unwrap_or(at);
        let vector = normalised(embedding);
        let vector =
            vector.ok_or_else(|| format!("vector {index}, which is zero or not finite"))?;
        let place = vectors.get_mut(index).filter(|place| place.is_none());
        *place.ok_or_else(|| format!("vector {index} of {count}, twice or out of range"))? =
            Some(vector);
    }
    let counted = answer.usage.map(|counted| counted.prompt_tokens).filter(|count| *count > 0);
    let usage = Usage {
        prompt_tokens: counted.unwrap_or(estimated),
        estimated: counted.is_none(),
        ..Usage::default()
    };
    // As many as texts, and none twice: none is missing.
    Ok(Embedded { vectors: vectors.into_iter().flatten().collect(), usage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_put_in_order_and_odd_ones_say_what_is_wrong() {
        let check = |body: &str, expect: Result<&[&[f32]], &str>| match read(body.as_bytes(), 2, 9)
        {
            Ok(embedded) => assert_eq!(embedded.vectors, expect.unwrap(), "{body}"),
            Err(problem) => assert!(problem.contains(expect.unwrap_err()), "{body}: {problem}"),
        };
        let both: &[&[f32]] = &[&[1.0, 0.0], &[0.0, 1.0]];
        check(
            r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,0]}]}"#,
            Ok(both),
        );
        check(r#"{"data":[{"embedding":[1,0]},{"embedding":[0,1]}],"x":1}"#, Ok(both));
        check(r#"{"data":[{"embedding":[1,0]}]}"#, Err("1 vectors for 2 texts"));
        check(
            r#"{"data":[{"index":1,"embedding":[1,0]},{"index":1,"embedding":[0,1]}]}"#,
            Err("vector 1 of 2, twice"),
        );
        check(
            r#"{"data":[{"index":0,"embedding":[1,0]},{"index":7,"embedding":[0,1]}]}"#,
            Err("vector 7 of 2, twice or out of range"),
        );
        check(r#"{"data":[{"embedding":[1]},{"embedding":[0,1]}]}"#, Err("different lengths"));
        check(r#"{"data":[{"embedding":[]},{"embedding":[]}]}"#, Err("of 0 numbers"));
        check(r#"{"data":[{"embedding":[0,0]},{"embedding":[0,1]}]}"#, Err("zero or not finite"));
        check(r#"{"data":[{"embedding":[1e99,0]},{"embedding":[0,1]}]}"#, Err("not finite"));
        check(r#"{"data":[{"embedding":[null]},{"embedding":[1]}]}"#, Err("no list of vectors"));
        check("<html>", Err("no list of vectors"));
    }

    #[test]
    fn tokens_are_the_servers_or_estimated() {
        let read = |usage: &str| {
            let body = format!("{{\"data\":[{{\"embedding\":[1]}}]{usage}}}");
            let usage = read(body.as_bytes(), 1, 9).unwrap().usage;
            (usage.prompt_tokens, usage.estimated)
        };
        assert_eq!(read(r#","usage":{"prompt_tokens":4,"total_tokens":4}"#), (4, false));
        assert_eq!(read(""), (9, true));
    }

    #[test]
    fn requests_are_bounded_in_texts_and_bytes() {
        let texts = |count: usize, bytes: usize| vec!["x".repeat(bytes); count];
        assert!(batches(&[]).is_empty());
        assert_eq!(batches(&texts(33, 1)), [0..32, 32..33]);
        assert_eq!(batches(&texts(5, 30 * 1024)), [0..2, 2..4, 4..5]);
        assert_eq!(batches(&texts(2, MAX_BYTES + 1)), [0..1, 1..2]);
    }

    #[test]
    fn vectors_of_another_model_length_or_prefix_are_of_another_space() {
        let all = [
            space("m", None, ""),
            space("n", None, ""),
            space("m", Some(256), ""),
            space("m", None, "passage: "),
        ];
        let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
    }
}

//! How each engine is asked, and how it answers.

use agentd_domain::{ToolResult, cut_line};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::super::client::{Answer, Ask};
use super::super::decode::decode;
use super::super::html::readable;
use super::super::plain::plain_line;
use super::super::settings::{SearchEngine, SearchSettings};
use super::super::target::{AllowList, Target};
use super::{Hit, duckduckgo};

/// How much of an engine's own words about an error is shown, in characters.
const MAX_TOLD: usize = 200;

/// A search as it is sent.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) target: Target,
    pub(super) ask: Ask,
}

impl Query {
    pub(super) fn new(
        settings: &SearchSettings,
        text: &str,
        wanted: usize,
        allowed: &AllowList,
    ) -> Result<Self, ToolResult> {
        let SearchSettings { engine, endpoint, key } = settings;
        let usual = match engine {
            SearchEngine::DuckDuckGo => "https://html.duckduckgo.com/html/",
            SearchEngine::Searxng => "",
            SearchEngine::Brave => "https://api.search.brave.com/res/v1/web/search",
            SearchEngine::Tavily => "https://api.tavily.com/search",
        };
        let endpoint = if endpoint.is_empty() { usual } else { endpoint };
        if endpoint.is_empty() {
            return Err(not_configured(
                "set tools.search.endpoint to the URL of a SearXNG server, such as \
                 http://127.0.0.1:8888",
            ));
        }
        let mut url = Url::parse(endpoint)
            .map_err(|_not_a_url| not_configured("tools.search.endpoint is not a URL"))?;
        let mut ask = Ask { accept: "application/json", ..Ask::default() };
        // More than is wanted, as some are of one page.
        let count = (wanted + 5).to_string();
        match engine {
            SearchEngine::DuckDuckGo => {
                ask.accept = "text/html";
                url.query_pairs_mut().append_pair("q", text);
            }
            SearchEngine::Searxng => {
                if !url.path().ends_with("/search") {
                    let path = format!("{}/search", url.path().trim_end_matches('/'));
                    url.set_path(&path);
                }
                url.query_pairs_mut().append_pair("q", text).append_pair("format", "json");
            }
            SearchEngine::Brave => {
                let header = HeaderName::from_static("x-subscription-token");
                ask.headers = with_key(header, key, "")?;
                url.query_pairs_mut().append_pair("q", text).append_pair("count", &count);
            }
            SearchEngine::Tavily => {
                ask.headers = with_key(AUTHORIZATION, key, "Bearer ")?;
                ask.json = Some(json!({"query": text, "max_results": wanted + 5}));
            }
        }
        Ok(Self { target: Target::of(url, allowed)?, ask })
    }
}

fn with_key(name: HeaderName, key: &str, before: &str) -> Result<HeaderMap, ToolResult> {
    if key.is_empty() {
        return Err(not_configured(
            "the engine needs a key: put it into the variable that tools.search.key_env names",
        ));
    }
    let mut value = HeaderValue::from_str(&format!("{before}{key}"))
        .map_err(|_has_controls| not_configured("the key holds characters that no key has"))?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(name, value)]))
}

fn not_configured(what: &str) -> ToolResult {
    ToolResult::fatal(
        "SEARCH_NOT_CONFIGURED",
        format!("The web cannot be searched until the owner of this daemon sets it up: {what}."),
    )
}

/// The results in an answer.
pub(super) fn hits(engine: SearchEngine, answer: &Answer) -> Result<Vec<Hit>, ToolResult> {
    let name = engine.name();
    let text = decode(&answer.body, answer.charset.as_deref()).text;
    if engine == SearchEngine::DuckDuckGo
        && (answer.status.as_u16() == 202 || duckduckgo::is_challenge(&text))
    {
        return Err(ToolResult::fatal(
            "SEARCH_CHALLENGED",
            "duckduckgo asks whether a person is searching and gives no results for now. The owner \
             of this daemon can set another engine under tools.search.",
        ));
    }
    if answer.moved_to.is_some() {
        return Err(unreadable(name, "it redirects to another place"));
    }
    if !answer.status.is_success() {
        return Err(refusal(engine, answer, &text));
    }
    let parse_error = |_error: serde_json::Error| unreadable(name, "it is not the JSON expected");
    match engine {
        SearchEngine::DuckDuckGo => {
            duckduckgo::hits(&text).ok_or_else(|| unreadable(name, "it is not a page of results"))
        }
        SearchEngine::Searxng | SearchEngine::Tavily => {
            let found: Found = serde_json::from_str(&text).map_err(parse_error)?;
            Ok(found.results.into_iter().map(Hit::from).collect())
        }
        SearchEngine::Brave => {
            let found: BraveFound = serde_json::from_str(&text).map_err(parse_error)?;
            Ok(found.web.unwrap_or_default().results.into_iter().map(Hit::from).collect())
        }
    }
}

fn unreadable(name: &str, why: &str) -> ToolResult {
    ToolResult::retryable(
        "SEARCH_UNREADABLE",
        format!("The answer of {name} cannot be read: {why}."),
    )
}

fn refusal(engine: SearchEngine, answer: &Answer, text: &str) -> ToolResult {
    let (name, status) = (engine.name(), answer.status.as_u16());
    let says = match answer.content_type.as_str() {
        "text/html" => readable(text, &answer.target.url).text,
        _ => text.to_owned(),
    };
    let says = cut_line(&plain_line(&says), MAX_TOLD);
    let remedy = match (engine, status) {
        (SearchEngine::Searxng, 403) => " Its settings must list json under search.formats.",
        (SearchEngine::Brave | SearchEngine::Tavily, 401 | 403) => {
            " The key in the variable of tools.search.key_env is not accepted."
        }
        _ => "",
    };
    let message = format!("{name} answers {status}: {says}.{remedy}");
    if answer.status.is_server_error() || status == 429 {
        ToolResult::retryable("HTTP_STATUS", message)
    } else {
        ToolResult::fatal("HTTP_STATUS", message)
    }
}

#[derive(Debug, Default, Deserialize)]
struct Found {
    results: Vec<FoundHit>,
}

#[derive(Debug, Deserialize)]
struct BraveFound {
    web: Option<Found>,
}

#[derive(Debug, Deserialize)]
struct FoundHit {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default, alias = "description")]
    content: Option<String>,
}

impl From<FoundHit> for Hit {
    fn from(hit: FoundHit) -> Self {
        let FoundHit { url, title, content } = hit;
        // Words that were searched for are marked with tags.
        let bare = |text: Option<String>| match Url::parse(&url) {
            Ok(base) => readable(&text.unwrap_or_default(), &base).text,
            Err(_not_a_url) => text.unwrap_or_default(),
        };
        let (title, words) = (bare(title), bare(content));
        Self { url, title, words }
    }
}

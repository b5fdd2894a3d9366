//! Services that answer with JSON, at endpoints that the owner named.

use agentd_domain::{Action, ActionTarget, ToolResult, cut_line};
use serde_json::Value;
use url::Url;

use super::client::{Ask, Client};
use super::plain::plain_line;
use super::target::{AllowList, Target};

/// How much of a service's own words about an error is shown, in characters.
const MAX_TOLD: usize = 200;

/// A service.
#[derive(Debug)]
pub(super) struct Service {
    /// What stands in its place in a message, such as `weather`.
    name: &'static str,
    client: Client,
}

impl Service {
    /// A service that asks these endpoints, wherever they are.
    pub(super) fn at(name: &'static str, endpoints: &[&str]) -> Self {
        // The owner chose them; their own ports alone.
        let named = endpoints.iter().filter_map(|endpoint| {
            let url = Url::parse(endpoint).ok()?;
            Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
        });
        Self { name, client: Client::new(AllowList::new(&named.collect::<Vec<_>>())) }
    }

    /// Where a request with these parameters goes.
    ///
    /// # Errors
    /// The result of the call, when the owner has not said where the service is.
    pub(super) fn target(
        &self,
        key: &str,
        endpoint: &str,
        such_as: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Target, ToolResult> {
        let missing = |what: &str| {
            ToolResult::fatal(
                "SERVICE_NOT_CONFIGURED",
                format!(
                    "The service of {} is not set up: the owner of this daemon can set {key} to \
                     {what}, such as {such_as}.",
                    self.name
                ),
            )
        };
        if endpoint.is_empty() {
            return Err(missing("its URL"));
        }
        let mut url = Url::parse(endpoint).map_err(|_not_a_url| missing("a URL"))?;
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        Target::of(url, &self.client.allowed)
    }

    /// The answer to a request.
    ///
    /// # Errors
    /// The result of the call, when there is no answer that can be read.
    pub(super) async fn ask(&self, target: Target) -> Result<Value, ToolResult> {
        let ask = Ask { accept: "application/json", ..Ask::default() };
        let answer = self.client.ask(target, ask).await?;
        let url = answer.target.shown();
        if answer.moved_to.is_some() {
            return Err(ToolResult::fatal(
                "REDIRECTED",
                format!("'{url}' redirects to another site, which was not permitted."),
            ));
        }
        let text = String::from_utf8_lossy(&answer.body);
        if !answer.status.is_success() {
            let message = format!(
                "'{url}' answers {}. It says: {}",
                answer.status.as_u16(),
                cut_line(&plain_line(&text), MAX_TOLD)
            );
            return Err(match answer.status.as_u16() {
                408 | 425 | 429 | 500..=599 => ToolResult::retryable("HTTP_STATUS", message),
                _ => ToolResult::fatal("HTTP_STATUS", message),
            });
        }
        serde_json::from_str(&text).map_err(|error| {
            ToolResult::fatal(
                "ANSWER_UNREADABLE",
                format!("'{url}' does not answer with JSON: {error}."),
            )
        })
    }
}

/// The action of requests.
pub(super) fn requests(summary: String, targets: &[&Target]) -> Action {
    let targets = targets.iter().map(|target| ActionTarget::Request {
        method: "GET".to_owned(),
        url: target.shown(),
        host: target.host.clone(),
    });
    Action { summary, targets: targets.collect() }
}

/// The result of a call that would ask something else than was permitted.
pub(super) fn not_as_planned() -> ToolResult {
    ToolResult::fatal("NOT_AS_PLANNED", "What was permitted is another request.")
}

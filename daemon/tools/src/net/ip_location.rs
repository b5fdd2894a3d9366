//! Where an address of the Internet is, as a service says that the owner named.

use std::net::IpAddr;

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use agentd_sandbox::address_refusal;
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::plain::plain_line;
use super::service::{Service, not_as_planned, requests};
use super::settings::IpLocationSettings;
use super::target::Target;
use crate::{About, Rank, ToolContext, TypedTool};

/// What stands for the address in the endpoint.
const PLACE: &str = "{ip}";

/// Longest value that is shown, in characters.
const MAX_VALUE: usize = 100;

/// What is told, and what services call it.
const FIELDS: [(&str, &[&str]); 8] = [
    ("address", &["ip", "query", "ipAddress"]),
    ("city", &["city", "cityName"]),
    ("region", &["region", "regionName", "region_name"]),
    ("country", &["country", "country_name", "countryName"]),
    ("latitude", &["latitude", "lat"]),
    ("longitude", &["longitude", "lon", "lng"]),
    ("time zone", &["timezone", "time_zone", "timeZone"]),
    ("network", &["isp", "org", "organization"]),
];

/// Arguments of ip_location.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A public IPv4 or IPv6 address; left out: this machine's own.
    address: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct IpLocation {
    settings: IpLocationSettings,
    service: Service,
}

impl IpLocation {
    pub(crate) fn new(settings: IpLocationSettings) -> Self {
        let service = Service::at("IP locations", &[&settings.endpoint.replace(PLACE, "")]);
        Self { settings, service }
    }

    fn target(&self, arguments: &Arguments) -> Result<Target, ToolResult> {
        let invalid = |why: &str| {
            let shown = arguments.address.as_deref().unwrap_or_default();
            ToolResult::fatal(
                "TOOL_ARGUMENT_VALIDATION_FAILED",
                format!("address: '{}' is {why}.", cut_line(&plain_line(shown), 60)),
            )
        };
        let address = match arguments.address.as_deref().map(str::trim) {
            None | Some("") => String::new(),
            Some(text) => {
                let address: IpAddr = text.parse().map_err(|_no| invalid("no IP address"))?;
                if let Some(what) = address_refusal(address) {
                    return Err(invalid(&format!("{what}, which is nowhere in particular")));
                }
                self.check_asks_of_any()?;
                address.to_string()
            }
        };
        let endpoint = self.settings.endpoint.replace(PLACE, &address);
        let such_as = "https://ipwho.is/{ip}";
        self.service.target("tools.ip_location.endpoint", &endpoint, such_as, &[])
    }

    /// A service that is always asked the same tells where this machine is, whatever was meant.
    fn check_asks_of_any(&self) -> Result<(), ToolResult> {
        let endpoint = &self.settings.endpoint;
        if endpoint.is_empty() || endpoint.contains(PLACE) {
            return Ok(());
        }
        Err(ToolResult::fatal(
            "SERVICE_NOT_CONFIGURED",
            format!(
                "This service tells only where this machine is: the owner of this daemon can set \
                 tools.ip_location.endpoint to a URL with {PLACE} in it, which stands for the address."
            ),
        ))
    }

    async fn tell(
        &self,
        arguments: &Arguments,
        planned: &Action,
    ) -> Result<ToolResult, ToolResult> {
        let target = self.target(arguments)?;
        if action(&target) != *planned {
            return Err(not_as_planned());
        }
        told(&self.service.ask(target).await?)
    }
}

#[async_trait]
impl TypedTool for IpLocation {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "ip_location",
            description: "Tells where a public IP address, or this machine, roughly is: city, \
                          country, time zone, network.",
            capabilities: Capabilities::NETWORK_READ,
            aliases: &["toolkit_ip_location_my"],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn plan(&self, _ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        Ok(action(&self.target(arguments)?))
    }

    async fn run(&self, _ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        self.tell(&arguments, planned).await.unwrap_or_else(|refused| refused)
    }
}

fn action(target: &Target) -> Action {
    requests("ask where an address is".to_owned(), &[target])
}

fn told(answer: &Value) -> Result<ToolResult, ToolResult> {
    let lines: Vec<String> = FIELDS
        .into_iter()
        .filter_map(|(name, keys)| {
            let value = keys.iter().find_map(|key| answer.get(*key)).and_then(text)?;
            Some(format!("{name}: {}", cut_line(&plain_line(&value), MAX_VALUE)))
        })
        .collect();
    if lines.len() < 2 {
        let says = answer.get("message").or_else(|| answer.get("reason")).and_then(text);
        let says =
            says.map(|says| format!(" It says: {}", cut_line(&plain_line(&says), MAX_VALUE)));
        return Err(ToolResult::fatal(
            "ANSWER_UNREADABLE",
            format!("The service tells no place.{}", says.unwrap_or_default()),
        ));
    }
    Ok(ToolResult::success(lines.join("\n")))
}

/// A text or number, or the id of what has one.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(fields) => text(fields.get("id").or_else(|| fields.get("name"))?),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

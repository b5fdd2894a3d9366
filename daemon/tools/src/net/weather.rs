//! The weather of a place, from a service with the API of Open-Meteo.

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::plain::plain_line;
use super::service::{Service, not_as_planned, requests};
use super::settings::WeatherSettings;
use super::target::Target;
use crate::{About, Rank, ToolContext, TypedTool};

/// Days when the call does not say, and at most.
const DEFAULT_DAYS: u32 = 3;
const MAX_DAYS: u32 = 7;

/// Longest name of a place in characters.
const MAX_PLACE: u32 = 100;

const CURRENT: &str = "temperature_2m,weather_code,wind_speed_10m";
const DAILY: &str =
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,wind_speed_10m_max";

/// Arguments of weather.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Name of a town or village.
    #[schemars(length(min = 1, max = MAX_PLACE))]
    place: Option<String>,
    /// Instead of place, with longitude: degrees north.
    #[schemars(range(min = -90, max = 90))]
    latitude: Option<f64>,
    /// Degrees east.
    #[schemars(range(min = -180, max = 180))]
    longitude: Option<f64>,
    /// Days of the forecast; left out: 3.
    #[schemars(range(min = 1, max = MAX_DAYS))]
    days: Option<u32>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Weather {
    settings: WeatherSettings,
    service: Service,
}

/// Where something is.
#[derive(Debug, PartialEq)]
struct Spot {
    name: String,
    latitude: f64,
    longitude: f64,
}

/// What a call asks first.
enum First {
    /// Where the place is.
    Place(Target),
    /// Nothing: it says where it is.
    Spot(Spot),
}

impl Weather {
    pub(crate) fn new(settings: WeatherSettings) -> Self {
        let endpoints = [settings.endpoint.as_str(), settings.geocoding_endpoint.as_str()];
        let service = Service::at("weather", &endpoints);
        Self { settings, service }
    }

    fn first(&self, arguments: &Arguments) -> Result<First, ToolResult> {
        match (arguments.place.as_deref(), arguments.latitude, arguments.longitude) {
            (Some(place), None, None) => {
                let parameters = [
                    ("name", place.trim()),
                    ("count", "1"),
                    ("language", "en"),
                    ("format", "json"),
                ];
                let target = self.service.target(
                    "tools.weather.geocoding_endpoint",
                    &self.settings.geocoding_endpoint,
                    "https://geocoding-api.open-meteo.com/v1/search",
                    &parameters,
                )?;
                Ok(First::Place(target))
            }
            (None, Some(latitude), Some(longitude)) => {
                let name = format!("{latitude}, {longitude}");
                Ok(First::Spot(Spot { name, latitude, longitude }))
            }
            _ => Err(ToolResult::fatal(
                "TOOL_ARGUMENT_VALIDATION_FAILED",
                "Give either place, or latitude and longitude.",
            )),
        }
    }

    fn forecast(&self, spot: Option<&Spot>, days: u32) -> Result<Target, ToolResult> {
        let days = days.to_string();
        let (latitude, longitude) = spot
            .map(|spot| (spot.latitude.to_string(), spot.longitude.to_string()))
            .unwrap_or_default();
        let parameters = [
            ("latitude", latitude.as_str()),
            ("longitude", &longitude),
            ("current", CURRENT),
            ("daily", DAILY),
            ("timezone", "auto"),
            ("forecast_days", &days),
        ];
        // What is permitted is the service; where the place is, is known after the first answer.
        let parameters: &[(&str, &str)] = if spot.is_some() { &parameters } else { &[] };
        self.service.target(
            "tools.weather.endpoint",
            &self.settings.endpoint,
            "https://api.open-meteo.com/v1/forecast",
            parameters,
        )
    }

    fn action(&self, arguments: &Arguments, first: &First) -> Result<Action, ToolResult> {
        let days = days(arguments);
        Ok(match first {
            First::Place(place) => {
                let forecast = self.forecast(None, days)?;
                requests("ask for the weather".to_owned(), &[place, &forecast])
            }
            First::Spot(spot) => {
                requests("ask for the weather".to_owned(), &[&self.forecast(Some(spot), days)?])
            }
        })
    }

    async fn tell(
        &self,
        arguments: &Arguments,
        planned: &Action,
    ) -> Result<ToolResult, ToolResult> {
        let first = self.first(arguments)?;
        if self.action(arguments, &first)? != *planned {
            return Err(not_as_planned());
        }
        let spot = match first {
            First::Spot(spot) => spot,
            First::Place(target) => {
                let answer = self.service.ask(target).await?;
                spot(&answer).ok_or_else(|| {
                    let place = arguments.place.as_deref().unwrap_or_default();
                    ToolResult::empty(format!(
                        "[No place '{}' is known to the service; write its name otherwise.]",
                        cut_line(&plain_line(place), 60)
                    ))
                })?
            }
        };
        let answer = self.service.ask(self.forecast(Some(&spot), days(arguments))?).await?;
        told(&spot.name, &answer).ok_or_else(|| {
            ToolResult::fatal(
                "ANSWER_UNREADABLE",
                "The service at tools.weather.endpoint does not answer as Open-Meteo does.",
            )
        })
    }
}

#[async_trait]
impl TypedTool for Weather {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "weather",
            description: "Tells the weather of a place now and its forecast for some days: \
                          temperature, rain, wind.",
            capabilities: Capabilities::NETWORK_READ,
            aliases: &["get_weather"],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn plan(&self, _ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        self.action(arguments, &self.first(arguments)?)
    }

    async fn run(&self, _ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        self.tell(&arguments, planned).await.unwrap_or_else(|refused| refused)
    }
}

fn days(arguments: &Arguments) -> u32 {
    arguments.days.unwrap_or(DEFAULT_DAYS).min(MAX_DAYS)
}

/// The first place of an answer.
fn spot(answer: &Value) -> Option<Spot> {
    let place = answer.get("results")?.get(0)?;
    let text = |key: &str| place.get(key).and_then(Value::as_str).map(plain_line);
    let name: Vec<String> = ["name", "admin1", "country"]
        .into_iter()
        .filter_map(text)
        .filter(|name| !name.is_empty())
        .collect();
    Some(Spot {
        name: cut_line(&name.join(", "), 120),
        latitude: place.get("latitude")?.as_f64()?,
        longitude: place.get("longitude")?.as_f64()?,
    })
}

/// The forecast in an answer.
fn told(place: &str, answer: &Value) -> Option<ToolResult> {
    let daily = answer.get("daily")?;
    let mut lines = vec![format!("[Weather of {place}. Times are local.]")];
    if let Some(now) = answer.get("current") {
        lines.push(format!(
            "now: {}, {} °C, wind {} km/h",
            weather(now.get("weather_code")),
            number(now.get("temperature_2m")),
            number(now.get("wind_speed_10m"))
        ));
    }
    let days = daily.get("time")?.as_array()?;
    for (at, day) in days.iter().enumerate().take(usize::try_from(MAX_DAYS).ok()?) {
        let of = |key: &str| daily.get(key).and_then(|values| values.get(at));
        lines.push(format!(
            "{}: {}, {} to {} °C, {} mm, wind up to {} km/h",
            cut_line(&plain_line(day.as_str()?), 20),
            weather(of("weather_code")),
            number(of("temperature_2m_min")),
            number(of("temperature_2m_max")),
            number(of("precipitation_sum")),
            number(of("wind_speed_10m_max"))
        ));
    }
    Some(ToolResult::success(lines.join("\n")))
}

fn number(value: Option<&Value>) -> String {
    value.and_then(Value::as_f64).map_or_else(|| "?".to_owned(), |number| number.to_string())
}

/// What a code of the WMO says (table 4677, as Open-Meteo uses it).
fn weather(code: Option<&Value>) -> &'static str {
    match code.and_then(Value::as_u64) {
        Some(0) => "clear",
        Some(1) => "mostly clear",
        Some(2) => "partly cloudy",
        Some(3) => "overcast",
        Some(45 | 48) => "fog",
        Some(51 | 53 | 55) => "drizzle",
        Some(56 | 57) => "freezing drizzle",
        Some(61) => "light rain",
        Some(63) => "rain",
        Some(65) => "heavy rain",
        Some(66 | 67) => "freezing rain",
        Some(71) => "light snow",
        Some(73) => "snow",
        Some(75) => "heavy snow",
        Some(77) => "snow grains",
        Some(80..=82) => "showers",
        Some(85 | 86) => "snow showers",
        Some(95) => "thunderstorm",
        Some(96 | 99) => "thunderstorm with hail",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests;

use agentd_domain::{ActionTarget, ToolStatus};
use serde_json::json;

use super::super::test_server::{TestServer, answer, context, page};
use super::*;

const PLACES: &str = r#"{"results": [{"name": "Wien", "admin1": "Vienna", "country": "Austria",
    "latitude": 48.2, "longitude": 16.37}]}"#;

const FORECAST: &str = r#"{"current": {"temperature_2m": -1.5, "weather_code": 71, "wind_speed_10m": 9},
    "daily": {"time": ["2026-01-02", "2026-01-03"], "weather_code": [3, 95],
    "temperature_2m_max": [2.5, 4], "temperature_2m_min": [-3, 0], "precipitation_sum": [0, 12.5],
    "wind_speed_10m_max": [20, null]}}"#;

fn weather_at(server: &TestServer) -> Weather {
    Weather::new(WeatherSettings {
        endpoint: server.url("/forecast"),
        geocoding_endpoint: server.url("/search"),
    })
}

async fn call(tool: &Weather, arguments: Value) -> (Action, ToolResult) {
    let arguments: Arguments = serde_json::from_value(arguments).expect("arguments");
    match TypedTool::plan(tool, &context(), &arguments).await {
        Ok(planned) => {
            let result = TypedTool::run(tool, &context(), arguments, &planned).await;
            (planned, result)
        }
        Err(refused) => (Action::default(), refused),
    }
}

#[tokio::test]
async fn a_place_is_looked_up_and_its_forecast_told() {
    let server = TestServer::start(|path| {
        page("application/json", if path.starts_with("/search") { PLACES } else { FORECAST })
    })
    .await;
    let tool = weather_at(&server);
    let (planned, result) = call(&tool, json!({"place": "Wien", "days": 2})).await;
    assert_eq!(result.status, ToolStatus::Success, "{result:?}");
    assert_eq!(
        result.output,
        "[Weather of Wien, Vienna, Austria. Times are local.]\n\
         now: light snow, -1.5 °C, wind 9 km/h\n\
         2026-01-02: overcast, -3 to 2.5 °C, 0 mm, wind up to 20 km/h\n\
         2026-01-03: thunderstorm, 0 to 4 °C, 12.5 mm, wind up to ? km/h"
    );
    let requests = server.requests();
    assert!(requests[0].starts_with("GET /search?name=Wien&"), "{requests:?}");
    assert!(
        requests[1].starts_with("GET /forecast?latitude=48.2&longitude=16.37&"),
        "{requests:?}"
    );
    assert!(requests[1].contains("forecast_days=2"), "{requests:?}");
    let hosts =
        planned.targets.iter().filter(|target| matches!(target, ActionTarget::Request { .. }));
    assert_eq!(hosts.count(), 2);

    let (planned, result) = call(&tool, json!({"latitude": 1.5, "longitude": 2})).await;
    assert!(result.output.starts_with("[Weather of 1.5, 2."), "{result:?}");
    assert_eq!((planned.targets.len(), server.requests().len()), (1, 3));
}

#[tokio::test]
async fn without_an_endpoint_the_owner_is_told_which_key_to_set() {
    let tool = Weather::new(WeatherSettings::default());
    let (_, result) = call(&tool, json!({"place": "Wien"})).await;
    assert_eq!(result.error_code, "SERVICE_NOT_CONFIGURED");
    assert!(result.output.contains("tools.weather.geocoding_endpoint"), "{result:?}");
    let (_, result) = call(&tool, json!({"latitude": 1, "longitude": 2})).await;
    assert!(result.output.contains("tools.weather.endpoint"), "{result:?}");
    let (_, result) = call(&tool, json!({"latitude": 1})).await;
    assert_eq!(result.error_code, "TOOL_ARGUMENT_VALIDATION_FAILED");
}

#[tokio::test]
async fn what_the_service_does_not_say_is_not_made_up() {
    let server = TestServer::start(|path| match path.split('?').next() {
        Some("/search") => page("application/json", r#"{"generationtime_ms": 1}"#),
        Some("/forecast") => page("application/json", r#"{"error": true}"#),
        _ => answer("500 Broken", "", "oh"),
    })
    .await;
    let (_, result) = call(&weather_at(&server), json!({"place": "Nowhere"})).await;
    assert_eq!(result.status, ToolStatus::Empty);
    let (_, result) = call(&weather_at(&server), json!({"latitude": 1, "longitude": 2})).await;
    assert_eq!(result.error_code, "ANSWER_UNREADABLE");
    let broken = Weather::new(WeatherSettings {
        endpoint: server.url("/broken"),
        geocoding_endpoint: String::new(),
    });
    let (_, result) = call(&broken, json!({"latitude": 1, "longitude": 2})).await;
    assert_eq!((result.error_code.as_str(), result.is_retryable()), ("HTTP_STATUS", true));
}

#[tokio::test]
async fn a_call_does_what_was_planned_or_nothing() {
    let server = TestServer::start(|_| page("application/json", FORECAST)).await;
    let tool = weather_at(&server);
    let arguments = |latitude: f64| Arguments {
        place: None,
        latitude: Some(latitude),
        longitude: Some(2.0),
        days: None,
    };
    let planned = TypedTool::plan(&tool, &context(), &arguments(1.0)).await.expect("an action");
    let result = TypedTool::run(&tool, &context(), arguments(3.0), &planned).await;
    assert_eq!(result.error_code, "NOT_AS_PLANNED");
    assert_eq!(server.requests().len(), 0);
}

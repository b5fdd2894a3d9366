use agentd_domain::ToolStatus;
use serde_json::json;

use super::super::test_server::{TestServer, context, page};
use super::*;

async fn call(endpoint: String, address: Option<&str>) -> ToolResult {
    let tool = IpLocation::new(IpLocationSettings { endpoint });
    let arguments = || Arguments { address: address.map(str::to_owned) };
    match TypedTool::plan(&tool, &context(), &arguments()).await {
        Ok(planned) => TypedTool::run(&tool, &context(), arguments(), &planned).await,
        Err(refused) => refused,
    }
}

#[tokio::test]
async fn the_answers_of_several_services_are_told_alike() {
    let server = TestServer::start(|path| {
        let body = match path {
            "/one/8.8.8.8" => {
                json!({"ip": "8.8.8.8", "city": "Mountain\u{1b}View", "country": "US",
                "latitude": 37.4, "timezone": {"id": "America/Los_Angeles"}})
            }
            "/two/" => json!({"query": "9.9.9.9", "regionName": "Bern", "lon": 7.4, "isp": "Quad"}),
            _ => json!({"success": false, "message": "Reserved range"}),
        };
        page("application/json", body.to_string())
    })
    .await;
    let one = call(server.url("/one/{ip}"), Some("8.8.8.8")).await;
    assert_eq!(
        one.output,
        "address: 8.8.8.8\ncity: MountainView\ncountry: US\nlatitude: 37.4\n\
         time zone: America/Los_Angeles"
    );
    let two = call(server.url("/two/{ip}"), None).await;
    assert_eq!(two.output, "address: 9.9.9.9\nregion: Bern\nlongitude: 7.4\nnetwork: Quad");
    let none = call(server.url("/none"), None).await;
    assert_eq!(none.error_code, "ANSWER_UNREADABLE");
    assert!(none.output.ends_with("Reserved range"), "{none:?}");
}

#[tokio::test]
async fn only_public_addresses_are_asked_about_and_only_where_the_owner_said() {
    let server = TestServer::start(|_| page("application/json", "{}")).await;
    for address in ["127.0.0.1", "10.1.2.3", "::1", "not one", "8.8.8.8/x"] {
        let refused = call(server.url("/{ip}"), Some(address)).await;
        assert_eq!(refused.status, ToolStatus::FatalError);
        assert_eq!(refused.error_code, "TOOL_ARGUMENT_VALIDATION_FAILED", "{address}");
    }
    // Without a place for it, any address would be where this machine is.
    let refused = call(server.url("/own"), Some("8.8.8.8")).await;
    assert_eq!(refused.error_code, "SERVICE_NOT_CONFIGURED");
    assert!(refused.output.contains("{ip}"), "{refused:?}");
    let refused = call(String::new(), None).await;
    assert_eq!(refused.error_code, "SERVICE_NOT_CONFIGURED");
    assert!(refused.output.contains("tools.ip_location.endpoint"), "{refused:?}");
    assert_eq!(server.requests().len(), 0);
}

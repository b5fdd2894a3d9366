//! `agentctl status`.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::Role;
use agentd_shared::text::{human_bytes, human_duration};
use agentd_shared::{Client, Server};

use super::usage;
use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::{StatusView, UsageRowView};
use crate::look::{Look, prefixed_rows};

/// Shows how the daemon is.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.running_client().await?;
    let status = fetch(&client).await?;
    if args.json {
        let today = usage::today_row(&client).await;
        let mut view = StatusView::from(&status);
        view.context = app.server().and_then(|server| server.context.as_deref());
        view.server = app.server().map(Server::url);
        view.today = today.as_ref().map(UsageRowView::from);
        app.output.json(&view)?;
    } else {
        if let Some(server) = app.server() {
            let name = server.context.as_deref().unwrap_or("none");
            app.output.foreign_line(&format!("context   {name} ({})", server.url()))?;
        }
        let width = app.output.is_terminal().then(|| Size::detect().text_width());
        let today = usage::today_line(&client).await;
        for line in lines(&status, today.as_deref(), width) {
            app.output.foreign_line(&line)?;
        }
    }
    Ok(Exit::Ok)
}

/// Asks the daemon.
///
/// # Errors
/// A report when it refuses.
pub(crate) async fn fetch(client: &Client) -> Result<v1::GetStatusResponse, Failure> {
    let answer = client.admin().get_status(v1::GetStatusRequest {}).await;
    answer
        .map(tonic::Response::into_inner)
        .map_err(|status| rpc_failure("cannot ask the daemon for its status", status))
}

/// The state as lines for people. They hold foreign text.
pub(crate) fn lines(
    status: &v1::GetStatusResponse,
    today: Option<&str>,
    width: Option<usize>,
) -> Vec<String> {
    let started = u64::try_from(status.started_at_ms).unwrap_or(0);
    let up = human_duration(Duration::from_millis(now_ms().saturating_sub(started)));
    let config = match status.config_file.as_str() {
        "" => "none (built-in defaults)",
        file => file,
    };
    let look = Look { width: width.unwrap_or(usize::MAX), colored: false };
    let rows = |label: &str, text: &str| {
        prefixed_rows(text, Role::Plain, format!("{label:<10}").as_str(), look)
    };
    let mut lines = vec![
        format!("daemon    {} (pid {}), up {up}", status.version, status.pid),
        format!("socket    {}", status.socket),
        format!("data      {}", status.data_dir),
        format!("config    {config}"),
    ];
    if let Some(provider) = &status.provider {
        let place = match provider.base_url.as_str() {
            "" => String::new(),
            url => format!(" at {url}"),
        };
        lines.extend(rows("provider", &format!("{}{place} ({})", provider.kind, provider.source)));
        lines.push(format!("model     {}", provider.model));
    }
    lines.push(format!(
        "sessions  {} live, {} running, {} attached",
        status.live_sessions,
        counted(status.running_turns.into(), "turn"),
        counted(status.attached_clients.into(), "terminal")
    ));
    if status.running_turns_limit > 0 {
        let queue = format!(
            "{} waiting; {} of {} running, {} waiting for a place",
            counted(status.queued_messages.into(), "message"),
            status.running_turns,
            counted(status.running_turns_limit.into(), "turn"),
            status.waiting_turns,
        );
        lines.extend(rows("queue", &queue));
    }
    // The offline engine has no address, and there is nothing to tell of it.
    let endpoints = status.endpoints.iter().filter(|endpoint| !endpoint.base_url.is_empty());
    lines.extend(endpoints.flat_map(|it| rows("endpoint", &endpoint(it))));
    lines.extend(today.into_iter().flat_map(|used| rows("today", used)));
    let free = match status.free_disk_bytes {
        0 => String::new(),
        free => format!(", {} free on the disk", human_bytes(free)),
    };
    lines.push(format!("store     {}{free}", human_bytes(status.store_bytes)));
    if let Some(sandbox) = &status.sandbox {
        lines.extend(rows("sandbox", &super::sandbox::summary(sandbox)));
    }
    if !status.listen_addresses.is_empty() {
        lines.push(format!("remote    {}", status.listen_addresses.join(", ")));
    }
    if status.resident_bytes > 0 {
        lines.push(format!("memory    {}", human_bytes(status.resident_bytes)));
    }
    for warning in &status.warnings {
        lines.extend(rows("warning", warning));
    }
    if !status.warnings.is_empty() {
        lines.extend(rows("", "`agentctl doctor` says what to do"));
    }
    lines
}

/// What an endpoint is doing.
fn endpoint(endpoint: &v1::EndpointStatus) -> String {
    let circuit = match endpoint.circuit() {
        v1::CircuitState::Unspecified | v1::CircuitState::Closed => "",
        v1::CircuitState::Open => "; failed too often and is left alone for a while",
        v1::CircuitState::HalfOpen => "; the next request tries whether it is well again",
    };
    format!(
        "{}: {} under way, {} waiting{circuit}",
        endpoint.base_url,
        counted(endpoint.requests.into(), "request"),
        endpoint.waiting_requests
    )
}

/// A number with what it counts, such as "1 turn" or "2 turns".
fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_warnings_read_well() {
        let status = v1::GetStatusResponse {
            running_turns: 1,
            attached_clients: 2,
            queued_messages: 3,
            running_turns_limit: 16,
            waiting_turns: 2,
            endpoints: vec![
                v1::EndpointStatus::default(),
                v1::EndpointStatus {
                    base_url: "http://m".into(),
                    circuit: v1::CircuitState::Open.into(),
                    requests: 1,
                    waiting_requests: 4,
                },
            ],
            warnings: vec!["the provider cannot be reached: connection refused".into()],
            ..Default::default()
        };
        let shown = lines(&status, Some("$0.12"), None).join("\n");
        assert!(shown.contains("\ntoday     $0.12\n"), "{shown}");
        assert!(shown.contains("0 live, 1 turn running, 2 terminals attached"), "{shown}");
        let queue = "queue     3 messages waiting; 1 of 16 turns running, 2 waiting for a place";
        assert!(shown.contains(queue), "{shown}");
        let busy = "http://m: 1 request under way, 4 waiting; failed too often";
        assert!(shown.contains(busy), "{shown}");
        assert_eq!(shown.matches("endpoint ").count(), 1, "one has no address: {shown}");
        let warning = "\nwarning   the provider cannot be reached: connection refused\n";
        assert!(shown.contains(warning), "{shown}");

        let narrow = lines(&status, Some("$0.12"), Some(40));
        let shown = narrow.join("\n");
        let broken = "warning   the provider cannot be\n          reached: connection refused\n\
                      \x20         `agentctl doctor` says what to\n          do";
        assert!(shown.ends_with(broken), "{shown}");
        let wide = |line: &&String| line.chars().count() > 40 && !line.starts_with("sessions");
        assert_eq!(narrow.iter().find(wide), None);
    }
}

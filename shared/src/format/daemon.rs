//! How the daemon is.

use std::time::Duration;

use agentd_proto::v1;

use super::Role;
use super::facts::Fact;
use crate::client_ids::now_ms;
use crate::text::{human_bytes, human_duration};

/// Columns of a label, with the space behind it.
pub const LABEL_WIDTH: usize = 10;

/// How the daemon is, a fact each. `today` is what was used today, where that is known.
pub fn status(status: &v1::GetStatusResponse, today: Option<&str>) -> Vec<Fact> {
    let started = u64::try_from(status.started_at_ms).unwrap_or(0);
    let up = human_duration(Duration::from_millis(now_ms().saturating_sub(started)));
    let config = match status.config_file.as_str() {
        "" => "none (built-in defaults)",
        file => file,
    };
    let mut facts = vec![
        Fact::new("daemon", format!("{} (pid {}), up {up}", status.version, status.pid)),
        Fact::new("socket", &*status.socket),
        Fact::new("data", &*status.data_dir),
        Fact::new("config", config),
    ];
    if let Some(provider) = &status.provider {
        let place = match provider.base_url.as_str() {
            "" => String::new(),
            url => format!(" at {url}"),
        };
        let text = format!("{}{place} ({})", provider.kind, provider.source);
        facts.push(Fact::new("provider", text));
        facts.push(Fact::new("model", &*provider.model));
    }
    let sessions = format!(
        "{} live, {} running, {} attached",
        status.live_sessions,
        counted(status.running_turns.into(), "turn"),
        counted(status.attached_clients.into(), "terminal")
    );
    facts.push(Fact::new("sessions", sessions));
    if status.running_turns_limit > 0 {
        let queue = format!(
            "{} waiting; {} of {} running, {} waiting for a place",
            counted(status.queued_messages.into(), "message"),
            status.running_turns,
            counted(status.running_turns_limit.into(), "turn"),
            status.waiting_turns,
        );
        facts.push(Fact::new("queue", queue));
    }
    // The offline engine has no address, and there is nothing to tell of it.
    let endpoints = status.endpoints.iter().filter(|endpoint| !endpoint.base_url.is_empty());
    facts.extend(endpoints.map(|it| Fact::new("endpoint", endpoint(it))));
    facts.extend(today.map(|used| Fact::new("today", used)));
    let free = match status.free_disk_bytes {
        0 => String::new(),
        free => format!(", {} free on the disk", human_bytes(free)),
    };
    facts.push(Fact::new("store", format!("{}{free}", human_bytes(status.store_bytes))));
    facts.extend(status.sandbox.as_ref().map(sandbox));
    if !status.listen_addresses.is_empty() {
        facts.push(Fact::new("remote", status.listen_addresses.join(", ")));
    }
    if status.resident_bytes > 0 {
        facts.push(Fact::new("memory", human_bytes(status.resident_bytes)));
    }
    let warnings = status.warnings.iter();
    facts.extend(warnings.map(|text| Fact::new("warning", &**text).with_role(Role::Warn)));
    if !status.warnings.is_empty() {
        facts.push(Fact::unlabelled(Role::Dim, "`agentctl doctor` says what to do"));
    }
    facts
}

/// What shuts commands in, and why.
pub fn sandbox(sandbox: &v1::SandboxStatus) -> Fact {
    let v1::SandboxStatus { state: _, backend, reason, limits: _ } = sandbox;
    let (text, role) = match sandbox.state() {
        v1::SandboxState::InForce => (format!("{backend} ({reason})"), Role::Plain),
        v1::SandboxState::Open => {
            (format!("NONE: nothing shuts commands in ({reason})"), Role::Warn)
        }
        v1::SandboxState::Refused => (format!("no commands are run: {reason}"), Role::Warn),
        v1::SandboxState::Unknown | v1::SandboxState::Absent | v1::SandboxState::Unspecified => {
            (reason.clone(), Role::Plain)
        }
    };
    Fact::new("sandbox", text).with_role(role)
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
        let told = status(
            &v1::GetStatusResponse {
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
                warnings: vec!["the disk is full".into()],
                ..Default::default()
            },
            Some("$0.12"),
        );
        let check = |label: &str, expect: &[&str]| {
            let facts = told.iter().filter(|fact| fact.label == label);
            assert_eq!(facts.map(|fact| &*fact.text).collect::<Vec<_>>(), expect, "{label}");
        };
        check("sessions", &["0 live, 1 turn running, 2 terminals attached"]);
        check("queue", &["3 messages waiting; 1 of 16 turns running, 2 waiting for a place"]);
        // One has no address.
        check(
            "endpoint",
            &[
                "http://m: 1 request under way, 4 waiting; failed too often and is left alone for a while",
            ],
        );
        check("today", &["$0.12"]);
        check("config", &["none (built-in defaults)"]);
        check("warning", &["the disk is full"]);
        check("", &["`agentctl doctor` says what to do"]);
        let warning = told.iter().find(|fact| fact.label == "warning").unwrap();
        assert_eq!((warning.role, &*warning.padded_label(LABEL_WIDTH)), (Role::Warn, "warning   "));
    }
}

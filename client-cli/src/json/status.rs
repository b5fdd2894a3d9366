//! Views of the daemon's state.

use agentd_proto::v1;
use serde::Serialize;

use super::sandbox::SandboxView;
use super::usage::UsageRowView;

/// The daemon's state.
#[derive(Debug, Serialize)]
pub(crate) struct StatusView<'a> {
    /// What the user calls the daemon; `null` on this machine or by its URL.
    pub(crate) context: Option<&'a str>,
    /// Its URL; `null` on this machine.
    pub(crate) server: Option<String>,
    /// What requests used today (UTC); `null` when the daemon does not tell.
    pub(crate) today: Option<UsageRowView<'a>>,
    version: &'a str,
    pid: u32,
    started_at_ms: i64,
    socket: &'a str,
    data_dir: &'a str,
    config_file: &'a str,
    provider: Option<ProviderView<'a>>,
    live_sessions: u32,
    running_turns: u32,
    attached_clients: u32,
    store_bytes: u64,
    resident_bytes: u64,
    free_disk_bytes: u64,
    queued_messages: u32,
    waiting_turns: u32,
    running_turns_limit: u32,
    connections: u32,
    listen_addresses: &'a [String],
    endpoints: Vec<EndpointView<'a>>,
    sandbox: Option<SandboxView<'a>>,
    warnings: &'a [String],
}

#[derive(Debug, Serialize)]
struct EndpointView<'a> {
    base_url: &'a str,
    circuit: String,
    requests: u32,
    waiting_requests: u32,
}

impl<'a> From<&'a v1::EndpointStatus> for EndpointView<'a> {
    fn from(endpoint: &'a v1::EndpointStatus) -> Self {
        let v1::EndpointStatus { base_url, circuit, requests, waiting_requests } = endpoint;
        Self {
            base_url,
            circuit: super::circuit_state(*circuit),
            requests: *requests,
            waiting_requests: *waiting_requests,
        }
    }
}

/// Who answers.
#[derive(Debug, Serialize)]
pub(crate) struct ProviderView<'a> {
    kind: &'a str,
    base_url: &'a str,
    model: &'a str,
    source: &'a str,
    models: &'a [String],
}

impl<'a> From<&'a v1::GetStatusResponse> for StatusView<'a> {
    fn from(status: &'a v1::GetStatusResponse) -> Self {
        let v1::GetStatusResponse {
            version,
            pid,
            started_at_ms,
            socket,
            data_dir,
            config_file,
            provider,
            live_sessions,
            running_turns,
            attached_clients,
            store_bytes,
            resident_bytes,
            warnings,
            free_disk_bytes,
            queued_messages,
            waiting_turns,
            running_turns_limit,
            endpoints,
            listen_addresses,
            connections,
            sandbox,
        } = status;
        Self {
            context: None,
            server: None,
            today: None,
            version,
            pid: *pid,
            started_at_ms: *started_at_ms,
            socket,
            data_dir,
            config_file,
            provider: provider.as_ref().map(ProviderView::from),
            live_sessions: *live_sessions,
            running_turns: *running_turns,
            attached_clients: *attached_clients,
            store_bytes: *store_bytes,
            resident_bytes: *resident_bytes,
            free_disk_bytes: *free_disk_bytes,
            queued_messages: *queued_messages,
            waiting_turns: *waiting_turns,
            running_turns_limit: *running_turns_limit,
            connections: *connections,
            listen_addresses,
            endpoints: endpoints.iter().map(EndpointView::from).collect(),
            sandbox: sandbox.as_ref().map(SandboxView::from),
            warnings,
        }
    }
}

impl<'a> From<&'a v1::ProviderStatus> for ProviderView<'a> {
    fn from(provider: &'a v1::ProviderStatus) -> Self {
        let v1::ProviderStatus { kind, base_url, model, source, models } = provider;
        Self { kind, base_url, model, source, models }
    }
}

/// Versions of both sides.
#[derive(Debug, Serialize)]
pub(crate) struct VersionView<'a> {
    /// Version of `agentctl`.
    pub(crate) agentctl: &'a str,
    /// Version of the running daemon; `null` when none runs.
    pub(crate) agentd: Option<&'a str>,
}

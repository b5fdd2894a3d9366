//! Says how the daemon is.

use agentd_proto::v1;
use tonic::Status;

use crate::checks;
use crate::control::ProcessFacts;
use crate::grpc::{Context, to_proto};
use crate::process;
use crate::provider::ProviderReport;

/// An address without a token is a door without a key.
const NO_TOKEN: &str =
    "remote clients cannot come in: there is no token; make one with `agentctl token create NAME`";

pub(super) async fn handle(ctx: &Context) -> Result<v1::GetStatusResponse, Status> {
    let stats = ctx.engine.stats();
    let mut warnings: Vec<String> =
        ctx.control.warnings().into_iter().map(|warning| warning.text).collect();
    let (store_bytes, free_disk_bytes) = match ctx.engine.store().stats().await {
        Ok(stats) => (stats.bytes_on_disk, stats.free_bytes.unwrap_or(0)),
        Err(error) => {
            warnings.push(format!("the size of the store is not known: {error}"));
            (0, 0)
        }
    };
    let tls_failure = ctx.remote.tls.as_ref().and_then(|tls| tls.failure());
    warnings.extend(
        tls_failure.map(|failure| {
            format!("the certificate was read again and is not in force: {failure}")
        }),
    );
    if ctx.remote.is_wanted && ctx.remote.tokens.list().is_empty() {
        warnings.push(NO_TOKEN.to_owned());
    }
    let known = ctx.programs.as_ref().map(|programs| programs.known());
    warnings.extend(known.as_ref().and_then(checks::sandbox_warning));
    let ProviderReport { kind, base_url, model, source, models, problem } =
        ctx.models.report().await;
    warnings.extend(problem.map(|problem| format!("the model cannot be asked now: {problem}")));
    let ProcessFacts { started_at_ms, socket, data_dir, supervision: _ } = ctx.control.facts();
    let config_file = ctx.control.config_file();
    Ok(v1::GetStatusResponse {
        queued_messages: u32::try_from(stats.queued_messages).unwrap_or(u32::MAX),
        running_turns_limit: to_proto::small(stats.running_turns_limit),
        waiting_turns: to_proto::small(stats.waiting_turns),
        connections: to_proto::small(ctx.local_connections.get() + ctx.remote.connections.count()),
        endpoints: ctx.models.endpoints().into_iter().map(to_proto::endpoint).collect(),
        listen_addresses: ctx.remote.addresses().iter().map(ToString::to_string).collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        started_at_ms: *started_at_ms,
        socket: socket.display().to_string(),
        data_dir: data_dir.display().to_string(),
        config_file: config_file.map(|file| file.display().to_string()).unwrap_or_default(),
        provider: Some(v1::ProviderStatus { kind, base_url, model, source, models }),
        live_sessions: to_proto::small(stats.live_sessions),
        running_turns: to_proto::small(stats.running_turns),
        attached_clients: u32::try_from(stats.attached_clients).unwrap_or(u32::MAX),
        store_bytes,
        resident_bytes: process::resident_bytes(),
        warnings,
        free_disk_bytes,
        sandbox: Some(to_proto::sandbox(ctx.programs.as_deref())),
    })
}

//! What is read when somebody asks: how much there is now.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use agentd_engine::Engine;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::Metrics;
use crate::process;

/// Where the figures come from.
#[derive(Debug, Clone)]
pub(crate) struct Gauges {
    pub(crate) engine: Engine,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) started_at_ms: i64,
}

impl Gauges {
    /// Everything, in the text format of OpenMetrics.
    pub(super) async fn encode(&self) -> String {
        let mut registry = Registry::with_prefix("agentd");
        self.metrics.register(&mut registry);
        let stats = self.engine.stats();
        // Counted by the engine since the start, hence read here; the text format adds `_total`.
        let prefix_breaks = Counter::<u64>::default();
        prefix_breaks.inc_by(stats.prefix_breaks);
        registry.register(
            "prompt_prefix_breaks",
            "Requests that broke their session's cached prefix without a reason",
            prefix_breaks,
        );
        let mut gauge = |name: &str, help: &str, value: u64| {
            let gauge = Gauge::<u64, AtomicU64>::default();
            gauge.set(value);
            registry.register(name, help, gauge);
        };
        let size = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        gauge("sessions_live", "Sessions with an actor", size(stats.live_sessions));
        gauge("turns_running", "Turns that have a place to run", size(stats.running_turns));
        gauge("turns_waiting", "Turns that wait for a place", size(stats.waiting_turns));
        gauge("messages_queued", "Messages that wait for their turn", stats.queued_messages);
        gauge("terminals_attached", "Attached terminals", stats.attached_clients);
        gauge("open_descriptors", "Open file descriptors", process::open_descriptors());
        let started = u64::try_from(self.started_at_ms / 1000).unwrap_or(0);
        gauge("start_time_seconds", "Unix time of the start", started);
        let mut bytes = |name: &str, help: &str, value: u64| {
            let gauge = Gauge::<u64, AtomicU64>::default();
            gauge.set(value);
            registry.register_with_unit(name, help, Unit::Bytes, gauge);
        };
        bytes("resident_memory", "Resident memory", process::resident_bytes());
        // What is not known now has no figure rather than a wrong one.
        if let Ok(store) = self.engine.store().stats().await {
            bytes("store_size", "Size of the store on disk", store.bytes_on_disk);
            if let Some(free) = store.free_bytes {
                bytes("disk_free", "Free space on the disk of the store", free);
            }
        }
        let mut text = String::new();
        if let Err(error) = prometheus_client::encoding::text::encode(&mut text, &registry) {
            tracing::error!(%error, "the figures cannot be written");
        }
        text
    }
}

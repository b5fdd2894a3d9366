//! Things that somebody should look at, and what they are about.

/// What a warning is about. Standing warnings are shown in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// The configuration.
    Config,
    /// What the store holds: damage, loss, what was salvaged.
    Store,
    /// Copies of the store.
    Backups,
    /// Sessions that were to go on.
    Sessions,
    /// Sessions that are being imported.
    Imports,
    /// What time does to memories.
    Memories,
    /// Where clients on other machines are served.
    Remote,
    /// Who may come in from other machines.
    Tokens,
    /// Figures for Prometheus.
    Metrics,
    /// Traces for OpenTelemetry.
    Traces,
}

/// Something that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub topic: Topic,
    /// For people: what is wrong, and what to do about it.
    pub text: String,
}

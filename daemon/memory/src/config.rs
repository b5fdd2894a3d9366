//! Every threshold of memory, by name. The values of the specification are the defaults.

/// How memories age (spec b.3). Times are in days.
#[derive(Debug, Clone, PartialEq)]
pub struct DecayConfig {
    /// A critical memory becomes a high one after this long in its tier (spec: 30).
    pub critical_days: f64,
    /// A high one becomes a medium one (spec: 60).
    pub high_days: f64,
    /// A medium one becomes a low one (spec: 90).
    pub medium_days: f64,
    /// A low one fades: it is no longer told. 0: never.
    pub low_days: f64,
    /// Stability of a memory that was never used: after this long retention is 1/e.
    pub stability_days: f64,
    /// How much a use adds to stability: this share of it when the memory was nearly forgotten,
    /// nothing when it was fresh. 0: uses change nothing.
    pub use_gain: f64,
    /// Where stability ends to grow.
    pub max_stability_days: f64,
}

impl Default for DecayConfig {
    fn default() -> Self {
        Self {
            critical_days: 30.0,
            high_days: 60.0,
            medium_days: 90.0,
            low_days: 180.0,
            stability_days: 30.0,
            use_gain: 1.0,
            max_stability_days: 360.0,
        }
    }
}

/// What is told of memories when a turn begins (spec b.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectConfig {
    /// Most memories (spec: 30).
    pub max: usize,
    /// Most critical ones among them, the newest first (spec: 10).
    pub max_critical: usize,
    /// High ones that come in whatever their score (spec: 3).
    pub min_high: usize,
    /// Medium ones (spec: 2).
    pub min_medium: usize,
    /// Low ones (spec: 1).
    pub min_low: usize,
    /// Most bytes of their contents together.
    pub max_bytes: usize,
}

impl Default for SelectConfig {
    fn default() -> Self {
        Self {
            max: 30,
            max_critical: 10,
            min_high: 3,
            min_medium: 2,
            min_low: 1,
            max_bytes: 8 * 1024,
        }
    }
}

/// Limits and thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryConfig {
    /// Most active memories of all scopes together. More are refused on every path.
    pub max_active: usize,
    /// Most active critical memories of a scope; a further one pushes out the oldest (spec b.7: 15).
    pub max_critical: usize,
    /// Texts of a scope that share this much of their words are one memory: Jaccard, times 1.1 in the
    /// same category (spec b.6, whose 0.3 merges what is unrelated).
    pub merge_similarity: f64,
    /// Texts of a scope and category whose vectors have this cosine are one memory, too (spec b.6: 0.92),
    /// if they name the same things and numbers.
    pub merge_nearness: f64,
    /// Changes kept for looking back and undoing.
    pub max_changes: usize,
    /// Days for which what holds no longer is kept as history; 0: for ever.
    pub keep_history_days: u32,
    /// Days after which what waits for a user ends; 0: never.
    pub quarantine_days: u32,
    /// See [`DecayConfig`].
    pub decay: DecayConfig,
    /// See [`SelectConfig`].
    pub select: SelectConfig,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            max_active: 10_000,
            max_critical: 15,
            merge_similarity: 0.6,
            merge_nearness: 0.92,
            max_changes: 1000,
            keep_history_days: 180,
            quarantine_days: 30,
            decay: DecayConfig::default(),
            select: SelectConfig::default(),
        }
    }
}

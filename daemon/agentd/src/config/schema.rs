//! All keys with their defaults. Units are in the names.

use std::net::SocketAddr;
use std::time::Duration;

use agentd_engine::{AutoResume, EngineConfig, FailureLimits, TitlePolicy};
use serde::{Deserialize, Serialize};

use super::BudgetConfig;
use super::context::ContextSettings;
use super::memory::MemorySettings;
use super::otel::OtelConfig;
use super::permission::PermissionConfig;
use super::roles::{Endpoints, OwnModels, RolesConfig};
use super::sandbox::SandboxConfig;
use super::search::HistorySearchConfig;
use super::submit::SubmitConfig;
use super::tools::ToolsConfig;

/// The whole configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Which model answers.
    pub provider: ProviderConfig,
    /// How sessions behave.
    pub session: SessionConfig,
    /// What agents may do without asking.
    pub permission: PermissionConfig,
    /// What programs that agents run are shut in by.
    pub sandbox: SandboxConfig,
    /// How messages come in.
    pub submit: SubmitConfig,
    /// What may be used before requests are refused.
    pub budget: BudgetConfig,
    /// Where and how logs are stored.
    pub store: StoreConfig,
    /// What is logged.
    pub log: LogConfig,
    /// The process itself.
    pub daemon: DaemonConfig,
    /// Clients on other machines.
    pub remote: RemoteConfig,
    /// Further endpoints, by name.
    pub endpoints: Endpoints,
    /// Which model has which role.
    pub roles: RolesConfig,
    /// What is known of models beyond the catalogue, by name.
    pub models: OwnModels,
    /// Figures for Prometheus.
    pub metrics: MetricsConfig,
    /// Traces for OpenTelemetry.
    pub otel: OtelConfig,
    /// What tools may reach.
    pub tools: ToolsConfig,
    /// What is remembered.
    pub memory: MemorySettings,
    /// How much of what was said is searched.
    pub search: HistorySearchConfig,
    /// What requests are made of.
    pub context: ContextSettings,
}

/// `[provider]`: which model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderConfig {
    /// Which kind of endpoint, or how to find one.
    pub kind: ProviderKind,
    /// Base URL up to and including `/v1`; empty: the kind's usual one.
    pub base_url: String,
    /// Default model; empty: the kind's usual one, or the first that a local server offers.
    pub model: String,
    /// Model for titles; empty: the default model.
    pub cheap_model: String,
    /// Environment variable that holds the key; empty: the usual one of the provider whose host it is.
    pub api_key_env: String,
    /// File with the key and nothing else, mode 0600; empty: none.
    pub api_key_file: String,
    /// Tokens that a request and its answer may have together; 0: what is known of the model, or 32768.
    pub context_tokens: u64,
    /// Most tokens of an answer; 0 leaves it to the provider.
    pub max_output_tokens: u32,
    /// Longest wait for a connection.
    pub connect_timeout_ms: u64,
    /// Longest wait for the first byte of an answer.
    pub first_byte_timeout_ms: u64,
    /// Longest silence inside an answer.
    pub idle_timeout_ms: u64,
    /// Most attempts at one request, the first included; 1 to 10.
    pub max_attempts: u32,
    /// Wait before the second attempt; it doubles each time, with jitter.
    pub retry_base_ms: u64,
    /// Longest wait between attempts, also when the provider asks for more.
    pub retry_max_ms: u64,
    /// Most requests to one endpoint at once; the others wait in order.
    pub max_concurrent_requests: u32,
    /// Most requests to one endpoint a minute; 0: no limit.
    pub requests_per_minute: u32,
    /// Failures in a row after which an endpoint is left alone for a while; 0: never.
    pub breaker_failures: u32,
    /// How long it is left alone.
    pub breaker_pause_ms: u64,
    /// Where `kind = "auto"` looks for a local server: Ollama and llama.cpp.
    pub local_servers: Vec<String>,
}

impl Default for ProviderConfig {
    fn default() -> Self {
        Self {
            kind: ProviderKind::Auto,
            base_url: String::new(),
            model: String::new(),
            cheap_model: String::new(),
            api_key_env: String::new(),
            api_key_file: String::new(),
            context_tokens: 0,
            max_output_tokens: 0,
            connect_timeout_ms: 10_000,
            first_byte_timeout_ms: 120_000,
            idle_timeout_ms: 120_000,
            max_attempts: 3,
            retry_base_ms: 500,
            retry_max_ms: 30_000,
            max_concurrent_requests: 16,
            requests_per_minute: 0,
            breaker_failures: 5,
            breaker_pause_ms: 30_000,
            local_servers: vec!["127.0.0.1:11434".to_owned(), "127.0.0.1:8080".to_owned()],
        }
    }
}

/// Which kind of endpoint answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// `base_url` if set, else the environment, else a local server, else offline.
    #[default]
    Auto,
    /// Any OpenAI-compatible endpoint.
    OpenAi,
    /// Any endpoint of OpenAI's Responses API.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// api.deepseek.com.
    DeepSeek,
    /// api.anthropic.com, or any endpoint of the Messages API.
    Anthropic,
    /// openrouter.ai.
    OpenRouter,
    /// A local Ollama.
    Ollama,
    /// A local vLLM.
    Vllm,
    /// A local llama.cpp server.
    LlamaCpp,
    /// The built-in engine that needs no model.
    Offline,
}

/// `[session]`: how sessions behave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionConfig {
    /// What happens to a turn that was running when the daemon stopped.
    pub auto_resume: ResumeSetting,
    /// Model rounds of a turn before users are asked whether to go on; 1 to 200.
    pub rounds_limit: u32,
    /// Calls of a turn that may fail for a passing reason before they count as `replans_limit` says.
    pub retries_limit: u32,
    /// How often nothing may come of a turn's calls before the model has to answer without tools.
    pub replans_limit: u32,
    /// Most turns that run at once in the whole daemon; the others wait by priority, then by age.
    pub running_turns_limit: u32,
    /// Most messages waiting in one session.
    pub queue_limit: u32,
    /// A session without terminals and turns leaves memory after this time.
    pub idle_unload_ms: u64,
    /// Where automatic titles come from.
    pub titles: TitleSetting,
    /// A turn that takes longer is reported in the log when it ends; 0: none is.
    pub slow_turn_ms: u64,
}

/// `session.auto_resume`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResumeSetting {
    /// A question goes to the session's terminals.
    #[default]
    Ask,
    /// It goes on by itself.
    Always,
    /// It is closed as interrupted.
    Never,
}

/// `session.titles`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleSetting {
    /// The cheap model writes one after the first turn.
    #[default]
    Model,
    /// The first message, cut.
    FirstMessage,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            auto_resume: ResumeSetting::Ask,
            rounds_limit: 30,
            retries_limit: 3,
            replans_limit: 5,
            running_turns_limit: 16,
            queue_limit: 100,
            idle_unload_ms: 600_000,
            titles: TitleSetting::Model,
            slow_turn_ms: 60_000,
        }
    }
}

/// `[store]`: where and how logs are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoreConfig {
    /// Memory for cached pages.
    pub cache_bytes: u64,
    /// Also survive a power cut, not only a crash of the process.
    pub fsync: bool,
    /// How often the daemon copies the store by itself, when something has changed; 0: never.
    pub backup_interval_ms: u64,
    /// How many of these copies stay; 1 to 1,000.
    pub backup_keep: u32,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            cache_bytes: 8 * 1024 * 1024,
            fsync: true,
            backup_interval_ms: 3_600_000,
            backup_keep: 7,
        }
    }
}

/// `[log]`: what is logged, to standard error or the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives such as `info,agentd_engine=debug`.
    pub level: String,
    /// How lines look.
    pub format: LogFormat,
}

/// `log.format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// The journal when standard error is connected to it, as systemd does; else for people.
    #[default]
    Auto,
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
    /// To systemd's journal, with fields.
    Journald,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::Auto }
    }
}

/// `[daemon]`: the process itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DaemonConfig {
    /// An orderly stop takes at most this long.
    pub shutdown_timeout_ms: u64,
    /// A connection is asked for a sign of life this often, and closed when none comes for as long.
    pub keepalive_ms: u64,
    /// Whom a socket that systemd made lets in.
    pub socket_access: SocketAccess,
}

/// `daemon.socket_access`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SocketAccess {
    /// The daemon's own user and root.
    #[default]
    User,
    /// Whoever may connect by the owner, group and mode of a socket that systemd made, which the
    /// kernel checks. They act with all rights of the daemon's user.
    Group,
}

impl Default for DaemonConfig {
    fn default() -> Self {
        Self {
            shutdown_timeout_ms: 10_000,
            keepalive_ms: 30_000,
            socket_access: SocketAccess::User,
        }
    }
}

/// `[metrics]`: figures for Prometheus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MetricsConfig {
    /// Loopback address and port that hands them out over HTTP; empty: none.
    pub listen: String,
}

impl MetricsConfig {
    /// The address; none when there is to be none.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listen.parse().ok()
    }
}

/// `[remote]`: clients on other machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteConfig {
    /// Addresses with ports to listen on; none: the socket only.
    pub listen: Vec<String>,
    /// PEM file with the certificate that clients are shown, and those between it and its CA.
    pub tls_cert: String,
    /// PEM file with its private key, mode 0600, or `${CREDENTIALS_DIRECTORY}/NAME`: a credential of
    /// systemd.
    pub tls_key: String,
    /// PEM file with the CA that clients must have a certificate of; empty: a token is enough.
    pub client_ca: String,
    /// A loopback address may do without TLS, as behind a proxy or in an SSH tunnel.
    pub insecure_loopback: bool,
    /// A connection on which nothing is asked for this long is closed.
    pub idle_timeout_ms: u64,
    /// A connection is asked for a sign of life this often, and closed when none comes for as long.
    pub keepalive_ms: u64,
    /// Most connections at once.
    pub max_connections: u32,
    /// Most connections at once from one address.
    pub max_connections_per_ip: u32,
}

impl Default for RemoteConfig {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            tls_cert: String::new(),
            tls_key: String::new(),
            client_ca: String::new(),
            insecure_loopback: false,
            idle_timeout_ms: 900_000,
            keepalive_ms: 30_000,
            max_connections: 256,
            max_connections_per_ip: 32,
        }
    }
}

impl RemoteConfig {
    /// True when connections are encrypted.
    pub(crate) fn has_tls(&self) -> bool {
        !self.tls_cert.is_empty() && !self.tls_key.is_empty()
    }

    /// Refuses whatever would let somebody in unseen.
    fn check(&self) -> Result<(), BadValue> {
        let bad = |key: &str, problem: String| Err(BadValue { key: key.to_owned(), problem });
        let pair = [
            ("remote.tls_cert", &self.tls_cert, "remote.tls_key", &self.tls_key),
            ("remote.tls_key", &self.tls_key, "remote.tls_cert", &self.tls_cert),
        ];
        for (key, value, other, other_value) in pair {
            if value.is_empty() && !other_value.is_empty() {
                let problem = format!("it is empty although {other} is set; set both");
                return bad(key, problem);
            }
        }
        if !self.client_ca.is_empty() && !self.has_tls() {
            let problem = "without remote.tls_cert and remote.tls_key no client certificate is asked for; set them";
            return bad("remote.client_ca", problem.to_owned());
        }
        for text in &self.listen {
            let Ok(address) = text.parse::<SocketAddr>() else {
                let problem = format!(
                    "'{text}' is not an address with a port, such as 0.0.0.0:7443 or [::]:7443"
                );
                return bad("remote.listen", problem);
            };
            if self.has_tls() {
                continue;
            }
            if !address.ip().is_loopback() {
                let problem = format!(
                    "{address} can be reached from other machines, so it needs TLS; set remote.tls_cert and remote.tls_key (`agentd tls init` makes them)"
                );
                return bad("remote.listen", problem);
            }
            if !self.insecure_loopback {
                let problem = format!(
                    "{address} needs TLS; set remote.tls_cert and remote.tls_key (`agentd tls init` makes them), or remote.insecure_loopback = true for a tunnel or a proxy on this machine"
                );
                return bad("remote.listen", problem);
            }
        }
        Ok(())
    }
}

/// Why a value is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadValue {
    pub(super) key: String,
    pub(super) problem: String,
}

impl BadValue {
    pub(super) fn new(key: String, problem: String) -> Self {
        Self { key, problem }
    }
}

/// Checks that a number is within its limits.
pub(super) fn range(key: &str, value: u64, min: u64, max: u64) -> Result<(), BadValue> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(BadValue::new(key.to_owned(), format!("{value} is not between {min} and {max}")))
}

impl ProviderConfig {
    /// Checks ranges that types do not express. `section` is where it stands.
    pub(super) fn check(&self, section: &str) -> Result<(), BadValue> {
        let key = |key: &str| format!("{section}.{key}");
        if self.context_tokens > 0 {
            range(&key("context_tokens"), self.context_tokens, 1_024, 100_000_000)?;
        }
        for (name, value) in [
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("first_byte_timeout_ms", self.first_byte_timeout_ms),
            ("idle_timeout_ms", self.idle_timeout_ms),
        ] {
            range(&key(name), value, 10, 3_600_000)?;
        }
        range(&key("max_attempts"), self.max_attempts.into(), 1, 10)?;
        range(&key("retry_base_ms"), self.retry_base_ms, 1, 60_000)?;
        range(&key("retry_max_ms"), self.retry_max_ms, 1, 3_600_000)?;
        let at_once = self.max_concurrent_requests;
        range(&key("max_concurrent_requests"), at_once.into(), 1, 10_000)?;
        range(&key("requests_per_minute"), self.requests_per_minute.into(), 0, 1_000_000)?;
        range(&key("breaker_failures"), self.breaker_failures.into(), 0, 1_000)?;
        range(&key("breaker_pause_ms"), self.breaker_pause_ms, 10, 3_600_000)?;
        let base_url = &self.base_url;
        if !(base_url.is_empty()
            || base_url.starts_with("http://")
            || base_url.starts_with("https://"))
        {
            let problem = format!("'{base_url}' does not begin with http:// or https://");
            return Err(BadValue::new(key("base_url"), problem));
        }
        for server in &self.local_servers {
            if server.parse::<SocketAddr>().is_err() {
                let problem = format!("'{server}' is not an address with a port");
                return Err(BadValue::new(key("local_servers"), problem));
            }
        }
        Ok(())
    }
}

impl Config {
    /// Checks ranges that types do not express.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        range("session.rounds_limit", self.session.rounds_limit.into(), 1, 200)?;
        range("session.retries_limit", self.session.retries_limit.into(), 0, 200)?;
        range("session.replans_limit", self.session.replans_limit.into(), 0, 200)?;
        range("session.running_turns_limit", self.session.running_turns_limit.into(), 1, 10_000)?;
        range(
            "permission.approval_timeout_ms",
            self.permission.approval_timeout_ms,
            1000,
            604_800_000,
        )?;
        range("submit.per_client_per_second", self.submit.per_client_per_second.into(), 0, 10_000)?;
        range("submit.per_client_burst", self.submit.per_client_burst.into(), 1, 100_000)?;
        range("submit.in_flight", self.submit.in_flight.into(), 1, 100_000)?;
        range("submit.timeout_ms", self.submit.timeout_ms, 10, 3_600_000)?;
        range("submit.default_ttl_ms", self.submit.default_ttl_ms, 0, 31_536_000_000)?;
        range("session.queue_limit", self.session.queue_limit.into(), 1, 10_000)?;
        range("session.idle_unload_ms", self.session.idle_unload_ms, 100, 86_400_000)?;
        range("session.slow_turn_ms", self.session.slow_turn_ms, 0, 86_400_000)?;
        range("store.cache_bytes", self.store.cache_bytes, 1 << 20, 1 << 34)?;
        if self.store.backup_interval_ms != 0 {
            let interval_ms = self.store.backup_interval_ms;
            range("store.backup_interval_ms", interval_ms, 60_000, 31_536_000_000)?;
        }
        range("store.backup_keep", self.store.backup_keep.into(), 1, 1_000)?;
        range("daemon.shutdown_timeout_ms", self.daemon.shutdown_timeout_ms, 100, 600_000)?;
        range("daemon.keepalive_ms", self.daemon.keepalive_ms, 50, 3_600_000)?;
        let listen = &self.metrics.listen;
        let is_loopback = self.metrics.address().is_some_and(|address| address.ip().is_loopback());
        if !listen.is_empty() && !is_loopback {
            let problem = format!("'{listen}' is not a loopback address with a port");
            return Err(BadValue { key: "metrics.listen".into(), problem });
        }
        range("remote.idle_timeout_ms", self.remote.idle_timeout_ms, 100, 86_400_000)?;
        range("remote.keepalive_ms", self.remote.keepalive_ms, 50, 3_600_000)?;
        range("remote.max_connections", self.remote.max_connections.into(), 1, 100_000)?;
        range(
            "remote.max_connections_per_ip",
            self.remote.max_connections_per_ip.into(),
            1,
            100_000,
        )?;
        self.remote.check()?;
        if let Some((key, problem)) = self.budget.bad_amount() {
            return Err(BadValue::new(key.to_owned(), problem));
        }
        self.otel.check()?;
        self.permission.check()?;
        self.sandbox.check()?;
        self.tools.check()?;
        self.memory.check()?;
        self.search.check()?;
        self.context.check()?;
        self.check_embeddings()?;
        self.provider.check("provider")?;
        self.check_roles()
    }

    /// The engine's part.
    pub fn engine(&self) -> EngineConfig {
        let SessionConfig {
            auto_resume,
            rounds_limit,
            retries_limit,
            replans_limit,
            running_turns_limit,
            queue_limit,
            idle_unload_ms,
            titles,
            slow_turn_ms,
        } = &self.session;
        EngineConfig {
            auto_resume: match auto_resume {
                ResumeSetting::Ask => AutoResume::Ask,
                ResumeSetting::Always => AutoResume::Always,
                ResumeSetting::Never => AutoResume::Never,
            },
            rounds_limit: *rounds_limit,
            failures: FailureLimits { retries: *retries_limit, replans: *replans_limit },
            running_turns_limit: usize::try_from(*running_turns_limit).unwrap_or(usize::MAX),
            queue_limit: usize::try_from(*queue_limit).unwrap_or(usize::MAX),
            idle_unload: Duration::from_millis(*idle_unload_ms),
            titles: match titles {
                TitleSetting::Model => TitlePolicy::Model,
                TitleSetting::FirstMessage => TitlePolicy::FirstMessage,
            },
            budget: self.budget.engine(),
            slow_turn: Duration::from_millis(*slow_turn_ms),
            permission_mode: self.permission.mode,
            rules: self.permission.engine_rules().into(),
            approval_timeout: Duration::from_millis(self.permission.approval_timeout_ms),
            extract_after: Some(self.memory.extract_after_ms)
                .filter(|after_ms| *after_ms > 0)
                .map(Duration::from_millis),
            context: self.context.engine(),
            project_documents: self.context.project_documents.clone().into(),
            project_document_bytes: usize::try_from(self.context.project_document_bytes)
                .unwrap_or(usize::MAX),
            summary_timeout: Duration::from_millis(self.context.summary_timeout_ms),
            consolidate_every: Some(self.memory.consolidate_every_ms)
                .filter(|every_ms| *every_ms > 0)
                .map(Duration::from_millis),
            extract_turns: u32::try_from(self.memory.extract_turns).unwrap_or(u32::MAX),
            history: self.search.history(),
            ..EngineConfig::default()
        }
    }

    /// Keys whose change needs a restart.
    pub fn needs_restart(&self, new: &Self) -> Vec<String> {
        let mut keys = Vec::new();
        if self.store.cache_bytes != new.store.cache_bytes {
            keys.push("store.cache_bytes".to_owned());
        }
        if self.store.fsync != new.store.fsync {
            keys.push("store.fsync".to_owned());
        }
        if self.daemon.keepalive_ms != new.daemon.keepalive_ms {
            keys.push("daemon.keepalive_ms".to_owned());
        }
        if self.daemon.socket_access != new.daemon.socket_access {
            keys.push("daemon.socket_access".to_owned());
        }
        if self.metrics.listen != new.metrics.listen {
            keys.push("metrics.listen".to_owned());
        }
        if self.otel.endpoint != new.otel.endpoint {
            keys.push("otel.endpoint".to_owned());
        }
        if self.otel.sample_ratio.total_cmp(&new.otel.sample_ratio).is_ne() {
            keys.push("otel.sample_ratio".to_owned());
        }
        for (key, is_changed) in [
            ("tools.fetch.allow_hosts", self.tools.fetch != new.tools.fetch),
            ("tools.search", self.tools.search != new.tools.search),
            ("tools.weather", self.tools.weather != new.tools.weather),
            ("tools.ip_location", self.tools.ip_location != new.tools.ip_location),
        ] {
            if is_changed {
                keys.push(key.to_owned());
            }
        }
        if self.log.format != new.log.format {
            keys.push("log.format".to_owned());
        }
        let (old, new_sandbox) = (&self.sandbox, &new.sandbox);
        for (key, is_changed) in [
            ("sandbox.backend", old.backend != new_sandbox.backend),
            ("sandbox.readable_paths", old.readable_paths != new_sandbox.readable_paths),
            ("sandbox.path", old.path != new_sandbox.path),
            ("sandbox.allow_hosts", old.allow_hosts != new_sandbox.allow_hosts),
            ("sandbox.container", old.container != new_sandbox.container),
            ("sandbox.limits", old.limits != new_sandbox.limits),
        ] {
            if is_changed {
                keys.push(key.to_owned());
            }
        }
        // Certificates are read again on a reload; whether there are any is not changed by one.
        let (old, new) = (&self.remote, &new.remote);
        for (key, is_changed) in [
            ("remote.listen", old.listen != new.listen),
            ("remote.tls_cert", old.has_tls() != new.has_tls()),
            ("remote.insecure_loopback", old.insecure_loopback != new.insecure_loopback),
            ("remote.idle_timeout_ms", old.idle_timeout_ms != new.idle_timeout_ms),
            ("remote.keepalive_ms", old.keepalive_ms != new.keepalive_ms),
            ("remote.max_connections", old.max_connections != new.max_connections),
            (
                "remote.max_connections_per_ip",
                old.max_connections_per_ip != new.max_connections_per_ip,
            ),
        ] {
            if is_changed {
                keys.push(key.to_owned());
            }
        }
        keys
    }
}

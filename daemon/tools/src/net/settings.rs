//! What the owner of a daemon says of its network tools.

use std::fmt;

/// Settings of the tools that read from the network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetSettings {
    /// Of `fetch_url`.
    pub fetch: FetchSettings,
    /// Of `search_web`.
    pub search: SearchSettings,
    /// Of `weather`.
    pub weather: WeatherSettings,
    /// Of `ip_location`.
    pub ip_location: IpLocationSettings,
}

/// Settings of `weather`. The hosts of the endpoints may be private ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WeatherSettings {
    /// URL of forecasts, as Open-Meteo gives them; empty: there is no such service.
    pub endpoint: String,
    /// URL of its look-up of places; empty: only coordinates are known.
    pub geocoding_endpoint: String,
}

/// Settings of `ip_location`. The host of the endpoint may be a private one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IpLocationSettings {
    /// URL of a service that answers with JSON; `{ip}` in it stands for the address. Empty: there is
    /// no such service.
    pub endpoint: String,
}

/// Settings of `fetch_url`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FetchSettings {
    /// Hosts that may be asked wherever they are: `host`, for any port, or `host:port`.
    pub allow_hosts: Vec<String>,
}

/// Which engine searches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchEngine {
    /// The HTML pages of DuckDuckGo, without a key.
    #[default]
    DuckDuckGo,
    /// A server of SearXNG with the format json enabled.
    Searxng,
    /// Brave's Search API, with a key.
    Brave,
    /// Tavily's Search API, with a key.
    Tavily,
}

impl SearchEngine {
    /// Its name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DuckDuckGo => "duckduckgo",
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
        }
    }
}

/// Settings of `search_web`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SearchSettings {
    /// Which engine is asked.
    pub engine: SearchEngine,
    /// Where it is; empty: its usual place. Its host may be a private one.
    pub endpoint: String,
    /// Its key; empty: none. It is never shown.
    pub key: String,
}

impl fmt::Debug for SearchSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, endpoint, key } = self;
        f.debug_struct("SearchSettings")
            .field("engine", engine)
            .field("endpoint", endpoint)
            .field("has_key", &!key.is_empty())
            .finish()
    }
}

//! `[tools]`: what tools may reach, and how they do it.

use std::net::IpAddr;

use agentd_tools::{
    FetchSettings, IpLocationSettings, NetSettings, SearchEngine, SearchSettings, WeatherSettings,
};
use serde::{Deserialize, Serialize};

use super::schema::BadValue;
use crate::environment::Environment;

/// `[tools]`: what tools may reach, and how they do it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolsConfig {
    /// Of `fetch_url`.
    pub fetch: FetchConfig,
    /// Of `search_web`.
    pub search: SearchConfig,
    /// Of `weather`.
    pub weather: WeatherConfig,
    /// Of `ip_location`.
    pub ip_location: IpLocationConfig,
}

/// `[tools.weather]`: who knows the weather.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WeatherConfig {
    /// URL of forecasts, as Open-Meteo gives them; empty: none.
    pub endpoint: String,
    /// URL of its look-up of places; empty: none.
    pub geocoding_endpoint: String,
}

/// `[tools.ip_location]`: who knows where addresses are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IpLocationConfig {
    /// URL of the service, in which `{ip}` stands for the address; empty: none.
    pub endpoint: String,
}

/// `[tools.fetch]`: where pages are read from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FetchConfig {
    /// Hosts that may be asked although they are not public: `host`, for any port, or `host:port`.
    pub allow_hosts: Vec<String>,
}

/// `[tools.search]`: who searches the web.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchConfig {
    /// Which engine.
    pub engine: EngineSetting,
    /// Its URL; empty: the usual one.
    pub endpoint: String,
    /// Environment variable that holds its key; empty: `BRAVE_API_KEY` or `TAVILY_API_KEY`.
    pub key_env: String,
}

/// `tools.search.engine`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineSetting {
    /// DuckDuckGo's pages, without a key.
    #[default]
    DuckDuckGo,
    /// A SearXNG server.
    Searxng,
    /// Brave's Search API.
    Brave,
    /// Tavily's Search API.
    Tavily,
}

impl ToolsConfig {
    /// Checks what types do not express.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        let bad = |key: &str, problem| Err(BadValue { key: format!("tools.{key}"), problem });
        for host in &self.fetch.allow_hosts {
            check_host(host).or_else(|problem| bad("fetch.allow_hosts", problem))?;
        }
        let WeatherConfig { endpoint, geocoding_endpoint } = &self.weather;
        let services = [
            ("weather.endpoint", endpoint.clone()),
            ("weather.geocoding_endpoint", geocoding_endpoint.clone()),
            ("ip_location.endpoint", self.ip_location.endpoint.replace("{ip}", "")),
        ];
        for (key, endpoint) in services {
            if !endpoint.is_empty() && !is_service(&endpoint) {
                return bad(key, "it is not a URL of http or https without a user".to_owned());
            }
        }
        let SearchConfig { engine, endpoint, key_env: _ } = &self.search;
        if endpoint.is_empty() {
            return if *engine == EngineSetting::Searxng {
                bad("search.endpoint", "searxng needs the URL of a server".to_owned())
            } else {
                Ok(())
            };
        }
        let uri: tonic::codegen::http::Uri = match endpoint.parse() {
            Ok(uri) => uri,
            Err(_not_a_url) => return bad("search.endpoint", "it is not a URL".to_owned()),
        };
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return bad("search.endpoint", "a user or password has no place in it".to_owned());
        }
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let is_loopback =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|host| host.is_loopback());
        match uri.scheme_str() {
            _ if host.is_empty() => {}
            Some("https") => return Ok(()),
            Some("http") if is_loopback || !engine.has_key() => return Ok(()),
            Some("http") => {
                let problem = "the key would be sent in the clear; use https".to_owned();
                return bad("search.endpoint", problem);
            }
            _ => {}
        }
        bad("search.endpoint", "it does not begin with http:// or https:// and a host".to_owned())
    }

    /// The tools' own settings; keys are read from `env`.
    pub(crate) fn net(&self, env: &Environment) -> NetSettings {
        let Self { fetch, search, weather, ip_location } = self;
        let WeatherConfig { endpoint: forecasts, geocoding_endpoint } = weather;
        let SearchConfig { engine, endpoint, key_env } = search;
        let usual = match engine {
            EngineSetting::DuckDuckGo | EngineSetting::Searxng => "",
            EngineSetting::Brave => "BRAVE_API_KEY",
            EngineSetting::Tavily => "TAVILY_API_KEY",
        };
        let variable = if key_env.is_empty() { usual } else { key_env };
        let key = if engine.has_key() { env.get(variable).unwrap_or_default().trim() } else { "" };
        NetSettings {
            fetch: FetchSettings { allow_hosts: fetch.allow_hosts.clone() },
            search: SearchSettings {
                engine: match engine {
                    EngineSetting::DuckDuckGo => SearchEngine::DuckDuckGo,
                    EngineSetting::Searxng => SearchEngine::Searxng,
                    EngineSetting::Brave => SearchEngine::Brave,
                    EngineSetting::Tavily => SearchEngine::Tavily,
                },
                endpoint: endpoint.clone(),
                key: key.to_owned(),
            },
            weather: WeatherSettings {
                endpoint: forecasts.clone(),
                geocoding_endpoint: geocoding_endpoint.clone(),
            },
            ip_location: IpLocationSettings { endpoint: ip_location.endpoint.clone() },
        }
    }
}

/// True for the URL of a service that needs no key.
fn is_service(endpoint: &str) -> bool {
    endpoint.parse::<tonic::codegen::http::Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
            && uri.host().is_some_and(|host| !host.is_empty())
    })
}

impl EngineSetting {
    fn has_key(self) -> bool {
        match self {
            Self::DuckDuckGo | Self::Searxng => false,
            Self::Brave | Self::Tavily => true,
        }
    }
}

/// Checks a host that may be asked wherever it is.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check_host(host: &str) -> Result<(), String> {
    let is_name = !host.trim().is_empty()
        && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._:[]".contains(c));
    let problem = || format!("'{host}' is not a host such as 'wiki.lan' or '127.0.0.1:8080'");
    is_name.then_some(()).ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(engine: EngineSetting, endpoint: &str) -> ToolsConfig {
        let endpoint = endpoint.to_owned();
        let search = SearchConfig { engine, endpoint, ..SearchConfig::default() };
        ToolsConfig { search, ..ToolsConfig::default() }
    }

    #[test]
    fn an_endpoint_is_a_url_to_which_a_key_may_be_sent() {
        use EngineSetting::{Brave, DuckDuckGo, Searxng, Tavily};
        for (engine, endpoint) in [
            (DuckDuckGo, ""),
            (Searxng, "http://127.0.0.1:8888"),
            (Searxng, "http://search.lan/searxng"),
            (Brave, "https://proxy.example/brave"),
            (Tavily, "http://[::1]:8080/search"),
        ] {
            assert_eq!(search(engine, endpoint).check(), Ok(()), "{endpoint}");
        }
        for (engine, endpoint, why) in [
            (Searxng, "", "needs the URL"),
            (Searxng, "search.lan:8888", "does not begin with"),
            (Searxng, "ftp://search.lan/", "does not begin with"),
            (Searxng, "https://me:secret@search.lan/", "no place"),
            (Searxng, "h t t p", "not a URL"),
            (Tavily, "http://search.lan/", "in the clear"),
        ] {
            let bad = search(engine, endpoint).check().expect_err(endpoint);
            assert_eq!(bad.key, "tools.search.endpoint");
            assert!(bad.problem.contains(why), "{endpoint}: {}", bad.problem);
            assert!(!bad.problem.contains("secret"));
        }
    }

    #[test]
    fn endpoints_of_services_are_urls_and_reach_their_tools() {
        let weather = |endpoint: &str| {
            let weather =
                WeatherConfig { endpoint: endpoint.to_owned(), ..WeatherConfig::default() };
            ToolsConfig { weather, ..ToolsConfig::default() }
        };
        let ip_location = |endpoint: &str| {
            let ip_location = IpLocationConfig { endpoint: endpoint.to_owned() };
            ToolsConfig { ip_location, ..ToolsConfig::default() }
        };
        for good in ["", "https://api.example/v1/forecast", "http://127.0.0.1:8080/"] {
            assert_eq!(weather(good).check(), Ok(()), "{good}");
        }
        for bad in ["api.example", "ftp://api.example/", "https://me:secret@api.example/", "a b"] {
            let bad = weather(bad).check().expect_err(bad);
            assert_eq!(bad.key, "tools.weather.endpoint");
            assert!(!bad.problem.contains("secret"));
        }
        let located = ip_location("https://ip.example/{ip}");
        assert_eq!(located.check(), Ok(()));
        assert_eq!(
            located.net(&Environment::default()).ip_location.endpoint,
            "https://ip.example/{ip}"
        );
        assert_eq!(
            ip_location("{ip}.example").check().expect_err("no URL").key,
            "tools.ip_location.endpoint"
        );
    }

    #[test]
    fn hosts_are_names_without_schemes_and_paths() {
        let check = |host: &str| {
            let fetch = FetchConfig { allow_hosts: vec![host.to_owned()] };
            ToolsConfig { fetch, ..ToolsConfig::default() }.check()
        };
        for good in ["wiki.lan", "127.0.0.1:8080", "[::1]:80", "::1"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["", "http://wiki.lan", "wiki.lan/x", "*", "a b"] {
            assert_eq!(check(bad).expect_err(bad).key, "tools.fetch.allow_hosts");
        }
    }

    #[test]
    fn sc_03_a_key_comes_from_its_variable_and_goes_only_to_engines_that_have_one() {
        let env: Environment = [("BRAVE_API_KEY", " b "), ("MINE", "m")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        let key = |engine, key_env: &str| {
            let mut config = search(engine, "");
            config.search.key_env = key_env.to_owned();
            config.net(&env).search.key
        };
        assert_eq!(key(EngineSetting::Brave, ""), "b");
        assert_eq!(key(EngineSetting::Tavily, ""), "");
        assert_eq!(key(EngineSetting::Tavily, "MINE"), "m");
        assert_eq!(key(EngineSetting::DuckDuckGo, "MINE"), "");
    }
}

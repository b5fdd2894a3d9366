//! Where a request goes: a URL that may be asked, and how far its host is trusted.

use std::net::IpAddr;

use agentd_domain::{ToolResult, cut_line};
use agentd_sandbox::address_refusal;
pub(super) use agentd_sandbox::{AllowList, Trust};
use url::{Host, Url};

use super::plain::plain_line;

/// Longest URL in bytes.
const MAX_URL: usize = 4096;

/// How much of a URL is shown, in characters.
const MAX_SHOWN: usize = 300;

/// A URL that may be asked.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) url: Url,
    /// In lower case, without the dot at its end.
    pub(super) host: String,
    pub(super) trust: Trust,
}

impl Target {
    /// Reads a URL that the model wrote.
    pub(super) fn parse(text: &str, allowed: &AllowList) -> Result<Self, ToolResult> {
        let text = text.trim();
        if text.len() > MAX_URL {
            return Err(invalid(&format!("the URL has {} bytes; at most {MAX_URL}.", text.len())));
        }
        match Url::parse(text) {
            Ok(url) => Self::of(url, allowed),
            Err(error) => Err(invalid(&format!(
                "'{}' is not a URL such as https://example.org/page: {error}.",
                cut_line(&plain_line(text), MAX_SHOWN)
            ))),
        }
    }

    /// Checks all of a URL that can be checked before its name is resolved.
    pub(super) fn of(mut url: Url, allowed: &AllowList) -> Result<Self, ToolResult> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid(&format!(
                "URLs of '{}' are not fetched, only those of http and https.",
                cut_line(url.scheme(), 20)
            )));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("a user or password has no place in the URL."));
        }
        url.set_fragment(None);
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => return Err(invalid("the URL has no host.")),
        };
        let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        if allowed.holds(&host, url.port_or_known_default()) {
            return Ok(Self { url, host, trust: Trust::Named });
        }
        match literal {
            Some(address) => match address_refusal(address) {
                Some(what) => Err(refused(&host, what)),
                None => Ok(Self { url, host, trust: Trust::Public }),
            },
            None if is_local_name(&host) => Err(refused(&host, "a name of the local network")),
            None => Ok(Self { url, host, trust: Trust::Public }),
        }
    }

    /// Where a redirect of this page leads.
    pub(super) fn redirected(
        &self,
        location: &str,
        allowed: &AllowList,
    ) -> Result<Self, ToolResult> {
        if location.len() > MAX_URL {
            return Err(invalid("the page redirects to a URL that is too long."));
        }
        let url = self.url.join(location).map_err(|_not_a_url| {
            invalid(&format!("'{}' redirects to what is no URL.", self.shown()))
        })?;
        if self.url.scheme() == "https" && url.scheme() == "http" {
            return Err(ToolResult::fatal(
                "REDIRECT_REFUSED",
                format!("'{}' redirects from https to http, which is not followed.", self.shown()),
            ));
        }
        Self::of(url, allowed)
    }

    /// True when both are of one site: what was permitted for one holds for the other.
    pub(super) fn is_same_site(&self, other: &Self) -> bool {
        let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_owned();
        self.trust == other.trust && bare(&self.host) == bare(&other.host)
    }

    /// The URL without the values of parameters that may be secrets.
    pub(super) fn shown(&self) -> String {
        shown_url(&self.url)
    }
}

/// The URL without the values of parameters that may be secrets.
pub(super) fn shown_url(url: &Url) -> String {
    const SECRET: [&str; 9] =
        ["key", "token", "secret", "sig", "signature", "password", "auth", "code", "credential"];
    let is_secret = |name: &str| {
        name.to_ascii_lowercase()
            .split(['_', '-', '.'])
            .any(|word| SECRET.iter().any(|secret| word.ends_with(secret)))
    };
    let mut shown = url.clone();
    if url.query_pairs().any(|(name, _)| is_secret(&name)) {
        shown.query_pairs_mut().clear().extend_pairs(url.query_pairs().map(|(name, value)| {
            let value = if is_secret(&name) { "***".into() } else { value };
            (name, value)
        }));
    }
    plain_line(shown.as_str())
}

/// Names that only mean something in a local network.
fn is_local_name(host: &str) -> bool {
    const ENDS: [&str; 8] = [
        "localhost",
        "local",
        "localdomain",
        "internal",
        "intranet",
        "lan",
        "home.arpa",
        "in-addr.arpa",
    ];
    !host.contains('.')
        || ENDS.iter().any(|end| {
            host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

fn invalid(problem: &str) -> ToolResult {
    ToolResult::fatal("INVALID_URL", format!("url: {problem}"))
}

pub(super) fn refused(host: &str, what: &str) -> ToolResult {
    ToolResult::fatal(
        "ADDRESS_NOT_PUBLIC",
        format!(
            "'{}' is {what}; only public hosts are asked. The owner of this daemon can name \
             others in tools.fetch.allow_hosts.",
            cut_line(&plain_line(host), 100)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(url: &str, allowed: &[&str]) -> Result<Trust, String> {
        let allowed: Vec<String> = allowed.iter().map(|host| (*host).to_owned()).collect();
        Target::parse(url, &AllowList::new(&allowed))
            .map(|target| target.trust)
            .map_err(|refused| refused.error_code)
    }

    #[test]
    fn wb_01_hosts_that_are_not_public_are_refused_however_they_are_written() {
        for url in [
            "http://127.0.0.1:8080/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://0/",
            "http://1.0.0.127.in-addr.arpa/",
            "http://169.254.169.254/latest/meta-data/",
            "http://100.100.100.200/",
            "http://１２７.０.０.１/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://printer.local/",
            "http://metadata.google.internal/",
            "http://router/",
        ] {
            assert_eq!(code(url, &[]), Err("ADDRESS_NOT_PUBLIC".to_owned()), "{url}");
        }
    }

    #[test]
    fn wb_01_only_http_without_users_is_asked() {
        for url in [
            "file:///etc/passwd",
            "ftp://example.org/",
            "gopher://example.org/",
            "data:text/html,x",
            "javascript:alert(1)",
            "http://user@example.org/",
            "http://:secret@example.org/",
            "http://",
            "http:///",
            "//example.org/",
            "example.org",
            "",
            &format!("http://example.org/{}", "a".repeat(MAX_URL)),
        ] {
            assert_eq!(code(url, &[]), Err("INVALID_URL".to_owned()), "{url}");
        }
        assert_eq!(code(" https://example.org/a?b#c ", &[]), Ok(Trust::Public));
        assert_eq!(code("http://8.8.8.8/", &[]), Ok(Trust::Public));
    }

    #[test]
    fn only_what_the_owner_named_is_asked_although_it_is_not_public() {
        let allowed = ["127.0.0.1:8080", "Wiki.lan", "::1", "[fd00::1]:80"];
        assert_eq!(code("http://127.0.0.1:8080/", &allowed), Ok(Trust::Named));
        assert_eq!(code("http://2130706433:8080/", &allowed), Ok(Trust::Named));
        assert_eq!(code("https://wiki.lan./x", &allowed), Ok(Trust::Named));
        assert_eq!(code("http://[::1]:99/", &allowed), Ok(Trust::Named));
        assert_eq!(code("http://[fd00::1]/", &allowed), Ok(Trust::Named));
        for url in ["http://127.0.0.1/", "http://127.0.0.1:80801/", "https://[fd00::1]/"] {
            assert!(code(url, &allowed).is_err(), "{url}");
        }
        assert!(code("http://user@wiki.lan/", &allowed).is_err());
    }

    #[test]
    fn sc_03_a_shown_url_holds_no_secrets() {
        let check = |url: &str, expect: &str| {
            let target = Target::parse(url, &AllowList::default()).expect(url);
            assert_eq!(target.shown(), expect);
        };
        check("https://a.example/x?q=1&api_key=k#f", "https://a.example/x?q=1&api_key=***");
        check(
            "https://a.example/?access_token=t&Sig=s",
            "https://a.example/?access_token=***&Sig=***",
        );
        check("https://a.example/?monkeys=3", "https://a.example/?monkeys=3");
    }

    #[test]
    fn wb_01_redirects_are_checked_as_any_url_and_do_not_leave_https() {
        let from = |url: &str| Target::parse(url, &AllowList::default()).expect(url);
        let to = |location: &str| {
            from("https://a.example/b/c")
                .redirected(location, &AllowList::default())
                .map(|target| target.url.to_string())
                .map_err(|refused| refused.error_code)
        };
        assert_eq!(to("../d"), Ok("https://a.example/d".to_owned()));
        assert_eq!(to("//b.example/"), Ok("https://b.example/".to_owned()));
        assert_eq!(to("http://a.example/"), Err("REDIRECT_REFUSED".to_owned()));
        assert_eq!(to("https://127.0.0.1/"), Err("ADDRESS_NOT_PUBLIC".to_owned()));
        assert_eq!(to("https://u@a.example/"), Err("INVALID_URL".to_owned()));
        assert_eq!(to("file:///etc/passwd"), Err("INVALID_URL".to_owned()));
        assert!(from("https://a.example/").is_same_site(&from("https://www.a.example/x")));
        assert!(!from("https://a.example/").is_same_site(&from("https://b.a.example/")));
    }
}

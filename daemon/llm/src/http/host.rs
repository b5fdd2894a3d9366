//! Whose a base URL is: a key goes to the host that it belongs to.

use reqwest::Url;

use super::client::Reach;

/// True when two base URLs lead to the same host in the same way, whatever their ports and paths. What
/// is no URL leads nowhere.
pub fn is_same_host(one: &str, other: &str) -> bool {
    let host = |text: &str| {
        let url = Url::parse(text.trim()).ok()?;
        Some((url.scheme().to_owned(), url.host_str()?.trim_end_matches('.').to_owned()))
    };
    host(one).is_some_and(|one| Some(one) == host(other))
}

/// True when a base URL leads to this machine.
pub fn is_loopback(base_url: &str) -> bool {
    Url::parse(base_url.trim()).is_ok_and(|url| Reach::of(&url) != Reach::Anywhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_the_same_in_the_same_scheme_only() {
        let check = |text: &str, expect: bool| {
            assert_eq!(is_same_host(text, "https://api.openai.com/v1"), expect, "{text}");
        };
        check("https://api.openai.com/v1/", true);
        check(" https://API.OpenAI.com:443/other", true);
        check("http://api.openai.com/v1", false);
        check("https://api.openai.com.evil.example/v1", false);
        check("https://api.openai.com@evil.example/v1", false);
        check("https://evil.example/api.openai.com", false);
        check("api.openai.com", false);
        assert!(!is_same_host("", ""));
    }

    #[test]
    fn this_machine_is_known_by_its_addresses_and_its_name() {
        let check = |text: &str, expect: bool| assert_eq!(is_loopback(text), expect, "{text}");
        check("http://127.0.0.1:9/v1", true);
        check("https://[::1]/v1", true);
        check("http://localhost:11434", true);
        check("http://192.168.1.2/v1", false);
        check("http://127.0.0.1.evil.example/v1", false);
        check("nothing", false);
    }
}

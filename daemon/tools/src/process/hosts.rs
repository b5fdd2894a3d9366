//! What a call asks for of the network.

use agentd_domain::{ToolResult, cut_line};
use agentd_sandbox::{Backend, Grant, Network, Policy, Promise, Sandbox, Unpromised};
use url::Host;

use super::limits::invalid;
use crate::permission::ANY_HOST;

/// Most hosts of a call.
const MAX_HOSTS: usize = 16;

/// How much of a host is shown, in characters.
const MAX_SHOWN: usize = 100;

/// Reads the hosts of a call: `example.org`, `*.example.org` for all below it, or `*` alone for all of
/// the network.
///
/// # Errors
/// The result of the call, when one of them is no host or the sandbox cannot tell hosts apart.
pub(super) fn network(
    asked: &[String],
    policy: &Policy,
    sandbox: &dyn Sandbox,
) -> Result<Network, ToolResult> {
    if asked.is_empty() {
        return Ok(Network::None);
    }
    if asked.len() > MAX_HOSTS {
        return Err(invalid(format!("network names {} hosts: {MAX_HOSTS} at most.", asked.len())));
    }
    if let [any] = asked
        && any.trim() == ANY_HOST
    {
        return Ok(Network::All);
    }
    let mut hosts: Vec<String> = Vec::new();
    for host in asked {
        let host = named(host)?;
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    // Where nothing keeps a program in, nothing keeps it from any host, and whoever is asked is told so.
    let backend = sandbox.backend();
    if backend != Backend::None
        && let Err(why) = held(sandbox)
    {
        return Err(ToolResult::fatal(
            "HOSTS_NOT_HELD",
            format!(
                "The command was not run: here it could not be kept to the hosts of network. The \
                 sandbox is {backend}: {}. The owner of this daemon can {}; without that only \
                 network [\"{ANY_HOST}\"] is possible, which asks for all of the network.",
                why.reason, why.remedy
            ),
        ));
    }
    Ok(Network::Hosts(Grant::of(hosts, policy.allow_hosts.clone())))
}

/// Whether programs are kept to hosts here.
///
/// # Errors
/// Why not.
pub(super) fn held(sandbox: &dyn Sandbox) -> Result<(), Unpromised> {
    Promise::Hosts.unpromised(sandbox.backend(), &sandbox.accounting()).map_or(Ok(()), Err)
}

/// A host as it is compared.
fn named(asked: &str) -> Result<String, ToolResult> {
    let wrong = || {
        invalid(format!(
            "network: '{}' is not a host such as example.org, or *.example.org for all below it; no \
             URL and no port.",
            cut_line(asked, MAX_SHOWN)
        ))
    };
    let text = asked.trim().trim_end_matches('.');
    let (prefix, name) = text.strip_prefix("*.").map_or(("", text), |name| ("*.", name));
    let has_no_host = |c: char| c.is_whitespace() || matches!(c, '/' | '@' | '*' | '%');
    if name.is_empty() || name.contains(has_no_host) {
        return Err(wrong());
    }
    match Host::parse(name).map_err(|_not_a_host| wrong())? {
        Host::Domain(name) => Ok(format!("{prefix}{name}")),
        address if prefix.is_empty() => Ok(address.to_string()),
        _ => Err(wrong()),
    }
}

/// The hosts of an action; none: all, or no network at all.
pub(super) fn hosts_of(network: &Network) -> Vec<String> {
    match network {
        Network::Hosts(grant) => {
            grant.hosts().map_or_else(|| vec![ANY_HOST.to_owned()], <[String]>::to_vec)
        }
        Network::None | Network::All => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_they_are_compared() {
        for (asked, expect) in [
            (" Crates.IO. ", Some("crates.io")),
            ("*.crates.io", Some("*.crates.io")),
            ("b\u{fc}cher.example", Some("xn--bcher-kva.example")),
            ("127.1", Some("127.0.0.1")),
            ("[::1]", Some("[::1]")),
            ("https://crates.io", None),
            ("crates.io/path", None),
            ("crates.io:443", None),
            ("user@crates.io", None),
            ("*", None),
            ("*.*.io", None),
            ("*.1.2.3.4", None),
            ("a b", None),
            ("", None),
        ] {
            assert_eq!(named(asked).ok().as_deref(), expect, "{asked}");
        }
        let refused = named("https://crates.io").expect_err("no host");
        assert!(refused.output.contains("no URL and no port"), "{}", refused.output);
    }
}

//! Which hosts a program was granted, and which of them may be anywhere.

use agentd_domain::host_matches;

use super::Trust;

/// Hosts that the owner of the daemon named: they may have private addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList(Vec<(String, Option<u16>)>);

impl AllowList {
    /// Entries are `host`, for any port, or `host:port`.
    pub fn new(hosts: &[String]) -> Self {
        Self(hosts.iter().map(|entry| split_port(entry)).collect())
    }

    /// True when the host, in lower case, is named with this port or for any.
    pub fn holds(&self, host: &str, port: Option<u16>) -> bool {
        self.0.iter().any(|(named, on)| named == host && (on.is_none() || *on == port))
    }
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`.
fn split_port(entry: &str) -> (String, Option<u16>) {
    let entry = entry.trim().to_ascii_lowercase();
    let (host, port) = match entry.rsplit_once(':') {
        // The colons of a bare IPv6 address are no ports.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host.to_owned(), port.parse().ok())
        }
        _ => (entry.clone(), None),
    };
    let is_bare_v6 = host.contains(':') && !host.starts_with('[');
    (if is_bare_v6 { format!("[{host}]") } else { host }, port)
}

/// Hosts that a program may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// None: any.
    hosts: Option<Vec<String>>,
    named: AllowList,
}

impl Grant {
    /// These: `example.org`, or `*.example.org` for all below it, in lower case.
    pub fn of(hosts: Vec<String>, named: AllowList) -> Self {
        Self { hosts: Some(hosts), named }
    }

    /// Any host with public addresses.
    pub fn of_any(named: AllowList) -> Self {
        Self { hosts: None, named }
    }

    /// The hosts that were granted; none: any.
    pub fn hosts(&self) -> Option<&[String]> {
        self.hosts.as_deref()
    }

    /// How far a host is trusted that a program asks for, in lower case; none: it was not granted.
    pub(super) fn trust(&self, host: &str, port: u16) -> Option<Trust> {
        let is_granted = self
            .hosts
            .as_ref()
            .is_none_or(|hosts| hosts.iter().any(|granted| host_matches(granted, host)));
        let trust = if self.named.holds(host, Some(port)) { Trust::Named } else { Trust::Public };
        is_granted.then_some(trust)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_granted_by_its_whole_name_and_trusted_where_the_owner_named_it() {
        let hosts = ["crates.io", "*.crates.io", "wiki.lan"].map(str::to_owned).to_vec();
        let grant = Grant::of(hosts, AllowList::new(&["wiki.lan:80".to_owned()]));
        for (host, port, expect) in [
            ("crates.io", 443, Some(Trust::Public)),
            ("static.crates.io", 22, Some(Trust::Public)),
            ("evilcrates.io", 443, None),
            ("crates.io.evil.org", 443, None),
            ("wiki.lan", 80, Some(Trust::Named)),
            ("wiki.lan", 22, Some(Trust::Public)),
            ("", 443, None),
        ] {
            assert_eq!(grant.trust(host, port), expect, "{host}:{port}");
        }
        assert_eq!(Grant::of_any(AllowList::default()).trust("x.org", 1), Some(Trust::Public));
        assert_eq!(Grant::of(Vec::new(), AllowList::default()).trust("x.org", 1), None);
    }
}

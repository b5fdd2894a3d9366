//! Which addresses are of the public Internet.
//!
//! The ranges are those of IANA's registries of special-purpose addresses (RFC 6890 and its
//! updates), and the addresses at which clouds give out credentials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not asked; none: it is a public one.
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => refusal_v4(address),
        IpAddr::V6(address) => refusal_v6(address),
    }
}

fn refusal_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [0, ..] => Some("an unspecified address"),
        [127, ..] => Some("a loopback address"),
        [10, ..] | [192, 168, ..] | [172, 16..=31, ..] => Some("a private address"),
        [169, 254, ..] => Some("a link-local address, where clouds give out credentials"),
        [168, 63, 129, 16] => Some("an address of a cloud's own services"),
        [100, 64..=127, ..] => Some("an address shared behind a carrier's NAT"),
        [192, 0, 0, _] | [192, 88, 99, _] | [198, 18..=19, ..] | [240..=255, ..] => {
            Some("a reserved address")
        }
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Some("an address of documentation")
        }
        [224..=239, ..] => Some("a multicast address"),
        _ => None,
    }
}

fn refusal_v6(address: Ipv6Addr) -> Option<&'static str> {
    let [.., first, second, third, last] = address.octets();
    let last_four = Ipv4Addr::new(first, second, third, last);
    match address.segments() {
        // Networks without IPv4 reach public IPv4 hosts in this way (RFC 6052).
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => refusal_v4(last_four),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        [0, 0, 0, 0, 0, 0, ..] => Some("an unspecified address"),
        [0, 0, 0, 0, 0, 0xffff, ..] => Some("an IPv4 address written as IPv6"),
        [0x2002, ..] => Some("an address of 6to4"),
        [0x2001, 0..=0x1ff, ..] => Some("an address of a special protocol such as Teredo"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("an address of documentation"),
        [0x2000..=0x3fff, ..] => None,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Some("a private address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        _ => Some("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wb_01_addresses_that_are_not_public_are_refused_in_every_form() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::808:808",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "5f00::1",
        ] {
            assert!(refusal(address.parse().expect(address)).is_some(), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_asked() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.1.0.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "64:ff9b::808:808",
        ] {
            assert_eq!(refusal(address.parse().expect(address)), None, "{address}");
        }
    }
}

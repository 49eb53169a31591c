//! The parts of a server's address.

use std::net::IpAddr;
use ureq::http::Uri;

/// An http or https address without user, password, query and fragment.
pub(super) struct Address {
    pub(super) scheme: &'static str,
    /// In small letters, an IPv6 address in brackets.
    pub(super) host: String,
    pub(super) port: Option<u16>,
    pub(super) path: String,
}

impl Address {
    pub(super) fn parse(address: &str) -> Option<Self> {
        // `Uri` drops a fragment without a word.
        if address.contains(['#', '@']) {
            return None;
        }
        let uri: Uri = address.trim().parse().ok()?;
        let scheme = match uri.scheme_str()? {
            "https" => "https",
            "http" => "http",
            _ => return None,
        };
        let host = uri.host().filter(|host| !host.is_empty())?.to_ascii_lowercase();
        let path = uri.path().trim_end_matches('/').to_owned();
        uri.query().is_none().then(|| Self { scheme, host, port: uri.port_u16(), path })
    }

    pub(super) fn authority(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }

    pub(super) fn is_loopback(&self) -> bool {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_same_host = self.host == other.host || (self.is_loopback() && other.is_loopback());
        is_same_host && self.scheme == other.scheme && self.port == other.port
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn parts_are_told() {
        let address = Address::parse(" HTTPS://Example.COM:8443/v1/ ").unwrap();
        assert_eq!((address.scheme, address.path.as_str()), ("https", "/v1"));
        assert_eq!(address.authority(), "example.com:8443");
        for (address, is_loopback) in [
            ("http://localhost", true),
            ("http://127.1.2.3:5", true),
            ("http://[::1]:5", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
            ("http://[fe80::1]", false),
        ] {
            assert_eq!(Address::parse(address).unwrap().is_loopback(), is_loopback, "{address}");
        }
    }

    #[test]
    fn machines_are_told_apart_by_host_and_port() {
        let is_same = |one, other| Address::parse(one).unwrap().is_same(&Address::parse(other).unwrap());
        assert!(is_same("http://localhost:5/v1", "http://127.0.0.1:5"));
        assert!(!is_same("http://localhost:5", "http://localhost:6"));
        assert!(!is_same("http://h", "https://h"));
        assert!(!is_same("http://h", "http://h.example"));
    }
}

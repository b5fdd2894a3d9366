//! The variables that a program is given. None is passed on from the daemon.

/// Where programs are looked up when nothing else is configured.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// An editor that fails: one that quietly accepts would let a rebase or a commit go through unseen.
const NO_EDITOR: &str = "false";

/// The whole environment of a program whose home and place for temporary files are these.
pub(crate) fn variables(path: &str, home: &str, temporary: &str) -> Vec<(&'static str, String)> {
    [
        ("PATH", path),
        ("HOME", home),
        ("TMPDIR", temporary),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("NO_COLOR", "1"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        // The settings of the machine are out of sight, or cannot be read.
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_ASKPASS", NO_EDITOR),
        ("SSH_ASKPASS", NO_EDITOR),
        ("EDITOR", NO_EDITOR),
        ("VISUAL", NO_EDITOR),
        ("GIT_EDITOR", NO_EDITOR),
        ("GIT_SEQUENCE_EDITOR", NO_EDITOR),
        ("DEBIAN_FRONTEND", "noninteractive"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into()
}

/// Variables by which programs find the proxy at this port of the box's own loopback. What listens
/// inside the box itself is not asked through it.
pub(crate) fn through(port: u16) -> Vec<(&'static str, String)> {
    let proxy = format!("http://127.0.0.1:{port}");
    let names =
        ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let own = ["NO_PROXY", "no_proxy"].map(|name| (name, "localhost,127.0.0.1,::1".to_owned()));
    names.map(|name| (name, proxy.clone())).into_iter().chain(own).collect()
}

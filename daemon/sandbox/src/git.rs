//! What keeps git from starting programs that a repository names. It is one list, for a program that
//! may change git's own files and for the tools that run git by themselves.

/// Settings that stand above those of a repository: with them git runs no hook, no monitor, no helper
/// for passwords, no signing program and no other git in a repository inside of this one.
pub const GIT_SETTINGS: [(&str, &str); 15] = [
    ("commit.gpgSign", "false"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.sshCommand", "false"),
    // An empty one takes back all before it.
    ("credential.helper", ""),
    ("diff.ignoreSubmodules", "dirty"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("push.gpgSign", "false"),
    ("push.recurseSubmodules", "no"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    ("tag.gpgSign", "false"),
];

/// The ways to other repositories that start no program which settings or arguments name. Those of
/// files and of ssh do, and `ext` is nothing else; for ssh there are no keys in a box either. The
/// variable stands above all settings, of the repository and others.
const PROTOCOLS: &str = "http:https";

/// The variables by which git, and whatever git it starts, takes settings.
pub fn git_variables<'a>(
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut count = 0_usize;
    for (key, value) in settings {
        variables.push((format!("GIT_CONFIG_KEY_{count}"), key.to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{count}"), value.to_owned()));
        count += 1;
    }
    variables.push(("GIT_CONFIG_COUNT".to_owned(), count.to_string()));
    variables
}

/// For a program that may change git's own files.
pub(crate) fn variables() -> Vec<(String, String)> {
    let mut variables = git_variables(GIT_SETTINGS);
    variables.push(("GIT_ALLOW_PROTOCOL".to_owned(), PROTOCOLS.to_owned()));
    variables
}

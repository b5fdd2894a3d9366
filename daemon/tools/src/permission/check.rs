//! Whether a rule can be about anything.

use agentd_domain::RuleMatcher;
use globset::Glob;

/// Most bytes of a word of a rule, and words of one about commands.
const MAX_WORD: usize = 4096;
const MAX_WORDS: usize = 64;

/// Checks a rule that somebody writes.
///
/// # Errors
/// What is wrong with it, for people.
pub fn check_rule(matcher: &RuleMatcher) -> Result<(), String> {
    let word = |what: &str, text: &str| match text.len() {
        0 => Err(format!("{what} is empty")),
        1..=MAX_WORD => Ok(()),
        _ => Err(format!("{what} is longer than {MAX_WORD} bytes")),
    };
    match matcher {
        RuleMatcher::Tool { name } => word("the tool's name", name),
        RuleMatcher::McpServer { server } => word("the server's name", server),
        RuleMatcher::Path { glob, .. } => {
            word("the glob", glob)?;
            Glob::new(glob).map(drop).map_err(|error| format!("the glob cannot be read: {error}"))
        }
        RuleMatcher::Host { host } => {
            word("the host", host)?;
            let name = host.strip_prefix("*.").unwrap_or(host);
            if name.is_empty() || name.contains(['/', ':', '*', ' ', '@']) {
                return Err(format!(
                    "'{}' is not a host such as example.org, or *.example.org for all below it",
                    agentd_domain::cut_line(host, 80)
                ));
            }
            Ok(())
        }
        RuleMatcher::Command { argv, .. } => {
            if !(1..=MAX_WORDS).contains(&argv.len()) {
                return Err(format!("a command has 1 to {MAX_WORDS} words"));
            }
            word("the program", argv.first().map_or("", String::as_str))?;
            argv.iter().try_for_each(|text| {
                if text.is_empty() { Ok(()) } else { word("a word of the command", text) }
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use agentd_domain::PathAccess;

    use super::*;

    #[test]
    fn a_rule_that_can_be_about_nothing_is_refused() {
        let path = |glob: &str| RuleMatcher::Path { glob: glob.into(), access: PathAccess::Read };
        let host = |host: &str| RuleMatcher::Host { host: host.into() };
        let command = |argv: &[&str]| RuleMatcher::Command {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            more: true,
        };
        for good in [
            path("src/**/*.rs"),
            path("/home/ada/notes/**"),
            host("example.org"),
            host("*.example.org"),
            host("世界.example"),
            command(&["git", "commit", "-m", ""]),
            RuleMatcher::Tool { name: "fetch_url".into() },
        ] {
            assert_eq!(check_rule(&good), Ok(()), "{good}");
        }
        for (bad, why) in [
            (path("["), "cannot be read"),
            (path(""), "is empty"),
            (host("https://example.org"), "is not a host"),
            (host("*.*.org"), "is not a host"),
            (host("example.org:443"), "is not a host"),
            (command(&[]), "1 to 64 words"),
            (command(&["", "x"]), "is empty"),
            (RuleMatcher::Tool { name: "x".repeat(5000) }, "longer than"),
        ] {
            let error = check_rule(&bad).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }
}

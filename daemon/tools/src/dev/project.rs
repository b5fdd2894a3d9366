//! What kind of project a directory holds, and which of its commands does what.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// What is wanted of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Check {
    Test,
    Lint,
    Format,
}

impl Check {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Lint => "lint",
            Self::Format => "format",
        }
    }
}

/// What a project is built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Cargo,
    Go,
    Node,
    Python,
    Make,
}

impl Kind {
    /// In the order in which they are looked for: the one that says most about its commands first,
    /// and a Makefile, which is often beside the others, last.
    pub(super) const ALL: [Self; 5] = [Self::Cargo, Self::Go, Self::Node, Self::Python, Self::Make];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Node => "node",
            Self::Python => "python",
            Self::Make => "make",
        }
    }

    /// Files one of which tells that a directory is of this kind.
    const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &["Cargo.toml"],
            Self::Go => &["go.mod"],
            Self::Node => &["package.json"],
            Self::Python => &[
                "pyproject.toml",
                "setup.py",
                "setup.cfg",
                "pytest.ini",
                "tox.ini",
                "requirements.txt",
            ],
            Self::Make => &["Makefile", "makefile", "GNUmakefile"],
        }
    }
}

/// A project that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) kind: Kind,
    /// The file that tells so.
    pub(super) file: &'static str,
}

/// A command of a project.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Runner {
    pub(super) argv: Vec<String>,
    /// What counts its tests.
    pub(super) counted_by: CountedBy,
}

/// Which program's summary tells how many tests ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedBy {
    Cargo,
    Go,
    Pytest,
    Unittest,
    /// Whichever a script runs.
    Any,
}

/// Why there is no command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoCommand(pub(super) String);

/// The projects of a directory. `content` gives the text of a file in it.
pub(super) fn projects(content: &dyn Fn(&str) -> Option<String>) -> Vec<Project> {
    let found = |kind: Kind| {
        let file = kind.files().iter().copied().find(|file| content(file).is_some())?;
        Some(Project { kind, file })
    };
    Kind::ALL.into_iter().filter_map(found).collect()
}

impl Project {
    /// The command that does what is wanted, for the tests whose names hold `filter`.
    ///
    /// # Errors
    /// When the project has none.
    pub(super) fn runner(
        &self,
        check: Check,
        filter: Option<&str>,
        content: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Runner, NoCommand> {
        match self.kind {
            Kind::Cargo => Ok(cargo(check, filter)),
            Kind::Go => Ok(go(check, filter)),
            Kind::Node => node(check, filter, content),
            Kind::Python => Ok(python(check, filter, content)),
            Kind::Make => make(check, filter, &content(self.file).unwrap_or_default()),
        }
    }
}

fn runner(words: &[&str], more: &[&str], counted_by: CountedBy) -> Runner {
    let argv = words.iter().chain(more).map(|word| (*word).to_owned()).collect();
    Runner { argv, counted_by }
}

fn cargo(check: Check, filter: Option<&str>) -> Runner {
    match check {
        Check::Test => {
            let filter = filter.map(|filter| ["--", filter]);
            let more = filter.as_ref().map(<[&str; 2]>::as_slice).unwrap_or_default();
            runner(&["cargo", "test", "--quiet", "--no-fail-fast"], more, CountedBy::Cargo)
        }
        Check::Lint => runner(&["cargo", "clippy", "--all-targets"], &[], CountedBy::Any),
        Check::Format => runner(&["cargo", "fmt"], &[], CountedBy::Any),
    }
}

fn go(check: Check, filter: Option<&str>) -> Runner {
    match check {
        Check::Test => {
            let filter = filter.map(|filter| ["-run", filter]);
            let more = filter.as_ref().map(<[&str; 2]>::as_slice).unwrap_or_default();
            runner(&["go", "test", "-v", "./..."], more, CountedBy::Go)
        }
        Check::Lint => runner(&["go", "vet", "./..."], &[], CountedBy::Any),
        Check::Format => runner(&["gofmt", "-l", "-w", "."], &[], CountedBy::Any),
    }
}

fn node(
    check: Check,
    filter: Option<&str>,
    content: &dyn Fn(&str) -> Option<String>,
) -> Result<Runner, NoCommand> {
    let package = content("package.json").unwrap_or_default();
    let package: Value = serde_json::from_str(&package)
        .map_err(|error| NoCommand(format!("package.json cannot be read: {error}")))?;
    let name = check.name();
    let script = package.get("scripts").and_then(|scripts| scripts.get(name)?.as_str());
    // What npm init writes.
    if script.is_none_or(|script| script.contains("no test specified")) {
        return Err(NoCommand(format!("package.json has no script '{name}'")));
    }
    let managers = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ];
    let manager = managers
        .iter()
        .find(|(lock, _)| content(lock).is_some())
        .map_or("npm", |(_, manager)| manager);
    let filter = filter.map(|filter| ["--", filter]);
    let more = filter.as_ref().map(<[&str; 2]>::as_slice).unwrap_or_default();
    Ok(runner(&[manager, "run", name], more, CountedBy::Any))
}

fn python(check: Check, filter: Option<&str>, content: &dyn Fn(&str) -> Option<String>) -> Runner {
    match check {
        Check::Test => {
            let files = ["pyproject.toml", "setup.cfg", "tox.ini", "setup.py", "requirements.txt"];
            let uses_pytest = content("pytest.ini").is_some()
                || content("conftest.py").is_some()
                || content("tests/conftest.py").is_some()
                || files
                    .iter()
                    .any(|file| content(file).is_some_and(|text| text.contains("pytest")));
            let filter = filter.map(|filter| ["-k", filter]);
            let more = filter.as_ref().map(<[&str; 2]>::as_slice).unwrap_or_default();
            // No bytecode is left: after a change within a second to as many bytes Python would run
            // the old one.
            if uses_pytest {
                runner(&["python3", "-B", "-m", "pytest", "-q"], more, CountedBy::Pytest)
            } else {
                runner(&["python3", "-B", "-m", "unittest", "discover"], more, CountedBy::Unittest)
            }
        }
        Check::Lint => runner(&["ruff", "check", "."], &[], CountedBy::Any),
        Check::Format => runner(&["ruff", "format", "."], &[], CountedBy::Any),
    }
}

fn make(check: Check, filter: Option<&str>, makefile: &str) -> Result<Runner, NoCommand> {
    if filter.is_some() {
        return Err(NoCommand("a target of make takes no filter".to_owned()));
    }
    let names: &[&str] = match check {
        Check::Test => &["test", "check"],
        Check::Lint => &["lint"],
        Check::Format => &["format", "fmt"],
    };
    let is_target = |name: &str| {
        makefile.lines().any(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.trim_start().starts_with(':') && !rest.contains(":="))
        })
    };
    match names.iter().find(|name| is_target(name)) {
        Some(name) => Ok(runner(&["make", name], &[], CountedBy::Any)),
        None => Err(NoCommand(format!("the Makefile has no target '{}'", names.join("' or '")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], check: Check, expect: &str) {
        let content = |name: &str| {
            files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned())
        };
        let found = projects(&content);
        let told = match found.first() {
            None => "nothing".to_owned(),
            Some(project) => match project.runner(check, None, &content) {
                Ok(runner) => format!("{}: {}", project.file, runner.argv.join(" ")),
                Err(NoCommand(why)) => format!("{}: no, {why}", project.file),
            },
        };
        assert_eq!(told, expect);
    }

    #[test]
    fn a_project_is_known_by_its_files() {
        use Check::{Format, Lint, Test};
        check(&[], Test, "nothing");
        check(&[("README.md", "")], Test, "nothing");
        let rust = [("Cargo.toml", ""), ("Makefile", "test:\n")];
        check(&rust, Test, "Cargo.toml: cargo test --quiet --no-fail-fast");
        check(&rust, Lint, "Cargo.toml: cargo clippy --all-targets");
        check(&rust, Format, "Cargo.toml: cargo fmt");
        check(&[("go.mod", "")], Test, "go.mod: go test -v ./...");
        check(&[("setup.py", "")], Test, "setup.py: python3 -B -m unittest discover");
        let tested = [("pyproject.toml", "[tool.pytest.ini_options]")];
        check(&tested, Test, "pyproject.toml: python3 -B -m pytest -q");
        check(&tested, Lint, "pyproject.toml: ruff check .");
        let script = r#"{"scripts": {"test": "jest"}}"#;
        check(&[("package.json", script)], Test, "package.json: npm run test");
        let with_pnpm = [("package.json", script), ("pnpm-lock.yaml", "")];
        check(&with_pnpm, Test, "package.json: pnpm run test");
        check(&with_pnpm, Lint, "package.json: no, package.json has no script 'lint'");
        let empty = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        check(
            &[("package.json", empty)],
            Test,
            "package.json: no, package.json has no script 'test'",
        );
        check(&[("Makefile", "all:\ncheck : all\n")], Test, "Makefile: make check");
        check(
            &[("Makefile", "test := x\n")],
            Test,
            "Makefile: no, the Makefile has no target 'test' or 'check'",
        );
    }
}

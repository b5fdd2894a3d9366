//! The forms in which package managers note what is installed.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// One package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
}

fn package(name: &str, version: &str) -> Package {
    let plain = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
    Package { name: plain(name.trim()), version: plain(version.trim()) }
}

/// The status file of dpkg: paragraphs of fields.
pub(super) fn dpkg(text: &str) -> Vec<Package> {
    let installed = text.split("\n\n").filter_map(|paragraph| {
        let field = |name: &str| {
            paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        };
        let is_installed = field("Status")?.trim().ends_with(" installed");
        is_installed.then_some(package(field("Package")?, field("Version")?))
    });
    installed.collect()
}

/// The database of apk: paragraphs of lines that begin with a letter.
pub(super) fn apk(text: &str) -> Vec<Package> {
    let installed = text.split("\n\n").filter_map(|paragraph| {
        let field = |name: &str| paragraph.lines().find_map(|line| line.strip_prefix(name));
        Some(package(field("P:")?, field("V:")?))
    });
    installed.collect()
}

/// Homebrew's directories: one for each package, and in it one for each version.
pub(super) fn brew(cellar: &Path, limit: usize) -> Vec<Package> {
    let names = |directory: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().take(limit);
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    };
    let mut packages = Vec::new();
    for name in names(cellar) {
        let versions = names(&cellar.join(&name));
        packages.extend(versions.iter().map(|version| package(&name, version)));
    }
    packages
}

/// Names of the directories in which pip notes a package: `NAME-VERSION.dist-info`, and of older
/// tools `NAME-VERSION-pyX.egg-info`.
pub(super) fn dist_infos(names: &[String]) -> Vec<Package> {
    let packages = names.iter().filter_map(|name| {
        let noted = name.strip_suffix(".dist-info").or_else(|| name.strip_suffix(".egg-info"))?;
        let (name, version) = noted.split_once('-')?;
        let version = version.split_once("-py").map_or(version, |(version, _)| version);
        Some(package(name, version))
    });
    packages.collect()
}

/// A package-lock.json, of any version.
pub(super) fn npm_lock(text: &str) -> Option<Vec<Package>> {
    let lock: Value = serde_json::from_str(text).ok()?;
    let version = |entry: &Value| entry.get("version").and_then(Value::as_str).map(str::to_owned);
    // From version 2 on by path; the empty path is the project itself.
    if let Some(packages) = lock.get("packages").and_then(Value::as_object) {
        let named = packages.iter().filter_map(|(path, entry)| {
            let (_, name) = path.rsplit_once("node_modules/")?;
            Some(package(name, &version(entry)?))
        });
        return Some(named.collect());
    }
    let named = lock.get("dependencies").and_then(Value::as_object)?.iter();
    Some(named.filter_map(|(name, entry)| Some(package(name, &version(entry)?))).collect())
}

#[derive(Debug, Deserialize)]
struct CargoLock {
    #[serde(default)]
    package: Vec<CargoPackage>,
}

#[derive(Debug, Deserialize)]
struct CargoPackage {
    name: String,
    version: String,
}

/// A Cargo.lock.
pub(super) fn cargo_lock(text: &str) -> Option<Vec<Package>> {
    let lock: CargoLock = toml::from_str(text).ok()?;
    Some(lock.package.iter().map(|found| package(&found.name, &found.version)).collect())
}

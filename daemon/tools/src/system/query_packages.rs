//! Which packages are installed, from the databases that package managers keep.
//!
//! Nothing is run: the files are read where they are. Those of a project are read through the
//! workspace, as every file of it is; those of the system are readable by all.

mod lists;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use agentd_domain::{Action, ActionTarget, Capabilities, ToolResult, cut_line};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::fs::{OpenedFile, Protected, blocking, names_in, open_file, open_plain_file};
use crate::{About, Rank, ToolContext, TypedTool};
use lists::{Package, apk, brew, cargo_lock, dist_infos, dpkg, npm_lock};

/// Most bytes of one database.
const MAX_DATABASE: u64 = 64 * 1024 * 1024;

/// Packages that are shown, and names of a directory that are looked at.
const MAX_SHOWN: usize = 300;
const MAX_NAMES: usize = 20_000;

/// Longest line in characters.
const MAX_LINE: usize = 160;

/// Where packages of the system's Python are, and where a project keeps its own.
const SYSTEM_PYTHON: [&str; 2] = ["/usr/lib/python3/dist-packages", "/usr/lib64/python3"];
const PYTHON_ROOTS: [&str; 2] = ["/usr/local/lib", "/usr/lib"];
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// Files of a project that name its packages.
const NPM_LOCK: &str = "package-lock.json";
const CARGO_LOCK: &str = "Cargo.lock";

/// Where Homebrew keeps what it installs.
const CELLARS: [&str; 3] =
    ["/opt/homebrew/Cellar", "/usr/local/Cellar", "/home/linuxbrew/.linuxbrew/Cellar"];

/// Where rpm keeps its database.
const RPM: [&str; 2] = ["/var/lib/rpm/rpmdb.sqlite", "/usr/lib/sysimage/rpm/rpmdb.sqlite"];

/// Whose packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    System,
    Python,
    Npm,
    Cargo,
}

/// Arguments of query_packages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Left out: all that are there.
    source: Option<Source>,
    /// Only names that hold this.
    #[schemars(length(min = 1, max = 100))]
    name: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct QueryPackages {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for QueryPackages {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "query_packages",
            description: "Lists installed packages with their versions: of the system (dpkg, apk, \
                          Homebrew), of Python, and those that the project's package-lock.json and \
                          Cargo.lock name.",
            capabilities: Capabilities { cacheable: false, ..Capabilities::WORKSPACE_READ },
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (root, protected, source) =
            (ctx.workspace.clone(), self.protected.for_call(ctx), arguments.source);
        blocking(ctx, move |_cancel| {
            let summary = "list installed packages".to_owned();
            Ok(Action { summary, targets: reads(&root, &protected, source) })
        })
        .await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        blocking(ctx, move |_cancel| {
            let mut found = Found::default();
            let wants = |source| wanted(arguments.source, source);
            if wants(Source::System) {
                system(Path::new("/"), &mut found);
            }
            if wants(Source::Python) {
                python(&workspace, &protected, &mut found);
            }
            if wants(Source::Npm) {
                project(NPM_LOCK, npm_lock, &workspace, &protected, &mut found);
            }
            if wants(Source::Cargo) {
                project(CARGO_LOCK, cargo_lock, &workspace, &protected, &mut found);
            }
            Ok(told(found, arguments.name.as_deref()))
        })
        .await
        .unwrap_or_else(|refusal| refusal)
    }
}

fn wanted(asked: Option<Source>, source: Source) -> bool {
    asked.is_none_or(|asked| asked == source)
}

/// What is read of the workspace, as far as it is there.
fn reads(root: &Path, protected: &Protected, asked: Option<Source>) -> Vec<ActionTarget> {
    let mut reads = Vec::new();
    if wanted(asked, Source::Python) {
        reads.extend(environments(root, protected).flat_map(|found| found.reads));
    }
    for (source, name) in [(Source::Npm, NPM_LOCK), (Source::Cargo, CARGO_LOCK)] {
        if wanted(asked, source) {
            let opened = open_plain_file(root, protected, name);
            reads.extend(opened.iter().map(OpenedFile::target));
        }
    }
    reads
}

/// A directory of packages of an environment in the workspace.
struct Environment {
    name: &'static str,
    files: Vec<String>,
    reads: [ActionTarget; 2],
}

/// `lib/python3.12/site-packages` of each environment.
fn environments(root: &Path, protected: &Protected) -> impl Iterator<Item = Environment> {
    ENVIRONMENTS.into_iter().flat_map(move |name| {
        let lib = format!("{name}/lib");
        let (versions, lib_read) = names_in(root, protected, &lib, MAX_NAMES).ok().unzip();
        let versions = versions.into_iter().flatten().filter(|name| name.starts_with("python"));
        versions.filter_map(move |version| {
            let packages = format!("{lib}/{version}/site-packages");
            let (files, read) = names_in(root, protected, &packages, MAX_NAMES).ok()?;
            Some(Environment { name, files, reads: [lib_read.clone()?, read] })
        })
    })
}

/// What there is.
#[derive(Debug, Default)]
struct Found {
    /// Where they are from, and the packages.
    groups: Vec<(String, Vec<Package>)>,
    notes: Vec<String>,
}

impl Found {
    fn add(&mut self, from: impl Into<String>, packages: Vec<Package>) {
        self.groups.push((from.into(), packages));
    }
}

/// Packages of the system whose root this is.
fn system(root: &Path, found: &mut Found) {
    let read = |name: &str| read_text(&root.join(name));
    let mut is_known = false;
    for (name, from, parse) in [
        ("var/lib/dpkg/status", "dpkg", dpkg as fn(&str) -> Vec<Package>),
        ("lib/apk/db/installed", "apk", apk),
    ] {
        if let Some(text) = read(name) {
            found.add(from, parse(&text));
            is_known = true;
        }
    }
    for cellar in CELLARS {
        let packages = brew(&root.join(cellar.trim_start_matches('/')), MAX_NAMES);
        if !packages.is_empty() {
            found.add("Homebrew", packages);
            is_known = true;
        }
    }
    if RPM.iter().any(|name| root.join(name.trim_start_matches('/')).exists()) {
        found
            .notes
            .push("rpm: its database is not read here; run_command runs `rpm -qa`.".to_owned());
    } else if !is_known {
        found
            .notes
            .push("There is no database of dpkg, apk or Homebrew on this machine.".to_owned());
    }
}

fn python(root: &Path, protected: &Protected, found: &mut Found) {
    for Environment { name, files, .. } in environments(root, protected) {
        found.add(format!("Python of {name}"), dist_infos(&files));
    }
    for directory in SYSTEM_PYTHON {
        if let Some(names) = names_of(Path::new(directory)) {
            found.add(format!("Python in {directory}"), dist_infos(&names));
        }
    }
    for lib in PYTHON_ROOTS {
        let versions = names_of(Path::new(lib)).unwrap_or_default();
        for version in versions.iter().filter(|name| name.starts_with("python3.")) {
            for kind in ["site-packages", "dist-packages"] {
                let directory = format!("{lib}/{version}/{kind}");
                if let Some(names) = names_of(Path::new(&directory)) {
                    found.add(format!("Python in {directory}"), dist_infos(&names));
                }
            }
        }
    }
}

/// Packages that a file of the project names.
fn project(
    name: &str,
    parse: fn(&str) -> Option<Vec<Package>>,
    root: &Path,
    protected: &Protected,
    found: &mut Found,
) {
    // A project without the file has no such packages.
    let Ok((file, _metadata)) = open_file(root, protected, name) else { return };
    match text_of(file).as_deref().and_then(parse) {
        Some(packages) => found.add(name, packages),
        None => found.notes.push(format!("{name} cannot be read.")),
    }
}

fn read_text(path: &Path) -> Option<String> {
    text_of(File::open(path).ok()?)
}

fn text_of(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(MAX_DATABASE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn names_of(directory: &Path) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(directory).ok()?;
    let names =
        entries.take(MAX_NAMES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Some(names.collect())
}

fn told(found: Found, name: Option<&str>) -> ToolResult {
    let Found { groups, notes } = found;
    let wanted = name.map(str::to_lowercase);
    let (mut lines, mut shown, mut total) = (Vec::new(), 0, 0);
    for (from, mut packages) in groups {
        if let Some(wanted) = &wanted {
            packages.retain(|package| package.name.to_lowercase().contains(wanted));
        }
        if packages.is_empty() {
            continue;
        }
        packages.sort();
        packages.dedup();
        total += packages.len();
        lines.push(format!("{from}, {} packages:", packages.len()));
        for Package { name, version } in packages.iter().take(MAX_SHOWN - shown) {
            lines.push(cut_line(&format!("{name} {version}"), MAX_LINE));
            shown += 1;
        }
    }
    if shown < total {
        lines.push(format!("[{shown} of {total} packages are shown; a name finds the others.]"));
    }
    lines.extend(notes.iter().map(|note| format!("[{note}]")));
    if total > 0 {
        return ToolResult::success(lines.join("\n"));
    }
    let what = name.map(|name| format!(" with '{}' in its name", cut_line(name, MAX_LINE)));
    lines.insert(0, format!("[No package{} was found.]", what.unwrap_or_default()));
    ToolResult::empty(lines.join("\n"))
}

#[cfg(test)]
mod tests;

//! What machine the tools run on.

use std::path::Path;

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{About, Rank, ToolContext, TypedTool};

/// Longest value that is told, in characters.
const MAX_VALUE: usize = 120;

/// Largest file of facts that is looked at, in bytes.
const MAX_FILE: u64 = 64 * 1024;

/// Arguments of os_info.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {}

/// See the module.
#[derive(Debug)]
pub(crate) struct OsInfo;

#[async_trait]
impl TypedTool for OsInfo {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "os_info",
            description: "Tells the operating system, kernel, architecture, processors, memory \
                          and shell of this machine.",
            // The free memory is another one a moment later.
            capabilities: Capabilities { cacheable: false, ..Capabilities::PURE },
            aliases: &["toolkit_os_info"],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn run(
        &self,
        _ctx: &ToolContext,
        _arguments: Arguments,
        _planned: &Action,
    ) -> ToolResult {
        // Files of /proc and /etc: small, and no disk is waited for.
        ToolResult::success(tell(&Facts::look()))
    }
}

/// What was found. What a machine does not tell is left out, not guessed.
#[derive(Debug, Default)]
struct Facts {
    kernel: String,
    release: String,
    os_release: Option<String>,
    meminfo: Option<String>,
    processors: Option<usize>,
    shell: Option<String>,
    in_container: bool,
}

impl Facts {
    fn look() -> Self {
        let system = rustix::system::uname();
        Self {
            kernel: system.sysname().to_string_lossy().into_owned(),
            release: system.release().to_string_lossy().into_owned(),
            os_release: small_file("/etc/os-release").or_else(|| small_file("/usr/lib/os-release")),
            meminfo: small_file("/proc/meminfo"),
            processors: std::thread::available_parallelism().ok().map(usize::from),
            shell: std::env::var("SHELL").ok(),
            in_container: ["/.dockerenv", "/run/.containerenv"]
                .iter()
                .any(|mark| Path::new(mark).exists()),
        }
    }
}

fn small_file(path: &str) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MAX_FILE).read_to_string(&mut text).ok()?;
    Some(text)
}

fn tell(facts: &Facts) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: Option<String>| {
        let value = value.map(|value| {
            let plain: String = value.chars().filter(|c| !c.is_control()).collect();
            cut_line(plain.trim(), MAX_VALUE)
        });
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push(format!("{name}: {value}"));
        }
    };
    let os_release = facts.os_release.as_deref().unwrap_or_default();
    line("system", os_release_field(os_release, "PRETTY_NAME"));
    line("kernel", Some(format!("{} {}", facts.kernel, facts.release)));
    line("architecture", Some(std::env::consts::ARCH.to_owned()));
    line("processors", facts.processors.map(|count| count.to_string()));
    let meminfo = facts.meminfo.as_deref().unwrap_or_default();
    line("memory", mebibytes(meminfo, "MemTotal"));
    line("memory available", mebibytes(meminfo, "MemAvailable"));
    line("shell", facts.shell.clone());
    line("container", facts.in_container.then(|| "yes".to_owned()));
    lines.join("\n")
}

/// A field of os-release(5), without its quotes.
fn os_release_field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

/// A field of proc_meminfo(5), which is in KiB.
fn mebibytes(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{} MiB", kibibytes / 1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_tells_is_told_and_the_rest_is_left_out() {
        let facts = Facts {
            kernel: "Linux".to_owned(),
            release: "6.1.0".to_owned(),
            os_release: Some(
                "ID=debian\nPRETTY_NAME=\"Debian \u{1b}[2JGNU/Linux 12\"\n".to_owned(),
            ),
            meminfo: Some("MemTotal:       16384000 kB\nMemAvailable: many kB\n".to_owned()),
            processors: Some(8),
            shell: None,
            in_container: false,
        };
        assert_eq!(
            tell(&facts),
            format!(
                "system: Debian [2JGNU/Linux 12\nkernel: Linux 6.1.0\narchitecture: {}\n\
                 processors: 8\nmemory: 16000 MiB",
                std::env::consts::ARCH
            )
        );
    }

    #[test]
    fn this_machine_has_a_kernel() {
        let told = tell(&Facts::look());
        assert!(told.contains(&format!("kernel: {}", Facts::look().kernel)), "{told}");
    }
}

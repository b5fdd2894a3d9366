//! `[sandbox.limits]`: what programs that agents run may use up.

use std::time::Duration;

use agentd_sandbox::Limits;
use agentd_tools::ProcessLimits;
use serde::{Deserialize, Serialize};

use super::schema::{BadValue, range};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// `[sandbox.limits]`: what programs that agents run may use up. Commands build and test, scripts
/// compute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitsConfig {
    /// Longest run in seconds, when a call says nothing.
    pub timeout_s: u64,
    /// Longest run in seconds that a call may ask for.
    pub max_timeout_s: u64,
    /// KiB of one stream of output that are kept, half of them from its end.
    pub output_kib: u64,
    /// Jobs of a session that run at the same time.
    pub jobs: u64,
    /// Longest run of a job in seconds, and of a terminal.
    pub job_s: u64,
    /// Terminals of a session that are open at the same time.
    pub terminals: u64,
    /// Memory of one process of a command in MiB.
    pub command_memory_mib: u64,
    /// Processes and threads of a command at the same time.
    pub command_processes: u64,
    /// CPU time of one process of a command in seconds.
    pub command_cpu_s: u64,
    /// Size of one file that a command writes, in MiB.
    pub command_file_mib: u64,
    /// The same of a script.
    pub script_memory_mib: u64,
    /// The same of a script.
    pub script_processes: u64,
    /// The same of a script.
    pub script_cpu_s: u64,
    /// The same of a script.
    pub script_file_mib: u64,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let ProcessLimits {
            command,
            script,
            usual_time,
            longest_time,
            output_bytes,
            jobs,
            job_time,
            terminals,
        } = ProcessLimits::default();
        Self {
            timeout_s: usual_time.as_secs(),
            max_timeout_s: longest_time.as_secs(),
            output_kib: u64::try_from(output_bytes).unwrap_or(u64::MAX) / KIB,
            jobs: u64::try_from(jobs).unwrap_or(u64::MAX),
            job_s: job_time.as_secs(),
            terminals: u64::try_from(terminals).unwrap_or(u64::MAX),
            command_memory_mib: command.memory_bytes / MIB,
            command_processes: command.processes,
            command_cpu_s: command.cpu.as_secs(),
            command_file_mib: command.file_bytes / MIB,
            script_memory_mib: script.memory_bytes / MIB,
            script_processes: script.processes,
            script_cpu_s: script.cpu.as_secs(),
            script_file_mib: script.file_bytes / MIB,
        }
    }
}

impl LimitsConfig {
    pub(super) fn check(&self) -> Result<(), BadValue> {
        let numbers = [
            ("max_timeout_s", self.max_timeout_s, 1, 3_600),
            ("timeout_s", self.timeout_s, 1, self.max_timeout_s),
            // All of a call's output is 128 KiB.
            ("output_kib", self.output_kib, 1, 64),
            ("jobs", self.jobs, 1, 64),
            ("job_s", self.job_s, 1, 86_400),
            ("terminals", self.terminals, 1, 16),
            ("command_memory_mib", self.command_memory_mib, 16, 1024 * 1024),
            ("script_memory_mib", self.script_memory_mib, 16, 1024 * 1024),
            ("command_processes", self.command_processes, 4, 65_536),
            ("script_processes", self.script_processes, 4, 65_536),
            ("command_cpu_s", self.command_cpu_s, 1, 86_400),
            ("script_cpu_s", self.script_cpu_s, 1, 86_400),
            ("command_file_mib", self.command_file_mib, 1, 1024 * 1024),
            ("script_file_mib", self.script_file_mib, 1, 1024 * 1024),
        ];
        for (name, value, least, most) in numbers {
            range(&format!("sandbox.limits.{name}"), value, least, most)?;
        }
        Ok(())
    }

    /// For the tools.
    pub fn processes(&self) -> ProcessLimits {
        let usual = ProcessLimits::default();
        let script_memory = self.script_memory_mib * MIB;
        let command_memory = self.command_memory_mib * MIB;
        ProcessLimits {
            command: Limits {
                memory_bytes: command_memory,
                address_bytes: usual.command.address_bytes.max(command_memory),
                total_memory_bytes: usual.command.total_memory_bytes.max(command_memory),
                processes: self.command_processes,
                cpu: Duration::from_secs(self.command_cpu_s),
                file_bytes: self.command_file_mib * MIB,
                ..usual.command
            },
            script: Limits {
                memory_bytes: script_memory,
                // Nothing of a script reserves what it does not use.
                address_bytes: script_memory,
                total_memory_bytes: script_memory,
                processes: self.script_processes,
                cpu: Duration::from_secs(self.script_cpu_s),
                file_bytes: self.script_file_mib * MIB,
                ..usual.script
            },
            usual_time: Duration::from_secs(self.timeout_s),
            longest_time: Duration::from_secs(self.max_timeout_s),
            output_bytes: usize::try_from(self.output_kib * KIB).unwrap_or(usize::MAX),
            jobs: usize::try_from(self.jobs).unwrap_or(usize::MAX),
            job_time: Duration::from_secs(self.job_s),
            terminals: usize::try_from(self.terminals).unwrap_or(usize::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_numbers_are_those_of_the_tools() {
        assert_eq!(LimitsConfig::default().processes(), ProcessLimits::default());
        assert_eq!(LimitsConfig::default().check(), Ok(()));
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let check = |change: fn(&mut LimitsConfig), key: &str| {
            let mut limits = LimitsConfig::default();
            change(&mut limits);
            assert_eq!(limits.check().unwrap_err().key, format!("sandbox.limits.{key}"));
        };
        check(|limits| limits.timeout_s = 121, "timeout_s");
        check(|limits| limits.max_timeout_s = 0, "max_timeout_s");
        check(|limits| limits.output_kib = 65, "output_kib");
        check(|limits| limits.script_memory_mib = 1, "script_memory_mib");
        check(|limits| limits.command_cpu_s = 0, "command_cpu_s");
    }

    #[test]
    fn more_memory_is_more_addresses() {
        let limits = LimitsConfig { script_memory_mib: 1024, ..LimitsConfig::default() };
        let limits = limits.processes();
        assert_eq!(limits.script.address_bytes, 1024 * MIB);
        assert_eq!(limits.command, Limits::BUILD);
    }
}

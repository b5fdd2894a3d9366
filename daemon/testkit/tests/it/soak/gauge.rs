//! Memory and descriptors of a process, as the kernel counts them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;

/// One look at the process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sample {
    /// Resident memory in KiB.
    pub(crate) resident_kib: u64,
    /// Open descriptors.
    pub(crate) descriptors: u64,
}

/// Looks at a process now and then until it is dropped.
#[derive(Debug)]
pub(crate) struct Gauge {
    pid: u32,
    samples: Arc<Mutex<Vec<Sample>>>,
    _task: JoinSet<()>,
}

impl Gauge {
    pub(crate) fn start(pid: u32, every: Duration) -> Self {
        let samples = Arc::new(Mutex::new(Vec::new()));
        let mut task = JoinSet::new();
        let into = Arc::clone(&samples);
        task.spawn(async move {
            let mut ticks = tokio::time::interval(every);
            loop {
                ticks.tick().await;
                let sample = look(pid);
                into.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
            }
        });
        Self { pid, samples, _task: task }
    }

    /// How it is now.
    pub(crate) fn now(&self) -> Sample {
        look(self.pid)
    }

    /// Medians of four equally long windows. The first one is the warm-up.
    pub(crate) fn windows(&self) -> [Sample; 4] {
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let length = samples.len().div_ceil(4).max(1);
        let mut windows = [Sample::default(); 4];
        for (window, samples) in windows.iter_mut().zip(samples.chunks(length)) {
            *window = Sample {
                resident_kib: median(samples.iter().map(|sample| sample.resident_kib)),
                descriptors: median(samples.iter().map(|sample| sample.descriptors)),
            };
        }
        windows
    }
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn look(pid: u32) -> Sample {
    let proc = PathBuf::from(format!("/proc/{pid}"));
    let status = std::fs::read_to_string(proc.join("status")).expect("the process runs");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|line| line.split_whitespace().next());
    let descriptors = std::fs::read_dir(proc.join("fd")).expect("the process is ours").count();
    Sample {
        resident_kib: resident.expect("VmRSS").parse().expect("a number"),
        descriptors: u64::try_from(descriptors).expect("few"),
    }
}

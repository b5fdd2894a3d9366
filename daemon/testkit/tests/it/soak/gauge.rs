//! Memory and descriptors of a process, as the kernel counts them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;

/// One look at the process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sample {
    /// Resident memory in KiB, without files: those are the program itself, page by page as it is used.
    pub(crate) resident_kib: u64,
    /// Open descriptors.
    pub(crate) descriptors: u64,
    pub(crate) threads: u64,
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
                threads: median(samples.iter().map(|sample| sample.threads)),
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
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let word = line.and_then(|line| line.split_whitespace().next()).expect("it is there");
        word.parse().expect("a number")
    };
    let descriptors = std::fs::read_dir(proc.join("fd")).expect("the process is ours").count();
    Sample {
        resident_kib: number("RssAnon:"),
        descriptors: u64::try_from(descriptors).expect("few"),
        threads: number("Threads:"),
    }
}

//! Walking the files below a directory, on several threads.
//!
//! Directories are opened beneath the workspace's handle and files by their name in a directory that
//! is open, so a walk cannot leave the workspace. Links are not followed. What is left out is
//! counted: an answer that nothing was found must say where it was not looked for.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cap_std::fs::Dir;
use globset::GlobSet;
use tokio_util::sync::CancellationToken;

use super::ignored::Rules;
use super::protected::is_secret;
use super::skipped::Skipped;
use super::workspace::Workspace;

/// Most threads of a walk.
const MAX_THREADS: usize = 4;

/// Files of a directory that one thread takes at a time.
const SHARE: usize = 256;

/// Which files are wanted.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    /// Where it begins, below the workspace and without links.
    pub(super) base: &'a Path,
    /// Hidden entries too.
    pub(super) hidden: bool,
    /// Names of hidden entries that are wanted all the same.
    pub(super) dots: &'a GlobSet,
    /// Ignored entries too.
    pub(super) ignored: bool,
    /// Ends the walk where it is.
    pub(super) stop: &'a CancellationToken,
}

/// A file that was come by.
pub(super) struct Found<'a> {
    /// The directory that it is in.
    pub(super) dir: &'a Dir,
    /// Its name there.
    pub(super) name: &'a OsStr,
    /// Its path below the workspace.
    pub(super) place: &'a Path,
    /// Its path below the base of the walk.
    pub(super) below: &'a Path,
}

impl Walk<'_> {
    /// Calls `visit` with each plain file, in no order and from several threads at once.
    pub(super) fn run(
        &self,
        workspace: &Workspace<'_>,
        visit: &(dyn Fn(&Found<'_>, &mut Skipped) + Sync),
    ) -> Skipped {
        let first = Job {
            place: self.base.to_owned(),
            rules: if self.ignored { Rules::none() } else { Rules::of(workspace, self.base) },
            files: None,
        };
        let private = workspace.private();
        let walk =
            Running { walk: self, workspace, visit, private: &private, queue: Queue::of(first) };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let total = Mutex::new(Skipped::default());
        std::thread::scope(|scope| {
            for _thread in 0..threads {
                scope.spawn(|| {
                    let skipped = walk.work();
                    lock(&total).add(skipped);
                });
            }
        });
        total.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A directory to list, or some of its files to visit.
struct Job {
    place: PathBuf,
    rules: Arc<Rules>,
    files: Option<Vec<OsString>>,
}

struct Running<'a> {
    walk: &'a Walk<'a>,
    workspace: &'a Workspace<'a>,
    visit: &'a (dyn Fn(&Found<'_>, &mut Skipped) + Sync),
    private: &'a [PathBuf],
    queue: Queue,
}

impl Running<'_> {
    fn work(&self) -> Skipped {
        let mut skipped = Skipped::default();
        while let Some((job, _busy)) = self.queue.next(self.walk.stop) {
            if let Err(error) = self.do_job(&job, &mut skipped) {
                skipped.unreadable(&job.place, &error);
            }
        }
        skipped
    }

    fn do_job(&self, job: &Job, skipped: &mut Skipped) -> io::Result<()> {
        let dir = self.workspace.open_found(&job.place)?;
        let files = match &job.files {
            Some(files) => files,
            None => &self.list(&dir, job, skipped)?,
        };
        for name in files {
            if self.walk.stop.is_cancelled() {
                break;
            }
            let place = job.place.join(name);
            let below = place.strip_prefix(self.walk.base).unwrap_or(&place);
            (self.visit)(&Found { dir: &dir, name, place: &place, below }, skipped);
        }
        Ok(())
    }

    /// Queues the directories in a directory, and gives its first files.
    fn list(&self, dir: &Dir, job: &Job, skipped: &mut Skipped) -> io::Result<Vec<OsString>> {
        // The directory may have been swapped for a link since its name was seen.
        if job.place != self.walk.base && !self.workspace.is_at(dir, &job.place) {
            skipped.links += 1;
            return Ok(Vec::new());
        }
        let is_base = job.place == self.walk.base;
        let rules = if self.walk.ignored || is_base {
            Arc::clone(&job.rules)
        } else {
            Arc::clone(&job.rules).within(dir, &job.place)
        };
        let (mut files, mut jobs) = (Vec::new(), Vec::new());
        for entry in dir.entries()? {
            if self.walk.stop.is_cancelled() {
                break;
            }
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            let place = job.place.join(&name);
            if !self.wants(&name, &place, kind.is_dir(), &rules, skipped) {
            } else if kind.is_dir() {
                jobs.push(Job { place, rules: Arc::clone(&rules), files: None });
            } else if kind.is_file() {
                files.push(name);
            } else if kind.is_symlink() {
                skipped.links += 1;
            } else {
                skipped.special += 1;
            }
        }
        files.sort_unstable();
        let rest = files.split_off(files.len().min(SHARE));
        jobs.extend(rest.chunks(SHARE).map(|share| Job {
            place: job.place.clone(),
            rules: Arc::clone(&rules),
            files: Some(share.to_vec()),
        }));
        self.queue.add(jobs);
        Ok(files)
    }

    fn wants(
        &self,
        name: &OsStr,
        place: &Path,
        is_dir: bool,
        rules: &Rules,
        skipped: &mut Skipped,
    ) -> bool {
        let real = self.workspace.absolute(place);
        if name.to_str().is_some_and(is_secret)
            || self.private.iter().any(|private| real.starts_with(private))
        {
            skipped.protected += 1;
            return false;
        }
        if name == ".git" {
            return false;
        }
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if is_hidden && !self.walk.hidden && !self.walk.dots.is_match(name) {
            skipped.hidden += 1;
            return false;
        }
        if !self.walk.ignored && rules.ignores(place, is_dir) {
            skipped.ignored += 1;
            return false;
        }
        true
    }
}

/// What is still to do. A walk ends when it is empty and nobody is at work.
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    jobs: Vec<Job>,
    busy: usize,
}

/// Somebody is at work, who may add to the queue.
struct Busy<'a>(&'a Queue);

impl Queue {
    fn of(first: Job) -> Self {
        Self { state: Mutex::new(State { jobs: vec![first], busy: 0 }), changed: Condvar::new() }
    }

    fn add(&self, jobs: Vec<Job>) {
        lock(&self.state).jobs.extend(jobs);
        self.changed.notify_all();
    }

    fn next(&self, stop: &CancellationToken) -> Option<(Job, Busy<'_>)> {
        let mut state = lock(&self.state);
        loop {
            if stop.is_cancelled() {
                return None;
            }
            if let Some(job) = state.jobs.pop() {
                state.busy += 1;
                return Some((job, Busy(self)));
            }
            if state.busy == 0 {
                return None;
            }
            // Whoever is at work ends it soon after a stop, and wakes the others.
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).busy -= 1;
        self.0.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! What a directory tree says is not to be looked at: `.gitignore`, `.ignore` and git's own list.
//!
//! Files above the workspace have no say, and one need not be a repository to have a `.gitignore`.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::workspace::Workspace;

/// How much of a list is read, in bytes.
const MAX_LIST: u64 = 1024 * 1024;

/// Lists in a directory; a later one prevails.
const LISTS: [&str; 3] = [".git/info/exclude", ".gitignore", ".ignore"];

/// The lists of a directory and of those above it.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Self>>,
    own: Gitignore,
}

impl Rules {
    /// Ignores nothing.
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self { above: None, own: Gitignore::empty() })
    }

    /// The rules that hold in the directory `place`. It is wanted by its name, so what ignores the
    /// directory itself does not hold in it.
    pub(super) fn of(workspace: &Workspace<'_>, place: &Path) -> Arc<Self> {
        let mut at = PathBuf::new();
        let enter = |rules: Arc<Self>, at: &Path| match workspace.open_found(at) {
            Ok(dir) => rules.within(&dir, at),
            Err(_) => rules,
        };
        // A further root has lists of its own.
        let mut rules = if place.is_absolute() { Self::none() } else { enter(Self::none(), &at) };
        for part in place.components() {
            at.push(part);
            let above = if rules.ignores(&at, true) { Self::none() } else { rules };
            rules = enter(above, &at);
        }
        rules
    }

    /// These rules and those that a directory below adds.
    pub(super) fn within(self: Arc<Self>, dir: &Dir, place: &Path) -> Arc<Self> {
        let mut builder = GitignoreBuilder::new(place);
        let mut any = false;
        for list in LISTS {
            let Some(text) = read(dir, list) else { continue };
            any = true;
            for line in text.lines() {
                // As with git, a line that is no pattern ignores nothing.
                drop(builder.add_line(None, line));
            }
        }
        match builder.build() {
            Ok(own) if any => Arc::new(Self { above: Some(self), own }),
            _ => self,
        }
    }

    /// True when a path below the workspace is ignored. The nearest list that knows it decides.
    pub(super) fn ignores(&self, place: &Path, is_dir: bool) -> bool {
        let mut rules = Some(self);
        while let Some(here) = rules {
            match here.own.matched(place, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = here.above.as_deref(),
            }
        }
        false
    }
}

fn read(dir: &Dir, list: &str) -> Option<String> {
    let file = dir.open(list).ok().filter(|file| file.metadata().is_ok_and(|is| is.is_file()))?;
    let mut bytes = Vec::new();
    file.take(MAX_LIST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

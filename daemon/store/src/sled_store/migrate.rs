//! Bringing an older store to this build's version.

use std::path::Path;

use crate::sled_store::fault::{Fault, guarded};
use crate::sled_store::files::open_sled;
use crate::sled_store::open::{error_of, io_error, set_version};
use crate::sled_store::{OpenError, disk};

/// One version's worth of change. It must be repeatable: a kill in the middle runs it again.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// Version that it starts from.
    pub(crate) from: u32,
    /// Changes the records.
    pub(crate) run: fn(&sled::Db) -> Result<(), Fault>,
}

/// The steps of this build, in order. Version 1 is the first.
pub(crate) const STEPS: &[Step] = &[];

/// Copies the closed store to `NAME.before-vN`, then takes the steps.
pub(crate) fn migrate(
    dir: &Path,
    cache_bytes: u64,
    found: u32,
    steps: &[Step],
) -> Result<sled::Db, OpenError> {
    let supported = steps.last().map_or(super::open::VERSION, |step| step.from + 1);
    let first = steps.iter().position(|step| step.from == found);
    let Some(steps) = first.and_then(|first| steps.get(first..)) else {
        return Err(OpenError::OlderVersion { found, supported });
    };
    let copy = disk::beside(dir, &format!("before-v{supported}"));
    // The copy of an attempt that was killed shows the store before it as well.
    if !copy.exists() {
        let unfinished = disk::beside(dir, "before-migration");
        disk::copy_sled_dir(dir, &unfinished, |_any| true)
            .and_then(|()| std::fs::rename(&unfinished, &copy))
            .map_err(|error| io_error(dir, error))?;
    }
    let db = open_sled(dir, cache_bytes).map_err(|fault| error_of(dir, fault))?;
    for Step { from, run } in steps {
        guarded(|| run(&db))
            .and_then(|()| set_version(&db, from + 1))
            .map_err(|fault| error_of(dir, fault))?;
        tracing::info!(from, to = from + 1, "the store was migrated");
    }
    Ok(db)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sled_store::open::version_of;

    const FAKE: &[Step] = &[Step {
        from: 0,
        run: |db| {
            db.insert("new", "layout")?;
            Ok(())
        },
    }];

    fn old_store() -> (tempfile::TempDir, std::path::PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("store");
        let db = open_sled(&dir, 1 << 20).unwrap();
        set_version(&db, 0).unwrap();
        (temp, dir)
    }

    #[test]
    fn an_old_store_is_copied_and_then_migrated() {
        let (_temp, dir) = old_store();
        let db = migrate(&dir, 1 << 20, 0, FAKE).unwrap();
        assert_eq!(version_of(&db).unwrap(), Some(1));
        assert_eq!(db.get("new").unwrap().as_deref(), Some(&b"layout"[..]));
        let copy = open_sled(&disk::beside(&dir, "before-v1"), 1 << 20).unwrap();
        assert_eq!(version_of(&copy).unwrap(), Some(0));
        assert_eq!(copy.get("new").unwrap(), None);
    }

    #[test]
    fn a_version_without_a_step_is_refused() {
        let (_temp, dir) = old_store();
        let refused = migrate(&dir, 1 << 20, 0, STEPS).unwrap_err();
        assert!(matches!(refused, OpenError::OlderVersion { found: 0, supported: 1 }));
    }
}

//! `agentd check`: reads every record of the store while no daemon runs.
//!
//! Opening a store may repair it, so what is opened is a copy: a check changes nothing.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::ExitCode;

use agentd_shared::Paths;
use agentd_store::{InstanceLock, LockError, SledOptions, SledStore, Store as _};

use super::{complain, print};
use crate::exit;

pub(crate) fn run(paths: &Paths) -> ExitCode {
    if !paths.store_dir().exists() {
        print("there is no store yet\n");
        return ExitCode::SUCCESS;
    }
    let _lock = match InstanceLock::acquire(&paths.instance_lock()) {
        Ok(lock) => lock,
        Err(error) => {
            complain(&error.to_string(), error.hint());
            let held = matches!(error, LockError::Held { .. });
            return ExitCode::from(if held { exit::ALREADY_RUNNING } else { exit::STORE });
        }
    };
    let copy = paths.data_dir.join(format!("check.{}", std::process::id()));
    let code = match copy_store(paths, &copy) {
        Ok(()) => check(&copy.join("store")),
        Err(error) => {
            let hint = "the check works on a copy beside the store; see that there is room for it";
            complain(&format!("the store cannot be copied: {error}"), hint);
            ExitCode::from(exit::STORE)
        }
    };
    if let Err(error) = std::fs::remove_dir_all(&copy) {
        complain(&format!("{} stays: {error}", copy.display()), "remove it by hand");
    }
    code
}

/// Copies the store and the mark beside it.
fn copy_store(paths: &Paths, to: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(to)?;
    copy_dir(&paths.store_dir(), &to.join("store"))?;
    let mark = paths.data_dir.join("store.commits");
    match std::fs::copy(mark, to.join("store.commits")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Opens the copy, reads all of it and tells what there is to tell.
fn check(store: &Path) -> ExitCode {
    let opened = match SledStore::open(store, SledOptions::default()) {
        Ok(opened) => opened,
        Err(error) => {
            complain(&error.to_string(), error.hint());
            return ExitCode::from(exit::STORE);
        }
    };
    let warnings = opened.report.warnings();
    let was_sound = warnings.is_empty();
    for warning in warnings {
        print(&format!("warning: {warning}\n"));
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&error.to_string(), "check the limits of the process");
            return ExitCode::from(exit::FAILED);
        }
    };
    let verified = runtime.block_on(async {
        let report = opened.store.verify().await;
        (report, opened.store.close().await)
    });
    match verified {
        (Ok(report), Ok(())) => {
            print(&format!("{} sessions, {} events\n", report.sessions, report.events));
            for session in &report.damaged {
                print(&format!("damaged: {session}\n"));
            }
            if report.damaged_records > 0 {
                print(&format!("damaged records beside the logs: {}\n", report.damaged_records));
            }
            if let Some(damage) = &report.backend_damage {
                print(&format!("damaged files: {damage}\n"));
            }
            if report.is_sound() && was_sound {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(exit::STORE)
            }
        }
        (Err(error), _) => {
            complain(&error.to_string(), error.hint());
            ExitCode::from(exit::STORE)
        }
        (_, Err(error)) => {
            complain(&error.to_string(), error.hint());
            ExitCode::from(exit::STORE)
        }
    }
}

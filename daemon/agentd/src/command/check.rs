//! `agentd check`: reads every record of the store while no daemon runs.

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
    let options = SledOptions { backups: Some(paths.backups_dir()), ..SledOptions::default() };
    let opened = match SledStore::open(&paths.store_dir(), options) {
        Ok(opened) => opened,
        Err(error) => {
            complain(&error.to_string(), error.hint());
            return ExitCode::from(exit::STORE);
        }
    };
    for warning in opened.report.warnings() {
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
            if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::from(exit::STORE) }
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

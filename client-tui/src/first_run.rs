//! How the questions of a first run are put, on the ordinary screen before the full one begins.

use std::io::{self, Write as _};

use agentd_shared::setup::Voice;
use agentd_shared::text::sanitize;

use crate::exit::tell;

/// The screen that the shell has.
#[derive(Debug, Clone, Copy)]
pub struct OrdinaryScreen;

impl Voice for OrdinaryScreen {
    fn line(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(format!("{}\n", sanitize(text)).as_bytes())?;
        out.flush()
    }

    fn note(&self, text: &str) {
        tell(&format!("{}\n", sanitize(text)));
    }

    fn ask(&self, question: &str) {
        tell(&format!("{} ", sanitize(question)));
    }
}

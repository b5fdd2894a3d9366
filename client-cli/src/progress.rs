//! How far long work has come: a bar or a spinner on stderr, and nothing where nobody looks at it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// Pause between two frames of a spinner.
const FRAME: Duration = Duration::from_millis(120);
/// Frames for terminals that may not have others.
const FRAMES: &[&str] = &["-", "\\", "|", "/", " "];

/// What is shown of work that takes long. Dropping it takes it off the screen.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// Bytes.
    Bytes,
    /// Things of this name.
    Things(&'static str),
}

impl Progress {
    /// Work whose end is known.
    pub(crate) fn bar(output: &Output, what: &'static str, unit: Unit, total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), target(output));
        let counts = match unit {
            Unit::Bytes => "{bytes}/{total_bytes}".to_owned(),
            Unit::Things(name) => format!("{{pos}}/{{len}} {name}"),
        };
        bar.set_style(style(&format!("{{msg}} [{{bar:30}}] {counts}")).progress_chars("=> "));
        bar.set_message(what);
        Self(bar)
    }

    /// Work that counts and whose end is not known.
    pub(crate) fn count(output: &Output, what: &'static str, unit: Unit) -> Self {
        let bar = ProgressBar::with_draw_target(None, target(output));
        let counts = match unit {
            Unit::Bytes => "{bytes}".to_owned(),
            Unit::Things(name) => format!("{{pos}} {name}"),
        };
        bar.set_style(style(&format!("{{spinner}} {{msg}} {counts}")).tick_strings(FRAMES));
        bar.set_message(what);
        bar.enable_steady_tick(FRAME);
        Self(bar)
    }

    /// Work that somebody else does, of which only the time is known.
    pub(crate) fn wait(output: &Output, what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, target(output));
        bar.set_style(style("{spinner} {msg} {elapsed}").tick_strings(FRAMES));
        bar.set_message(what);
        bar.enable_steady_tick(FRAME);
        Self(bar)
    }

    /// So much of it is done by now.
    pub(crate) fn reached(&self, position: u64) {
        self.0.set_position(position);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn target(output: &Output) -> ProgressDrawTarget {
    if output.can_redraw_stderr() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

fn style(template: &str) -> ProgressStyle {
    // Templates are ours; one that is wrong shows a bar of the usual look.
    ProgressStyle::with_template(template).unwrap_or_else(|_wrong| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_right() {
        for template in [
            "{msg} [{bar:30}] {bytes}/{total_bytes}",
            "{msg} [{bar:30}] {pos}/{len} memories",
            "{spinner} {msg} {bytes}",
            "{spinner} {msg} {elapsed}",
        ] {
            ProgressStyle::with_template(template).unwrap();
        }
    }
}

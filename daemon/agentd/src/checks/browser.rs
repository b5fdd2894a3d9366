//! What renders pages of the web whose scripts make them.

use agentd_sandbox::{Known, Programs, Promise};
use agentd_tools::installed_browser;

use super::Check;

const NAME: &str = "browser";

/// After the check of the sandbox, by which it is known.
pub(super) fn check(programs: Option<&Programs>) -> Check {
    let Some(programs) = programs else {
        return Check::skipped(NAME, "this process runs no programs");
    };
    let Some(browser) = installed_browser(programs.policy()) else {
        return Check::skipped(
            NAME,
            "no Chromium is installed where programs run, so that render_page renders nothing; the \
             package chromium adds it",
        );
    };
    match programs.known() {
        Known::InForce { backend, accounting, .. } => {
            match Promise::Hosts.unpromised(backend, &accounting) {
                None => Check::ok(NAME, format!("render_page uses {}", browser.display())),
                Some(why) => Check::skipped(
                    NAME,
                    format!("render_page renders nothing: {}; {}", why.reason, why.remedy),
                ),
            }
        }
        Known::Nothing | Known::NoneWorks(_) => {
            Check::skipped(NAME, "render_page renders nothing without a sandbox")
        }
    }
}

//! Who looks after the daemon, who reaches it from other machines, and who gets its traces.

use super::{Check, Subject};
use crate::control::Supervision;
use crate::remote::Remote;
use crate::traces::TracesState;

/// Days before a certificate's end from which on somebody should make a new one.
const EXPIRY_DAYS: i64 = 14;
const DAY_MS: i64 = 86_400_000;

pub(super) fn service(supervision: &Supervision) -> Check {
    const NAME: &str = "service";
    let Supervision { is_notified, watchdog, is_socket_activated } = supervision;
    let socket = if *is_socket_activated { "its socket is systemd's" } else { "its own socket" };
    match (is_notified, watchdog) {
        (false, _) => Check::ok(
            NAME,
            format!(
                "no service manager looks after it, {socket}; `agentctl service install` makes it one"
            ),
        ),
        (true, Some(watchdog)) => Check::ok(
            NAME,
            format!("under a service manager, watchdog {} s, {socket}", watchdog.as_secs_f64()),
        ),
        (true, None) => Check::warn(
            NAME,
            format!("under a service manager, no watchdog, {socket}"),
            "set WatchdogSec= in the unit, as `agentctl service install` does, so that a daemon that hangs is restarted",
        ),
    }
}

pub(super) fn remote(subject: &Subject<'_>) -> Check {
    const NAME: &str = "remote";
    let Remote { tokens, tls, is_wanted, .. } = subject.remote;
    let addresses = subject.remote.addresses();
    if !is_wanted {
        return Check::skipped(NAME, "no clients on other machines are served (remote.listen)");
    }
    if addresses.is_empty() {
        let detail = "no address of remote.listen can be had; they are tried again and again";
        return Check::fail(NAME, detail, "see the warnings of `agentctl status`");
    }
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let shown = shown.join(", ");
    if tokens.list().is_empty() {
        let detail = format!("{shown}: nobody can come in, there is no token");
        return Check::warn(NAME, detail, "make one with `agentctl token create NAME`");
    }
    let Some(tls) = tls else {
        return Check::ok(NAME, format!("{shown}, without TLS on this machine alone"));
    };
    if let Some(failure) = tls.failure() {
        let detail = format!("{shown}: the newest certificate is not in force: {failure}");
        return Check::fail(NAME, detail, "correct the files, then run `agentctl reload`");
    }
    certificate(NAME, &shown, tls.current().not_after_ms(), subject.clock.now().0)
}

pub(super) fn traces(state: &TracesState) -> Check {
    const NAME: &str = "traces";
    match state {
        TracesState::Unwanted => Check::skipped(NAME, "none are exported (otel.endpoint)"),
        TracesState::NotExported { why, remedy } => {
            Check::warn(NAME, format!("they are not exported: {why}"), remedy.as_str())
        }
        TracesState::Exported { endpoint, figures } => {
            let (exported, lost) = (figures.exported(), figures.lost());
            let detail = format!("{endpoint}: {exported} spans exported, {lost} lost");
            match figures.failure() {
                None => Check::ok(NAME, detail),
                Some(failure) => Check::warn(
                    NAME,
                    format!("{detail}; the newest could not be exported: {failure}"),
                    "see that a collector takes OTLP over gRPC there, usually on port 4317",
                ),
            }
        }
    }
}

fn certificate(name: &'static str, shown: &str, not_after_ms: Option<i64>, now_ms: i64) -> Check {
    let remedy = "make or get a new certificate, then run `agentctl reload`";
    let Some(not_after_ms) = not_after_ms else {
        let detail = format!("{shown}: until when the certificate is good cannot be read");
        return Check::warn(name, detail, remedy);
    };
    let days = (not_after_ms - now_ms).div_euclid(DAY_MS);
    if not_after_ms <= now_ms {
        return Check::fail(name, format!("{shown}: the certificate has expired"), remedy);
    }
    let detail = format!("{shown}, the certificate is good for {days} days");
    if days < EXPIRY_DAYS {
        return Check::warn(name, detail, remedy);
    }
    Check::ok(name, detail)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Outcome;
    use super::*;

    #[test]
    fn a_certificate_that_ends_soon_is_told_in_time() {
        let check = |days: i64| {
            let check = certificate("remote", "[::]:1", Some(days * DAY_MS), 0);
            (check.outcome, check.remedy.is_empty())
        };
        assert_eq!(check(14), (Outcome::Ok, true));
        assert_eq!(check(13), (Outcome::Warn, false));
        assert_eq!(check(0), (Outcome::Fail, false));
        assert_eq!(certificate("remote", "", None, 0).outcome, Outcome::Warn);
    }

    #[test]
    fn a_service_without_a_watchdog_is_told() {
        let of = |is_notified, watchdog| {
            service(&Supervision { is_notified, watchdog, is_socket_activated: is_notified })
        };
        assert_eq!(of(false, None).outcome, Outcome::Ok);
        let watched = of(true, Some(Duration::from_secs(30)));
        let expect = "under a service manager, watchdog 30 s, its socket is systemd's";
        assert_eq!((watched.outcome, watched.detail.as_str()), (Outcome::Ok, expect));
        let unwatched = of(true, None);
        assert_eq!(unwatched.outcome, Outcome::Warn);
        assert!(unwatched.remedy.contains("WatchdogSec="));
    }
}

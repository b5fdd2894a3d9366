//! The layers against a scripted model, in paused time.

#![expect(clippy::expect_used, reason = "tests, which may fail this way")]

mod breaking;
mod fallbacks;
mod limits;
mod metering;
mod retries;
mod world;

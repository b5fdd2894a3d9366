//! Clients against real sockets, a scripted daemon and real processes.

#![cfg(feature = "connect")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod attachment;
mod connect;
mod home;
mod scripted_daemon;
mod start;

//! The daemon as a process that is killed, and the terminal driver.

mod crash_points;
mod daemon;
mod pty;
mod random_kills;
mod sigterm;
mod support;

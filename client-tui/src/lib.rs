//! `agent-tui`: the full-screen client.
//!
//! Its one job is to show a session and let people act in it. What it shows comes from events, what it
//! does is a command that another terminal could have sent. It knows the wire contract and the client
//! kit, never the daemon's own crates; sessions live in the daemon.
//!
//! In reading order: [`app`] is the loop, [`conn`] reaches the daemon, [`input`] turns keys into actions,
//! [`state`] owns all that is shown and decides what follows from an input, [`document`] makes rows of a
//! transcript, [`view`] draws. A view never calls the daemon and the state never draws.

pub mod app;
pub mod cli;
pub mod conn;
pub mod document;
pub mod exit;
pub mod file_lists;
pub mod first_run;
pub mod history_file;
pub mod input;
pub mod linear;
pub mod state;
pub mod terminal;
pub mod theme;
pub mod view;

//! The tools through the registry, as the engine calls them.
#![expect(clippy::expect_used, clippy::panic, reason = "a helper that fails fails the test")]

mod changes;
mod data;
mod files;
mod harness;
mod images;
mod limits;
mod patches;
mod planned_reads;
mod planning;
mod roots;
mod schemas;
mod search;
mod sqlite;
mod undo;

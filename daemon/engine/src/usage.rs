//! What requests use and cost: counted, summed, limited.
//!
//! Reading order: `budget` (the limits, and what passing one means), `spending` (what all sessions have
//! used today and have under way), `account` (the same for one session and its turn, and what is to be
//! recorded), `meter` (who asks before each request and tells after it), `ledger` (the durable sums),
//! `report` (reading them), `cache_watch` and `prefix_watch` (two ways to see that the beginning of
//! requests is not stable).
//!
//! The durable truth is the log: each request is one UsageRecorded event, and the commit that holds it
//! adds to the ledger. What stands in memory is there to say no in time.

mod account;
mod budget;
mod cache_watch;
pub(crate) mod ledger;
mod meter;
mod prefix_watch;
mod report;
mod spending;

pub(crate) use account::Account;
pub use budget::{Budget, BudgetScope, Limit, Used};
pub use report::{BudgetStatus, MAX_USAGE_ROWS, UsageGrouping, UsageQuery, UsageReport, UsageRow};
pub(crate) use spending::Spending;

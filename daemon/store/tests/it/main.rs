//! The store through its public surface.

mod churn;
mod conformance;
mod damage;
mod kill;
mod lifecycle;
mod lock;
mod support;

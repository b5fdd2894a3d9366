//! The layers against a scripted model, in paused time.

mod breaking;
mod fallbacks;
mod limits;
mod metering;
mod retries;
mod spans;
mod world;

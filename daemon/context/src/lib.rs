//! What requests to a model are made of.

mod report;

pub use report::{ContextReport, Layer, LayerShare};

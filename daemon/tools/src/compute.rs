//! Tools that compute: they see nothing and change nothing.

pub(crate) mod calculator;
pub(crate) mod date_math;
pub(crate) mod lunar_date;
pub(crate) mod text_length;

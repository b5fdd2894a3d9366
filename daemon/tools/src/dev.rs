//! Tools that run the checks of a project.

pub(crate) mod check_project;
mod counts;
mod project;

pub use counts::count_tests;

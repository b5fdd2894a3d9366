//! Tools that talk to the people of a session.

pub(crate) mod ask_user;
mod desktop;
pub(crate) mod notify;

pub(crate) use desktop::Surroundings;

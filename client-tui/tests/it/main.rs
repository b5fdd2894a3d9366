//! The program as a user starts it: in a terminal, with a daemon.

mod terminal;

//! Tools that look into files that are not text.

pub(crate) mod hash_file;
pub(crate) mod list_archive;
pub(crate) mod query_sqlite;
pub(crate) mod view_image;

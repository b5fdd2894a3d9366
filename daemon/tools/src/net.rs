//! Tools that read from the network.
//!
//! All of them ask through [`client::Client`]: what it connects to was checked as an address, never
//! only as the text of a URL.

mod client;
mod decode;
pub(crate) mod fetch_url;
mod html;
pub(crate) mod ip_location;
mod plain;
pub(crate) mod render_page;
pub(crate) mod search_web;
mod service;
mod settings;
mod target;
pub(crate) mod weather;

#[cfg(test)]
mod test_server;

pub use render_page::installed_browser;
pub use settings::{
    FetchSettings, IpLocationSettings, NetSettings, SearchEngine, SearchSettings, WeatherSettings,
};

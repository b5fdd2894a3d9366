//! Finding a model server on this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Client;
use tokio::time::timeout;

use crate::http::{MAX_MODELS_BODY, first_bytes, model_names};

/// Where Ollama and llama.cpp listen unless told otherwise, in order of preference.
pub const WELL_KNOWN_ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 11434),
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080),
];

/// A local server answers at once or is busy with something else.
const PROBE_TIMEOUT: Duration = Duration::from_millis(300);

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Base URL, ending in `/v1`.
    pub base_url: String,
    /// The first model that it lists and that is not for embeddings.
    pub model: String,
}

/// Asks the addresses, all at once, for their models. The first of them that has one wins; what does
/// not answer in 300 ms with a list of models is ignored.
///
/// The client should be made for [`crate::Reach::Loopback`].
///
/// # Cancel safety
/// Dropping the future drops the connections.
pub async fn probe_local(addresses: &[SocketAddr], client: &Client) -> Option<LocalServer> {
    let probes = addresses.iter().map(|address| timeout(PROBE_TIMEOUT, probe(*address, client)));
    join_all(probes).await.into_iter().find_map(Result::unwrap_or_default)
}

async fn probe(address: SocketAddr, client: &Client) -> Option<LocalServer> {
    let base_url = format!("http://{address}/v1");
    let response = client.get(format!("{base_url}/models")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let names = model_names(&first_bytes(response, MAX_MODELS_BODY).await)?;
    let model = names.into_iter().find(|name| !name.to_ascii_lowercase().contains("embed"))?;
    Some(LocalServer { base_url, model })
}

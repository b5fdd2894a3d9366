//! A daemon whose vectors come from a directory, and what can be asked of it.

use std::path::{Path, PathBuf};

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_testkit::{Daemon, DaemonBuilder, Home, PATIENCE, StaticModelFiles};

/// A model that knows that these words mean the same.
pub(crate) fn cars() -> StaticModelFiles {
    StaticModelFiles::new()
        .meaning_the_same(&["car", "automobile"])
        .meaning_the_same(&["tyres", "rubber"])
        .knowing(&["lunch", "noon"])
}

/// Where the model of a home is.
pub(crate) fn place(home: &Home) -> PathBuf {
    home.workspace().join("potion")
}

/// A daemon that reads its model from a directory.
pub(crate) fn reading(home: &Home, directory: &Path) -> DaemonBuilder {
    Daemon::builder()
        .home(home)
        .set("memory.embeddings.provider", "local")
        .set("memory.embeddings.directory", directory.display().to_string())
}

pub(crate) async fn add(client: &Client, content: &str) {
    let author = Some(v1::Author { client_id: "ann-1".to_owned(), name: "ann".to_owned() });
    let content = content.to_owned();
    let request = v1::AddMemoryRequest { content, author, ..Default::default() };
    client.memory().add_memory(request).await.unwrap();
}

pub(crate) async fn find(client: &Client, text: &str) -> Vec<String> {
    let filter = v1::MemoryFilter { text: text.to_owned(), ..Default::default() };
    let request = v1::ListMemoriesRequest { filter: Some(filter), ..Default::default() };
    let found = client.memory().list_memories(request).await.unwrap().into_inner().memories;
    found.into_iter().map(|found| found.memory.unwrap().content).collect()
}

/// Waits until the statistics say all of this of the search.
pub(crate) async fn wait_for(client: &Client, parts: &[&str]) -> String {
    let search = async || {
        let stats = client.memory().get_memory_stats(v1::GetMemoryStatsRequest {}).await.unwrap();
        stats.into_inner().search
    };
    let waiting = async {
        loop {
            let told = search().await;
            if parts.iter().all(|part| told.contains(part)) {
                return told;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(PATIENCE, waiting).await;
    if let Ok(told) = told {
        return told;
    }
    panic!("{parts:?}: {}", search().await)
}

/// What the doctor says of memory, its outcome first.
pub(crate) async fn doctor(client: &Client) -> String {
    let request = v1::RunChecksRequest { offline: true };
    let checks = client.diagnostics().run_checks(request).await.unwrap().into_inner().checks;
    let check = checks.into_iter().find(|check| check.name == "memory").unwrap();
    format!("{:?}: {} / {}", check.outcome(), check.detail, check.remedy)
}

pub(crate) async fn reload(client: &Client) {
    client.admin().reload_config(v1::ReloadConfigRequest {}).await.unwrap();
}

//! What can be completed in a chat: what the conversation knows anyway, and what a Tab asks for.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::input::completion::{self, Completion, Source, Vocabulary};
use agentd_shared::input::files;
use agentd_shared::input::slash::Surface;
use agentd_shared::{Client, ids};
use tokio::runtime::Handle;

use crate::command::{memory, models, sessions, tools};

/// Longest wait of a key for what it asks for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Sessions that are offered at most.
const SESSIONS: usize = 200;
/// Memories that are offered at most.
const MEMORIES: u32 = 200;

/// What can be completed. The conversation writes it; the editor reads it, on a thread of its own that
/// may wait.
#[derive(Debug)]
pub(super) struct Sources {
    client: Client,
    runtime: Handle,
    known: Mutex<Known>,
}

/// What is known now.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The session on the screen.
    pub(super) session_id: String,
    /// What there is to choose from.
    pub(super) vocabulary: Vocabulary,
}

impl Sources {
    /// Asks this daemon.
    pub(super) fn new(client: Client) -> Self {
        Self { client, runtime: Handle::current(), known: Mutex::default() }
    }

    /// Reads or writes what is known. It is never locked while anything waits.
    pub(super) fn with<T>(&self, read: impl FnOnce(&mut Known) -> T) -> T {
        read(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What can stand for the word at the end of what is typed. Blocks while it asks.
    pub(super) fn complete(&self, typed: &str) -> Option<Completion> {
        let is_first_line = !typed.contains('\n');
        if let Some(source) = completion::source(typed, is_first_line) {
            let asked = async { tokio::time::timeout(PATIENCE, self.ask(source)).await };
            // Only completion suffers when it fails or takes too long: what was known is offered.
            let _asked = self.runtime.block_on(asked);
        }
        self.with(|known| {
            completion::complete(typed, is_first_line, Surface::Chat, &known.vocabulary)
        })
    }

    async fn ask(&self, source: Source) -> Option<()> {
        match source {
            Source::Sessions => {
                let listed = ids::up_to(&self.client, SESSIONS).await.ok()?.sessions;
                let named = listed.into_iter().map(|it| (it.session_id, it.title)).collect();
                self.with(|known| known.vocabulary.sessions = named);
            }
            Source::Models => {
                let models = models::fetch(&self.client).await.ok()?.models;
                let names = models.into_iter().filter(|it| it.available).map(|it| it.name);
                let names = names.chain(["default".to_owned()]).collect();
                self.with(|known| known.vocabulary.models = names);
            }
            Source::Tools => {
                let tools = tools::list::fetch(&self.client).await.ok()?;
                let named = tools.into_iter().map(|it| (it.name, it.description)).collect();
                self.with(|known| known.vocabulary.tools = named);
            }
            Source::Memories => {
                let filter = v1::MemoryFilter {
                    scopes: memory::scopes_of(self.workspace().await?),
                    statuses: vec![
                        v1::MemoryStatus::Active.into(),
                        v1::MemoryStatus::Quarantined.into(),
                    ],
                    ..Default::default()
                };
                let (found, _) = memory::fetch(&self.client, filter, MEMORIES).await.ok()?;
                let found = found.into_iter().filter_map(|found| found.memory);
                let told = found.map(|memory| (memory.memory_id, memory.content)).collect();
                self.with(|known| known.vocabulary.memories = told);
            }
            // Those of another machine are not ours to list.
            Source::Files if self.client.endpoint().is_remote() => {}
            Source::Files => {
                let workspace = PathBuf::from(self.workspace().await?);
                // On a thread that is left behind when the disk hangs.
                let listed = tokio::task::spawn_blocking(move || files::list(&workspace));
                let listed = listed.await.ok()?;
                self.with(|known| known.vocabulary.files = listed);
            }
        }
        Some(())
    }

    async fn workspace(&self) -> Option<String> {
        let session_id = self.with(|known| known.session_id.clone());
        let shown = sessions::show::fetch(&self.client, &session_id).await.ok()?;
        shown.session.map(|session| session.workspace)
    }
}

//! The history of sent texts, which `agentctl` shares: read and written by the library that it uses.

use std::io;
use std::path::{Path, PathBuf};

use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::history::{FileHistory, History as _};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::input::Input;

/// Texts that wait to be written.
const WAITING: usize = 64;

/// The file, and the task that reads and writes it beside the loop.
#[derive(Debug)]
pub struct HistoryFile {
    texts: Option<mpsc::Sender<String>>,
    told: mpsc::Receiver<Input>,
    task: JoinSet<()>,
}

impl HistoryFile {
    /// Begins to read the file; what is in it comes as an [`Input`]. Call it inside a tokio runtime.
    pub fn open(path: PathBuf, most: usize) -> Self {
        let (texts, mut waiting) = mpsc::channel::<String>(WAITING);
        let (tell, told) = mpsc::channel(2);
        let mut task = JoinSet::new();
        task.spawn_blocking(move || {
            let read = match load(&path, most) {
                Ok(earlier) => Input::History(earlier),
                Err(error) => Input::Trouble(format!(
                    "cannot read the history of messages ({error}); look at {}",
                    path.display()
                )),
            };
            drop(tell.blocking_send(read));
            let mut is_told = false;
            while let Some(text) = waiting.blocking_recv() {
                if let Err(error) = append(&path, most, &text)
                    && !std::mem::replace(&mut is_told, true)
                {
                    let text = format!("sent messages are not kept in the history: {error}");
                    drop(tell.blocking_send(Input::Trouble(text)));
                }
            }
        });
        Self { texts: Some(texts), told, task }
    }

    /// Keeps a text. It is lost when too many wait: a full disk must not stop the conversation.
    pub fn remember(&self, text: String) {
        if let Some(texts) = &self.texts {
            drop(texts.try_send(text));
        }
    }

    /// Returns what there is to tell.
    ///
    /// # Cancel safety
    /// Safe: what was not returned stays.
    pub async fn next(&mut self) -> Input {
        match self.told.recv().await {
            Some(input) => input,
            None => std::future::pending().await,
        }
    }

    /// Waits until all is written.
    pub async fn finish(mut self) {
        self.texts = None;
        self.told.close();
        while self.task.join_next().await.is_some() {}
    }
}

fn history(most: usize) -> io::Result<FileHistory> {
    let config = Config::builder()
        .max_history_size(most)
        .and_then(|config| config.history_ignore_dups(true))
        .map_err(plain)?;
    Ok(FileHistory::with_config(&config.history_ignore_space(true).build()))
}

fn plain(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}

fn load(path: &Path, most: usize) -> io::Result<Vec<String>> {
    let mut history = history(most)?;
    match history.load(path).map_err(plain) {
        Ok(()) => Ok(history.iter().cloned().collect()),
        // There is none on the first start.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn append(path: &Path, most: usize, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut history = history(most)?;
    history.add(text).map_err(plain)?;
    history.append(path).map_err(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_remembered_is_there_at_the_next_start_with_its_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/history");
        let mut file = HistoryFile::open(path.clone(), 100);
        assert!(matches!(file.next().await, Input::History(earlier) if earlier.is_empty()));
        for text in ["one", "two\nlines \\n", "世界"] {
            file.remember(text.to_owned());
        }
        file.finish().await;
        let mut file = HistoryFile::open(path, 2);
        let Input::History(earlier) = file.next().await else { panic!("no history") };
        assert_eq!(earlier, ["two\nlines \\n", "世界"]);
        file.finish().await;
    }

    #[tokio::test]
    async fn what_cannot_be_read_or_written_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = HistoryFile::open(dir.path().to_owned(), 100);
        assert!(matches!(file.next().await, Input::Trouble(text) if text.contains("cannot read")));
        file.remember("a".to_owned());
        file.remember("b".to_owned());
        assert!(matches!(file.next().await, Input::Trouble(text) if text.contains("not kept")));
        file.finish().await;
    }
}

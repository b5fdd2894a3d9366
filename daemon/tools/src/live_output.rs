//! What a running call shows before it has a result.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentd_domain::floor_char_boundary;
use tokio::sync::mpsc;

/// Most bytes that one call shows while it runs; the result holds head and tail of all of it.
const MAX_SHOWN: usize = 256 * 1024;

/// Pieces that wait for whoever shows them.
const WAITING: usize = 64;

/// Shows output while a call runs. Cheap to clone. What is shown is for people only: the model gets
/// the result.
#[derive(Debug, Clone, Default)]
pub struct LiveOutput {
    to: Option<Arc<Shown>>,
}

#[derive(Debug)]
struct Shown {
    pieces: mpsc::Sender<String>,
    bytes: AtomicUsize,
}

impl LiveOutput {
    /// Shows nobody anything.
    pub fn nobody() -> Self {
        Self::default()
    }

    /// Output and the end that shows it. The receiver ends when the call and all that it started do.
    pub fn channel() -> (Self, mpsc::Receiver<String>) {
        let (pieces, shown) = mpsc::channel(WAITING);
        (Self { to: Some(Arc::new(Shown { pieces, bytes: AtomicUsize::new(0) })) }, shown)
    }

    /// Shows text. Waits while whoever shows it is behind, so a call cannot fill the memory; does
    /// nothing once the bound is reached or nobody looks.
    ///
    /// # Cancel safety
    /// When the future is dropped the text is shown as a whole or not at all.
    pub async fn show(&self, text: &str) {
        let Some(shown) = &self.to else { return };
        let before = shown.bytes.fetch_add(text.len(), Ordering::Relaxed);
        let Some(room) = MAX_SHOWN.checked_sub(before).filter(|room| *room > 0) else { return };
        let piece = if text.len() > room {
            let head = text.get(..floor_char_boundary(text, room)).unwrap_or_default();
            format!("{head}\n[more output is not shown while the call runs]\n")
        } else {
            text.to_owned()
        };
        // Nobody looks any more: the turn is over.
        let _gone = shown.pieces.send(piece).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn en_01_what_a_call_shows_is_bounded_and_cut_between_characters() {
        let (output, mut shown) = LiveOutput::channel();
        let showing = async {
            for _ in 0..40 {
                output.show(&"世".repeat(10_000)).await;
            }
            drop(output);
        };
        let reading = async {
            let mut all = String::new();
            while let Some(piece) = shown.recv().await {
                all.push_str(&piece);
            }
            all
        };
        let ((), all) = tokio::join!(showing, reading);
        assert!(all.len() <= MAX_SHOWN + 60, "{}", all.len());
        assert!(all.ends_with("[more output is not shown while the call runs]\n"));
    }

    #[tokio::test]
    async fn output_that_nobody_looks_at_holds_up_nothing() {
        LiveOutput::nobody().show("text").await;
        let (output, shown) = LiveOutput::channel();
        drop(shown);
        output.show("text").await;
    }
}

//! What an answer has said so far and is not handed over yet.

use std::collections::VecDeque;

use super::surrogates::SurrogateJoiner;
use crate::{LlmError, StreamPart};

/// Parts of an answer in order, neighbours of one kind merged, within the limit of an answer.
#[derive(Debug)]
pub(crate) struct Parts {
    /// Most bytes of text, reasoning and what else is counted.
    max_bytes: usize,
    content_bytes: usize,
    /// Neighbours differ in kind.
    queue: VecDeque<(Kind, String)>,
    /// Bytes in `queue`.
    queued_bytes: usize,
    reasoning: SurrogateJoiner,
    text: SurrogateJoiner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reasoning,
    Text,
}

impl Parts {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            content_bytes: 0,
            queue: VecDeque::new(),
            queued_bytes: 0,
            reasoning: SurrogateJoiner::default(),
            text: SurrogateJoiner::default(),
        }
    }

    /// Appends reasoning, as bytes in UTF-8 or WTF-8 (see [`super::surrogates`]).
    ///
    /// # Errors
    /// [`LlmError::TooLarge`] when the answer passes its limit. The piece is then left out.
    pub(crate) fn push_reasoning(&mut self, piece: &[u8]) -> Result<(), LlmError> {
        self.push(Kind::Reasoning, piece)
    }

    /// Appends text, as [`Self::push_reasoning`] does.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn push_text(&mut self, piece: &[u8]) -> Result<(), LlmError> {
        self.push(Kind::Text, piece)
    }

    /// Counts bytes of the answer that are kept elsewhere. What is counted also keeps a slow answer
    /// alive.
    ///
    /// # Errors
    /// [`LlmError::TooLarge`] when the answer passes its limit.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), LlmError> {
        self.content_bytes = self.content_bytes.saturating_add(bytes);
        if self.content_bytes > self.max_bytes {
            return Err(LlmError::TooLarge { limit: self.max_bytes });
        }
        Ok(())
    }

    /// Bytes of the answer so far, handed over or not.
    pub(crate) fn content_bytes(&self) -> usize {
        self.content_bytes
    }

    /// Bytes that wait to be taken.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// The next part.
    pub(crate) fn take(&mut self) -> Option<StreamPart> {
        loop {
            let (kind, text) = self.queue.pop_front()?;
            self.queued_bytes = self.queued_bytes.saturating_sub(text.len());
            // Half a character alone makes an empty part.
            if text.is_empty() {
                continue;
            }
            return Some(match kind {
                Kind::Reasoning => StreamPart::Reasoning(text),
                Kind::Text => StreamPart::Text(text),
            });
        }
    }

    /// Gives up waiting for second halves of characters.
    pub(crate) fn close(&mut self) {
        for (kind, joiner) in [(Kind::Reasoning, &mut self.reasoning), (Kind::Text, &mut self.text)]
        {
            let mut rest = String::new();
            joiner.finish(&mut rest);
            if !rest.is_empty() {
                self.queued_bytes += rest.len();
                self.queue.push_back((kind, rest));
            }
        }
    }

    fn push(&mut self, kind: Kind, piece: &[u8]) -> Result<(), LlmError> {
        if piece.is_empty() {
            return Ok(());
        }
        self.count(piece.len())?;
        if self.queue.back().is_none_or(|(last, _)| *last != kind) {
            self.queue.push_back((kind, String::new()));
        }
        let Some((_, part)) = self.queue.back_mut() else { return Ok(()) };
        let before = part.len();
        match kind {
            Kind::Reasoning => self.reasoning.push(piece, part),
            Kind::Text => self.text.push(piece, part),
        }
        let grown = part.len() - before;
        self.queued_bytes += grown;
        // Bytes that are no text grow when they are replaced.
        let replaced = self.count(grown.saturating_sub(piece.len()));
        if replaced.is_err()
            && let Some((_, part)) = self.queue.back_mut()
        {
            part.truncate(before);
            self.queued_bytes -= grown;
        }
        replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(parts: &mut Parts) -> Vec<StreamPart> {
        std::iter::from_fn(|| parts.take()).collect()
    }

    #[test]
    fn neighbours_of_one_kind_are_merged_and_their_order_is_kept() {
        let mut parts = Parts::new(100);
        parts.push_reasoning(b"a").expect("within the limit");
        parts.push_reasoning(b"b").expect("within the limit");
        parts.push_text(b"c").expect("within the limit");
        parts.push_text(b"").expect("within the limit");
        parts.push_reasoning(b"d").expect("within the limit");
        assert_eq!((parts.queued_bytes(), parts.content_bytes()), (4, 4));
        assert_eq!(
            taken(&mut parts),
            [
                StreamPart::Reasoning("ab".to_owned()),
                StreamPart::Text("c".to_owned()),
                StreamPart::Reasoning("d".to_owned()),
            ]
        );
        assert_eq!((parts.queued_bytes(), parts.content_bytes()), (0, 4));
    }

    #[test]
    fn what_passes_the_limit_is_left_out() {
        let mut parts = Parts::new(8);
        parts.push_text(b"12345").expect("within the limit");
        assert!(matches!(parts.push_text(b"6789"), Err(LlmError::TooLarge { limit: 8 })));
        assert_eq!(taken(&mut parts), [StreamPart::Text("12345".to_owned())]);
        let mut parts = Parts::new(8);
        // Three bytes of rubbish become nine.
        assert!(parts.push_text(b"\xFF\xFF\xFF").is_err());
        assert_eq!((parts.queued_bytes(), taken(&mut parts)), (0, Vec::new()));
        assert!(Parts::new(8).count(9).is_err());
    }

    #[test]
    fn en_02_a_half_without_partner_is_replaced_at_the_end() {
        let mut parts = Parts::new(100);
        parts.push_text(b"a\xED\xA0\xBD").expect("within the limit");
        assert_eq!(taken(&mut parts), [StreamPart::Text("a".to_owned())]);
        parts.close();
        assert_eq!(taken(&mut parts), [StreamPart::Text("\u{FFFD}".to_owned())]);
    }
}

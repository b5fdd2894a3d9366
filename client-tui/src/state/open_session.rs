//! The session on the screen.
//!
//! Only its newest turns are read when it is opened. When somebody looks for older ones it is read again
//! from further back, beside what is shown, which stays until the new reading has caught up: each time
//! twice as far, so that all readings together cost no more than two of the whole.

use agentd_proto::v1;
use agentd_shared::{AttachEvent, AttachPosition, Change, RpcError, Transcript};
use ratatui::layout::Rect;

use crate::conn::StreamId;
use crate::document::{Document, Look};
use crate::state::Search;
use crate::state::search_transcript::look_again;

/// A session and how it is shown.
#[derive(Debug)]
pub struct OpenSession {
    /// ULID.
    pub session_id: String,
    /// Its stream.
    pub stream: StreamId,
    /// What is known of it.
    pub transcript: Transcript,
    /// Its rows.
    pub document: Document,
    /// Rows of the window, as it was drawn last.
    pub height: usize,
    /// The replay has reached the present.
    pub caught_up: bool,
    /// Why its stream is lost, while it is.
    pub lost: Option<RpcError>,
    /// Why its stream has ended for good.
    pub failed: Option<RpcError>,
    /// What is looked for in it.
    pub search: Option<Search>,
    /// Where on the screen it was drawn last.
    pub area: Rect,
    /// The row of the window where the mouse's button is held.
    pub(super) pressed: Option<usize>,
    /// New text moved the window on before rows were chosen.
    pub(super) resumes: bool,
    /// Turns that were asked for.
    turns: u32,
    /// The transcript begins with the session.
    whole: bool,
    earlier: Option<Earlier>,
    /// Somebody wants to be at its first turn, which may have to be read yet.
    pub(super) goes_to_top: bool,
}

/// A reading from further back.
#[derive(Debug)]
struct Earlier {
    stream: StreamId,
    transcript: Transcript,
    turns: u32,
    whole: bool,
}

/// What has to be done about an event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing.
    Nothing,
    /// A piece is missing: open the stream again.
    Resync,
    /// This stream is no longer needed.
    Drop(StreamId),
}

impl OpenSession {
    /// A session whose stream is being opened.
    pub fn new(session_id: String, stream: StreamId, turns: u32, look: Look, me: &str) -> Self {
        Self {
            session_id,
            stream,
            transcript: Transcript::default(),
            document: Document::new(look, me),
            height: 0,
            caught_up: false,
            lost: None,
            failed: None,
            search: None,
            area: Rect::ZERO,
            pressed: None,
            resumes: false,
            turns,
            whole: false,
            earlier: None,
            goes_to_top: false,
        }
    }

    /// Where to read it from.
    pub fn position(&self) -> AttachPosition {
        AttachPosition::LastTurns(self.turns)
    }

    /// Begins to read from further back, unless that is being done or all is there.
    pub(super) fn read_earlier(&mut self, stream: StreamId) -> Option<AttachPosition> {
        if self.whole || self.earlier.is_some() || !self.caught_up {
            return None;
        }
        let turns = self.turns.saturating_mul(2);
        self.earlier =
            Some(Earlier { stream, transcript: Transcript::default(), turns, whole: false });
        Some(AttachPosition::LastTurns(turns))
    }

    /// Begins to read all of it, unless older turns are being read or all is there.
    pub(super) fn read_all(&mut self, stream: StreamId) -> Option<AttachPosition> {
        if self.whole || self.earlier.is_some() || !self.caught_up {
            return None;
        }
        let (transcript, turns) = (Transcript::default(), u32::MAX);
        self.earlier = Some(Earlier { stream, transcript, turns, whole: false });
        Some(AttachPosition::FromSeq(1))
    }

    /// The transcript begins with the session.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether older turns are being read.
    pub fn reads_earlier(&self) -> bool {
        self.earlier.is_some()
    }

    /// Its streams.
    pub(super) fn streams(&self) -> impl Iterator<Item = StreamId> {
        std::iter::once(self.stream).chain(self.earlier.as_ref().map(|earlier| earlier.stream))
    }

    /// Takes what a stream brought; what changed is told to `changed`.
    pub(super) fn on_stream(
        &mut self,
        stream: StreamId,
        event: &AttachEvent,
        changed: &mut impl FnMut(&Transcript, &v1::Event, &Change),
    ) -> Next {
        if stream != self.stream {
            return self.on_earlier(stream, event);
        }
        match event {
            AttachEvent::Attached(attached) => {
                self.whole |= attached.from_seq <= 1;
                self.lost = None;
                self.transcript.attached(attached);
            }
            AttachEvent::Event(event) => {
                let change = self.transcript.apply(event);
                self.document.set_now(event.at_ms);
                self.document.on_change(&self.transcript, &change);
                if self.caught_up {
                    changed(&self.transcript, event, &change);
                }
                // Once for each gap: what comes next may not be the piece that closes it.
                if matches!(change, Change::Gap { .. }) {
                    return Next::Resync;
                }
            }
            AttachEvent::CaughtUp { .. } => self.caught_up = true,
            AttachEvent::Lagged { .. } | AttachEvent::Restored => {}
            AttachEvent::Lost { error } => self.lost = Some(error.clone()),
            AttachEvent::Failed(error) => self.failed = Some(error.clone()),
        }
        Next::Nothing
    }

    fn on_earlier(&mut self, stream: StreamId, event: &AttachEvent) -> Next {
        let Some(earlier) = self.earlier.as_mut().filter(|earlier| earlier.stream == stream) else {
            return Next::Drop(stream);
        };
        match event {
            AttachEvent::Attached(attached) => {
                earlier.whole |= attached.from_seq <= 1;
                earlier.transcript.attached(attached);
            }
            AttachEvent::Event(event) => {
                earlier.transcript.apply(event);
            }
            AttachEvent::CaughtUp { .. } => {
                // It may stand a little behind or before what is shown; both go on to the same end.
                let Some(earlier) = self.earlier.take() else { return Next::Nothing };
                let left = std::mem::replace(&mut self.stream, earlier.stream);
                let count = |transcript: &Transcript| {
                    isize::try_from(transcript.items().len()).unwrap_or(isize::MAX)
                };
                let more = count(&earlier.transcript) - count(&self.transcript);
                self.transcript = earlier.transcript;
                self.turns = earlier.turns;
                self.whole = earlier.whole;
                // It is this stream now that is followed, whatever became of the other.
                self.lost = None;
                self.document.forget_all(more);
                look_again(self);
                return Next::Drop(left);
            }
            AttachEvent::Lagged { .. } | AttachEvent::Restored | AttachEvent::Lost { .. } => {}
            AttachEvent::Failed(_) => {
                self.earlier = None;
                return Next::Drop(stream);
            }
        }
        Next::Nothing
    }
}

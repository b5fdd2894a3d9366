//! Copies of sessions: forks, exports and imports.
//!
//! The export format is JSON Lines: a header, then the stored records as they are, unknown kinds
//! included. A copy becomes visible only when it is whole; what a crash leaves of one is removed at
//! the next start.

use std::io;

use agentd_domain::{
    ApprovalScope, Author, DecodeEventError, ErrorKind, Event, EventBody, ForkOrigin,
    InterruptReason, MessageWithdrawn, Notice, NoticeLevel, PermissionMode, PermissionModeChanged,
    Seq, SessionId, Title, TitleSource,
};
use agentd_store::{Batch, PageLimit, Write};
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, check_workspace};
use crate::error::CommandError;
use crate::pins::{MAX_PIN_CHARS, MAX_PINS};
use crate::session::{Draft, SessionState, SessionView, close_turn, interrupt_plan};

/// Events that are committed together.
const COPY_BATCH: usize = 500;
/// Events of one page of an export.
const EXPORT_EVENTS: usize = 5_000;
/// Most bytes of one line of an import: the largest event with every character escaped.
pub const MAX_IMPORT_LINE: usize = 16 * 1024 * 1024;
const FORMAT: &str = "agentd-session";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// Why a file was not imported. Nothing of it is kept.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It does not begin as an export does.
    #[error("line 1 is not the header of a session export")]
    Header,
    /// It was written by a newer release.
    #[error("the export has format version {found}; this release reads up to {supported}")]
    NewerVersion {
        /// The file's version.
        found: u32,
        /// What this release reads.
        supported: u32,
    },
    /// The staged file cannot be read.
    #[error("the staged file cannot be read")]
    Read(#[source] io::Error),
    /// A line is too long.
    #[error("line {line} has more than {max} bytes")]
    LineTooLong {
        /// Number of the line, from 1.
        line: u64,
        /// Most bytes of a line.
        max: usize,
    },
    /// A line is not an event.
    #[error("line {line} is not an event")]
    NotAnEvent {
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        #[source]
        source: DecodeEventError,
    },
    /// Events are missing or out of order.
    #[error("line {line} holds event {got} where event {wanted} should be")]
    OutOfOrder {
        /// Number of the line, from 1.
        line: u64,
        /// Its event.
        got: Seq,
        /// The event that should be there.
        wanted: Seq,
    },
    /// The file holds no session.
    #[error("the file holds no events")]
    Empty,
    /// The first event does not create a session.
    #[error("the first event does not create a session")]
    NoSession,
    /// The copy could not be made.
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl ImportError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Header
            | Self::NewerVersion { .. }
            | Self::LineTooLong { .. }
            | Self::NotAnEvent { .. }
            | Self::OutOfOrder { .. }
            | Self::Empty
            | Self::NoSession => ErrorKind::Invalid,
            Self::Read(_) => ErrorKind::Unavailable,
            Self::Command(error) => error.kind(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NewerVersion { .. } => "import it with the release that wrote it, or a newer one",
            Self::Read(_) => "check the disk of the state directory and send it again",
            Self::Command(error) => error.hint(),
            Self::Header
            | Self::LineTooLong { .. }
            | Self::NotAnEvent { .. }
            | Self::OutOfOrder { .. }
            | Self::Empty
            | Self::NoSession => "give a file that `agentctl sessions export` wrote, unchanged",
        }
    }
}

fn header() -> Vec<u8> {
    let header = Header { format: FORMAT.to_owned(), version: VERSION };
    #[expect(clippy::expect_used, reason = "a struct of a text and a number")]
    let mut line = serde_json::to_vec(&header).expect("the header serializes");
    line.push(b'\n');
    line
}

impl Engine {
    /// Writes a page of an export of at most `max_bytes`. The page from event 1 begins with the
    /// header. Returns the lines and where the next page begins: the event, and the bytes of its line
    /// that this page holds already, which is what `from` takes.
    ///
    /// # Errors
    /// When there is no such session or the store cannot be read.
    pub async fn export(
        &self,
        id: SessionId,
        from: (Seq, usize),
        max_bytes: usize,
    ) -> Result<(Vec<u8>, Option<(Seq, usize)>), CommandError> {
        let (first, mut skip) = from;
        let limit = PageLimit { events: EXPORT_EVENTS, bytes: max_bytes };
        let page = self.events(id, first, limit).await?;
        let mut lines = Vec::new();
        for event in &page.events {
            let mut line = if event.seq == Seq(1) { header() } else { Vec::new() };
            line.extend(event.encode());
            line.push(b'\n');
            let piece = line.get(skip..).unwrap_or_default();
            let room = max_bytes.saturating_sub(lines.len());
            if let Some(part) = piece.get(..room).filter(|_| piece.len() > room) {
                lines.extend(part);
                return Ok((lines, Some((event.seq, skip + room))));
            }
            lines.extend(piece);
            skip = 0;
        }
        let next = page.events.last().filter(|_| page.more).map(|last| (last.seq.next(), 0));
        Ok((lines, next))
    }

    /// Copies a log up to an event into a new session. A turn that the cut goes through is closed,
    /// messages that wait are withdrawn: the copy starts at rest.
    ///
    /// # Errors
    /// When a session does not exist or does already, the position is past the log's end, or the
    /// store fails.
    pub async fn fork(
        &self,
        id: SessionId,
        new_id: Option<SessionId>,
        up_to: Option<Seq>,
        title: Option<Title>,
        by: &Author,
    ) -> Result<SessionView, CommandError> {
        let deps = self.deps();
        let new_id = match new_id {
            Some(new_id) => match deps.store.session(new_id).await? {
                Some(record) if record.origin.is_some_and(|origin| origin.session_id == id) => {
                    return self.view(new_id).await;
                }
                Some(_) => return Err(CommandError::SessionExists(new_id)),
                None => new_id,
            },
            None => deps.ids.session_id(deps.clock.now()),
        };
        let _reserved = self.reserve(new_id)?;
        let Some(record) = deps.store.session(id).await? else {
            return Err(CommandError::NoSession(id));
        };
        let last = self.head(id).await?;
        let until = match up_to {
            Some(seq) if seq > last || seq == Seq::ZERO => {
                return Err(CommandError::NoSuchEvent { got: seq, last });
            }
            Some(seq) => seq,
            None => self.end_of_last_turn(id, last).await?,
        };
        let mut copy = CopyBuilder::begin(self, new_id).await?;
        let origin = ForkOrigin { session_id: id, seq: until };
        let mut from = Seq(1);
        while from <= until {
            let page = deps.store.events(id, from, crate::session::LOAD_PAGE).await?;
            for mut event in page.events.into_iter().take_while(|event| event.seq <= until) {
                from = event.seq.next();
                if let EventBody::SessionCreated(created) = &mut event.body {
                    created.origin = Some(origin);
                }
                copy.push(event).await?;
            }
            if !page.more {
                break;
            }
        }
        let name = match title {
            Some(title) => Some(title),
            None if record.title.is_empty() => None,
            None => agentd_domain::cut_line(&format!("Fork of {}", record.title), Title::MAX_CHARS)
                .parse()
                .ok(),
        };
        copy.finish(by, name).await?;
        self.view(new_id).await
    }

    /// The end of the last turn that has one; the last event when none is open.
    async fn end_of_last_turn(&self, id: SessionId, last: Seq) -> Result<Seq, CommandError> {
        let view = self.view(id).await?;
        if view.record.status == agentd_domain::SessionStatus::Idle {
            return Ok(last);
        }
        let mut before = last.next();
        loop {
            let page =
                self.deps().store.events_before(id, before, crate::session::LOAD_PAGE).await?;
            let end = page.events.iter().rev().find(|event| {
                matches!(
                    event.body,
                    EventBody::TurnCompleted(_)
                        | EventBody::TurnFailed(_)
                        | EventBody::TurnInterrupted(_)
                        | EventBody::SessionCreated(_)
                )
            });
            match (end, page.events.first()) {
                (Some(end), _) => return Ok(end.seq),
                (None, Some(first)) if page.more => before = first.seq,
                _ => return Ok(last),
            }
        }
    }

    /// Makes a session from the lines of an export. Where the file's workspace is no directory here,
    /// the session works in `workspace`.
    ///
    /// # Errors
    /// See [`ImportError`]; nothing is kept then.
    pub async fn import(
        &self,
        new_id: SessionId,
        mut next_line: impl FnMut() -> io::Result<Option<Vec<u8>>> + Send,
        workspace: &str,
        by: &Author,
    ) -> Result<SessionView, ImportError> {
        // A retry is sent away until the first attempt is through, and then finds what it made.
        let _reserved = self.reserve(new_id)?;
        if self.deps().store.session(new_id).await.map_err(CommandError::from)?.is_some() {
            return Ok(self.view(new_id).await?);
        }
        let header = next_line().map_err(ImportError::Read)?.ok_or(ImportError::Empty)?;
        let header: Header =
            serde_json::from_slice(&header).map_err(|_not_json| ImportError::Header)?;
        if header.format != FORMAT {
            return Err(ImportError::Header);
        }
        if header.version > VERSION {
            return Err(ImportError::NewerVersion { found: header.version, supported: VERSION });
        }
        let mut copy = CopyBuilder::begin(self, new_id).await?;
        let imported = copy.import_lines(&mut next_line, workspace, by).await;
        match imported {
            Ok(()) => {
                copy.finish(by, None).await?;
                Ok(self.view(new_id).await?)
            }
            Err(error) => {
                copy.abandon().await?;
                Err(error)
            }
        }
    }
}

/// A session that is being written and that nobody can see yet.
struct CopyBuilder<'a> {
    engine: &'a Engine,
    state: SessionState,
    pending: Vec<Event>,
    /// What is added when the copy is at rest.
    drafts: Vec<Draft>,
}

impl<'a> CopyBuilder<'a> {
    /// The caller holds the reservation of `id`. A session that exists is never touched.
    async fn begin(engine: &'a Engine, id: SessionId) -> Result<Self, CommandError> {
        if engine.deps().store.session(id).await?.is_some() {
            return Err(CommandError::SessionExists(id));
        }
        // The mark lets the next start remove what a crash leaves.
        let writes = vec![Write::DeleteSession(id), Write::MarkUnfinished(id)];
        engine.deps().store.commit(Batch::from(writes)).await?;
        Ok(Self { engine, state: SessionState::new(id), pending: Vec::new(), drafts: Vec::new() })
    }

    fn id(&self) -> SessionId {
        self.state.record.session_id
    }

    async fn push(&mut self, event: Event) -> Result<(), CommandError> {
        self.state.apply(&event);
        self.pending.push(event);
        if self.pending.len() >= COPY_BATCH {
            let events = std::mem::take(&mut self.pending);
            let write = Write::Append { session_id: self.id(), events };
            self.engine.deps().store.commit(Batch::of(write)).await?;
        }
        Ok(())
    }

    async fn import_lines(
        &mut self,
        next_line: &mut (impl FnMut() -> io::Result<Option<Vec<u8>>> + Send),
        workspace: &str,
        by: &Author,
    ) -> Result<(), ImportError> {
        let mut line = 1;
        while let Some(text) = next_line().map_err(ImportError::Read)? {
            line += 1;
            if text.len() > MAX_IMPORT_LINE {
                return Err(ImportError::LineTooLong { line, max: MAX_IMPORT_LINE });
            }
            let mut event =
                Event::decode(&text).map_err(|source| ImportError::NotAnEvent { line, source })?;
            let wanted = self.state.record.last_seq.next();
            if event.seq != wanted {
                return Err(ImportError::OutOfOrder { line, got: event.seq, wanted });
            }
            match &mut event.body {
                EventBody::SessionCreated(created) => {
                    if check_workspace(&created.workspace).await.is_err() {
                        let text = format!(
                            "The workspace {} of the imported session is no directory here; it works in \
                             {workspace} now.",
                            agentd_domain::cut_line(&created.workspace, 200)
                        );
                        self.drafts.push(Draft::plain(Notice { level: NoticeLevel::Warn, text }));
                        workspace.clone_into(&mut created.workspace);
                    }
                    // A file gives no directories beside the one it is worked in.
                    if !created.further_roots.is_empty() {
                        let text = format!(
                            "The imported session worked in further directories, which it cannot any \
                             more: {}.",
                            agentd_domain::cut_line(&created.further_roots.join(", "), 500)
                        );
                        self.drafts.push(Draft::plain(Notice { level: NoticeLevel::Warn, text }));
                        created.further_roots.clear();
                    }
                    created.title = agentd_domain::cut_line(&created.title, Title::MAX_CHARS);
                    created.permission_mode = self.usual_mode();
                }
                // A file permits nothing: whoever wrote it may have given himself leave.
                EventBody::ApprovalResolved(resolved) => {
                    resolved.scope = ApprovalScope::Once;
                    resolved.rules.clear();
                }
                // What a title may hold is checked where users give one; a file is foreign.
                EventBody::SessionRenamed(renamed) => {
                    renamed.title = agentd_domain::cut_line(&renamed.title, Title::MAX_CHARS);
                }
                EventBody::PinsChanged(changed) => {
                    changed.pins.truncate(MAX_PINS);
                    for pin in &mut changed.pins {
                        *pin = agentd_domain::cut_line(pin, MAX_PIN_CHARS);
                    }
                }
                _ if wanted == Seq(1) => return Err(ImportError::NoSession),
                _ => {}
            }
            self.push(event).await?;
        }
        if self.state.record.last_seq == Seq::ZERO {
            return Err(ImportError::Empty);
        }
        let mode = self.usual_mode();
        if self.state.record.permission_mode != mode {
            let body = PermissionModeChanged { mode, by: Some(by.clone()) };
            self.drafts.push(Draft::plain(body));
        }
        Ok(())
    }

    /// The permission mode of sessions that are created without saying so.
    fn usual_mode(&self) -> PermissionMode {
        self.engine.deps().config.borrow().permission_mode
    }

    /// Brings the copy to rest and makes it visible.
    async fn finish(mut self, by: &Author, title: Option<Title>) -> Result<(), CommandError> {
        let mut drafts: Vec<Draft> = self
            .state
            .queue
            .iter()
            .map(|queued| {
                Draft::plain(MessageWithdrawn { item_id: queued.item_id, by: by.clone() })
            })
            .collect();
        drafts.extend(close_turn(&self.state, InterruptReason::NotResumed, Some(by)));
        drafts.append(&mut self.drafts);
        drafts.extend(title.map(|title| {
            Draft::plain(agentd_domain::SessionRenamed {
                title: title.as_str().to_owned(),
                source: TitleSource::Manual,
                by: Some(by.clone()),
            })
        }));
        let drafts = interrupt_plan(&self.state, drafts);
        let at = self.engine.deps().clock.now();
        for Draft { turn_id, body } in drafts {
            let seq = self.state.record.last_seq.next();
            self.push(Event { seq, at, turn_id, body }).await?;
        }
        self.state.record.updated_at = at;
        let id = self.id();
        let mut writes = Vec::new();
        if !self.pending.is_empty() {
            writes.push(Write::Append { session_id: id, events: self.pending });
        }
        writes.push(Write::PutSession(self.state.record));
        writes.push(Write::ClearUnfinished(id));
        self.engine.deps().store.commit(Batch::from(writes)).await?;
        self.engine.deps().history.is_new(id);
        self.engine.deps().watchers.changed(id);
        Ok(())
    }

    async fn abandon(self) -> Result<(), CommandError> {
        let writes = vec![Write::DeleteSession(self.id()), Write::ClearUnfinished(self.id())];
        self.engine.deps().store.commit(Batch::from(writes)).await?;
        Ok(())
    }
}

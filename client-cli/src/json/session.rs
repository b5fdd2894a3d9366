//! Views of sessions.

use agentd_proto::v1;
use serde::Serialize;

use super::approval::RequestedView;
use super::event::{AuthorView, CostView, OriginView, ParticipantView, QuestionView, UsageView};
use super::plan::PlanView;
use super::todo::TodoView;

/// A session as lists show it.
#[derive(Debug, Serialize)]
pub(crate) struct SessionView<'a> {
    session_id: &'a str,
    title: &'a str,
    title_source: String,
    workspace: &'a str,
    further_roots: &'a [String],
    model: &'a str,
    created_at_ms: i64,
    updated_at_ms: i64,
    last_seq: u64,
    status: String,
    queued_messages: u32,
    attached_clients: u32,
    turns: u64,
    usage: Option<UsageView>,
    origin: Option<OriginView<'a>>,
    effort: String,
    permission_mode: String,
    work_mode: String,
    cost: Option<CostView>,
    open_approvals: u32,
    open_questions: u32,
    waiting_since_ms: i64,
    news_seq: u64,
}

impl<'a> From<&'a v1::Session> for SessionView<'a> {
    fn from(session: &'a v1::Session) -> Self {
        let v1::Session {
            session_id,
            title,
            title_source,
            workspace,
            model,
            created_at_ms,
            updated_at_ms,
            last_seq,
            status,
            queued_messages,
            attached_clients,
            turns,
            usage,
            origin,
            effort,
            cost,
            permission_mode,
            work_mode,
            further_roots,
            open_approvals,
            open_questions,
            waiting_since_ms,
            news_seq,
        } = session;
        Self {
            session_id,
            title,
            title_source: super::title_source(*title_source),
            workspace,
            further_roots,
            model,
            created_at_ms: *created_at_ms,
            updated_at_ms: *updated_at_ms,
            last_seq: *last_seq,
            status: super::session_status(*status),
            queued_messages: *queued_messages,
            attached_clients: *attached_clients,
            turns: *turns,
            usage: usage.as_ref().map(UsageView::from),
            origin: origin.as_ref().map(OriginView::from),
            effort: super::effort(*effort),
            permission_mode: super::permission_mode(*permission_mode),
            work_mode: super::work_mode(*work_mode),
            cost: cost.as_ref().map(CostView::from),
            open_approvals: *open_approvals,
            open_questions: *open_questions,
            waiting_since_ms: *waiting_since_ms,
            news_seq: *news_seq,
        }
    }
}

/// A message that waits.
#[derive(Debug, Serialize)]
struct QueuedView<'a> {
    item_id: &'a str,
    preview: &'a str,
    delivery: String,
    author: Option<AuthorView<'a>>,
    accepted_at_ms: i64,
    priority: String,
    expires_at_ms: i64,
}

impl<'a> From<&'a v1::QueuedMessage> for QueuedView<'a> {
    fn from(message: &'a v1::QueuedMessage) -> Self {
        let v1::QueuedMessage {
            item_id,
            preview,
            delivery,
            author,
            accepted_at_ms,
            priority,
            expires_at_ms,
        } = message;
        Self {
            item_id,
            preview,
            delivery: super::delivery(*delivery),
            author: author.as_ref().map(AuthorView::from),
            accepted_at_ms: *accepted_at_ms,
            priority: super::priority(*priority),
            expires_at_ms: *expires_at_ms,
        }
    }
}

/// A session in full.
#[derive(Debug, Serialize)]
pub(crate) struct DetailView<'a> {
    session: Option<SessionView<'a>>,
    queue: Vec<QueuedView<'a>>,
    open_questions: Vec<QuestionView<'a>>,
    participants: Vec<ParticipantView<'a>>,
    todo: Option<TodoView<'a>>,
    plan: Option<PlanView<'a>>,
    open_approvals: Vec<RequestedView<'a>>,
}

impl<'a> From<&'a v1::GetSessionResponse> for DetailView<'a> {
    fn from(detail: &'a v1::GetSessionResponse) -> Self {
        let v1::GetSessionResponse {
            session,
            queue,
            open_questions,
            participants,
            todo,
            open_approvals,
            plan,
        } = detail;
        Self {
            session: session.as_ref().map(SessionView::from),
            queue: queue.iter().map(QueuedView::from).collect(),
            open_questions: open_questions.iter().map(QuestionView::from).collect(),
            participants: participants.iter().map(ParticipantView::from).collect(),
            todo: todo.as_ref().map(TodoView::from),
            plan: plan.as_ref().map(PlanView::from),
            open_approvals: open_approvals.iter().map(RequestedView::from).collect(),
        }
    }
}

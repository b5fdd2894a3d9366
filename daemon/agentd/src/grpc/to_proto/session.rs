//! Sessions.

use agentd_domain::{OpenAsks, SessionRecord, SessionStatus, cut_line};
use agentd_engine::{Participant, QueuedMessage, SessionSummary, SessionView};
use agentd_proto::v1;

use super::{item, permission};

/// Characters of a queued message in a list.
const PREVIEW: usize = 200;

pub(crate) fn record(record: &SessionRecord, attached_clients: u32) -> v1::Session {
    let SessionRecord {
        session_id,
        title,
        title_source,
        workspace,
        model,
        created_at,
        updated_at,
        last_seq,
        status,
        queued_messages,
        turns,
        usage,
        origin,
        effort,
        cost,
        requests: _,
        estimated_usage: _,
        permission_mode,
        work_mode,
        further_roots,
        unfinished: _,
        unextracted_turns: _,
        asks: OpenAsks { approvals, questions, since },
        news_seq,
    } = record;
    let status = match status {
        SessionStatus::Idle => v1::SessionStatus::Idle,
        SessionStatus::Running => v1::SessionStatus::Running,
        SessionStatus::Waiting => v1::SessionStatus::Waiting,
    };
    v1::Session {
        session_id: session_id.to_string(),
        title: title.clone(),
        title_source: title_source.map_or(v1::TitleSource::Unspecified, item::title_source).into(),
        workspace: workspace.clone(),
        model: model.clone(),
        created_at_ms: created_at.0,
        updated_at_ms: updated_at.0,
        last_seq: last_seq.0,
        status: status.into(),
        queued_messages: *queued_messages,
        attached_clients,
        turns: *turns,
        usage: Some(item::usage(usage)),
        origin: origin.as_ref().map(item::fork_origin),
        effort: item::effort(*effort).into(),
        cost: Some(item::cost(cost)),
        permission_mode: permission::mode(*permission_mode).into(),
        work_mode: permission::work_mode(*work_mode).into(),
        further_roots: further_roots.clone(),
        open_approvals: *approvals,
        open_questions: *questions,
        waiting_since_ms: since.map_or(0, |since| since.0),
        news_seq: news_seq.0,
    }
}

pub(crate) fn summary(summary: &SessionSummary) -> v1::SessionSummary {
    let SessionSummary { record, attached, read } = summary;
    v1::SessionSummary { session: Some(self::record(record, *attached)), read_seq: read.0 }
}

pub(crate) fn view(view: &SessionView) -> v1::Session {
    record(&view.record, super::small(view.participants.len()))
}

pub(crate) fn queued_message(message: &QueuedMessage) -> v1::QueuedMessage {
    let QueuedMessage {
        item_id,
        client_message_id: _,
        text,
        delivery,
        author,
        accepted_at,
        seq: _,
        priority,
        expires_at,
        unattended: _,
    } = message;
    v1::QueuedMessage {
        expires_at_ms: expires_at.map_or(0, |at| at.0),
        priority: item::priority(*priority).into(),
        item_id: item_id.to_string(),
        preview: cut_line(text, PREVIEW),
        delivery: item::delivery(*delivery).into(),
        author: Some(item::author(author)),
        accepted_at_ms: accepted_at.0,
    }
}

pub(crate) fn participant(participant: &Participant) -> v1::Participant {
    let Participant { author, attached_at } = participant;
    v1::Participant { author: Some(item::author(author)), attached_at_ms: attached_at.0 }
}

//! `agentctl sessions show`.

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::names;
use agentd_shared::text::{one_line, relative_time};
use agentd_shared::{Client, ids};
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::DetailView;

/// Options of `sessions show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows one session.
pub(super) async fn run(args: &ShowArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let detail = fetch(&client, &session_id).await?;
    if args.json {
        app.output.json(&DetailView::from(&detail))?;
    } else {
        for line in lines(&detail) {
            app.output.foreign_line(&line)?;
        }
    }
    Ok(Exit::Ok)
}

/// Asks for a session.
///
/// # Errors
/// A report when there is none, or the daemon refuses.
pub(crate) async fn fetch(
    client: &Client,
    session_id: &str,
) -> Result<v1::GetSessionResponse, Failure> {
    let request = v1::GetSessionRequest { session_id: session_id.to_owned() };
    let answer = client.session().get_session(request).await;
    answer.map(tonic::Response::into_inner).map_err(|status| {
        rpc_failure(&format!("cannot read session {}", ids::short(session_id)), status)
    })
}

/// A session as lines for people. They hold foreign text.
pub(crate) fn lines(detail: &v1::GetSessionResponse) -> Vec<String> {
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    let session = detail.session.clone().unwrap_or_default();
    let usage = session.usage.unwrap_or_default();
    let model = if session.model.is_empty() { "the daemon's default" } else { &session.model };
    let mut lines = vec![
        format!("id         {}", session.session_id),
        format!("title      {}", super::list::title(&session, 200)),
        format!("status     {}", crate::json::session_status(session.status)),
        format!("model      {model}"),
        format!(
            "mode       {}, work {}",
            names::permission_mode(session.permission_mode()),
            crate::json::work_mode(session.work_mode),
        ),
        format!("workspace  {}", session.workspace),
        format!("created    {}", relative_time(session.created_at_ms, now)),
        format!("updated    {}", relative_time(session.updated_at_ms, now)),
        format!("turns      {} ({} events)", session.turns, session.last_seq),
        format!(
            "tokens     {} in ({} cached), {} out ({} reasoning){}",
            usage.prompt_tokens,
            usage.cached_prompt_tokens,
            usage.completion_tokens,
            usage.reasoning_tokens,
            if usage.estimated { ", estimated" } else { "" }
        ),
    ];
    let workspace = lines.iter().position(|line| line.starts_with("workspace  ")).unwrap_or(0);
    let mut rest = lines.split_off((workspace + 1).min(lines.len()));
    lines.extend(session.further_roots.iter().map(|root| format!("and        {root}")));
    lines.append(&mut rest);
    if let Some(origin) = &session.origin {
        lines.push(format!("copy of    {} up to event {}", origin.session_id, origin.seq));
    }
    for participant in &detail.participants {
        let author = participant.author.clone().unwrap_or_default();
        lines.push(format!("attached   {} ({})", author.name, author.client_id));
    }
    for (index, message) in detail.queue.iter().enumerate() {
        let author = message.author.clone().unwrap_or_default();
        let preview = one_line(&message.preview, 60);
        lines.push(format!(
            "queued {:>3} {} from {}: {preview}",
            index + 1,
            message.item_id,
            author.name
        ));
    }
    for open in &detail.open_approvals {
        let tool = one_line(&open.tool, 40);
        let summary = open.action.as_ref().map_or("", |action| action.summary.as_str());
        lines.push(format!("approval   {} {tool}: {}", open.approval_id, one_line(summary, 80)));
    }
    for question in &detail.open_questions {
        let choices = question.choices.join(" | ");
        lines.push(format!("question   {} [{choices}]", one_line(&question.prompt, 200)));
    }
    lines
}

//! Runs one command to its end.

mod export;
mod undo;

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::{Client, Connector, Outgoing, RpcError, with_deadline};

use super::{Command, Reply};

/// Longest wait for anything but a message.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest wait for what asks a model.
const LONG_PATIENCE: Duration = Duration::from_secs(600);

/// Runs a command. What goes wrong is a reply too.
pub(super) async fn execute(connector: &Connector, client: &Client, command: Command) -> Reply {
    match call(connector, client, command.clone()).await {
        Ok(reply) => reply,
        Err(error) => Reply::Failed { command: Box::new(command), error },
    }
}

async fn call(connector: &Connector, client: &Client, command: Command) -> Result<Reply, RpcError> {
    let reply = match command {
        Command::Submit(request) => {
            Reply::Submitted(Outgoing::of(request).send(connector, client).await?)
        }
        Command::Interrupt(request) => {
            let answer = client.turn().interrupt_turn(with_deadline(request, PATIENCE)).await?;
            Reply::Interrupted(answer.get_ref().interrupted)
        }
        Command::AnswerQuestion(request) => {
            client.turn().answer_question(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::AnswerApproval(request) => {
            client.approval().answer_approval(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::Withdraw(request) => {
            client.turn().withdraw_message(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::UpdateSession(request) => {
            client.session().update_session(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::CreateSession(request) => {
            let made = client.session().create_session(with_deadline(request, PATIENCE)).await?;
            Reply::Created(Box::new(made.into_inner().session.unwrap_or_default()))
        }
        Command::DeleteSession(request) => {
            let session_id = request.session_id.clone();
            client.session().delete_session(with_deadline(request, PATIENCE)).await?;
            Reply::Deleted { session_id }
        }
        Command::SetReadCursor(request) => {
            client.event().set_read_cursor(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::ListSessions(request) => {
            let page = client.session().list_sessions(with_deadline(request, PATIENCE)).await?;
            Reply::Sessions(page.into_inner().sessions)
        }
        Command::GetSession(request) => {
            let found = client.session().get_session(with_deadline(request, PATIENCE)).await?;
            Reply::Session(Box::new(found.into_inner()))
        }
        Command::ListModels(request) => {
            let models = client.model().list_models(with_deadline(request, PATIENCE)).await?;
            Reply::Models(models.into_inner())
        }
        Command::ListMemories(request) => {
            let page = client.memory().list_memories(with_deadline(request, PATIENCE)).await?;
            Reply::Memories(page.into_inner())
        }
        Command::GetMemory(request) => {
            let memory = client.memory().get_memory(with_deadline(request, PATIENCE)).await?;
            Reply::Memory(Box::new(memory.into_inner()))
        }
        Command::UpdateMemory(request) => {
            client.memory().update_memory(with_deadline(request, PATIENCE)).await?;
            Reply::MemoryChanged
        }
        Command::AddMemory(request) => {
            let added = client.memory().add_memory(with_deadline(request, PATIENCE)).await?;
            Reply::MemoryAdded(Box::new(added.into_inner()))
        }
        Command::ForgetMemory(request) => {
            client.memory().forget_memory(with_deadline(request, PATIENCE)).await?;
            Reply::MemoryChanged
        }
        Command::ConfirmMemory(request) => {
            client.memory().confirm_memory(with_deadline(request, PATIENCE)).await?;
            Reply::MemoryChanged
        }
        Command::UndoMemoryChange(request) => {
            let request = with_deadline(request, PATIENCE);
            let undone = client.memory().undo_memory_change(request).await?;
            Reply::MemoryUndone(Box::new(undone.into_inner()))
        }
        Command::GetMemoryStats => {
            let request = with_deadline(v1::GetMemoryStatsRequest::default(), PATIENCE);
            let stats = client.memory().get_memory_stats(request).await?;
            Reply::MemoryStats(Box::new(stats.into_inner()))
        }
        Command::SweepMemories(request) => {
            let dry_run = request.dry_run;
            let swept = client.memory().sweep_memories(with_deadline(request, PATIENCE)).await?;
            Reply::Swept { dry_run, swept: swept.into_inner() }
        }
        Command::ConsolidateMemories(request) => {
            let request = with_deadline(request, LONG_PATIENCE);
            let done = client.memory().consolidate_memories(request).await?;
            Reply::Consolidated(Box::new(done.into_inner()))
        }
        Command::ListTools => {
            let request = with_deadline(v1::ListToolsRequest::default(), PATIENCE);
            Reply::Tools(client.tool().list_tools(request).await?.into_inner().tools)
        }
        Command::GetUsage(request) => {
            let usage = client.usage().get_usage(with_deadline(request, PATIENCE)).await?;
            Reply::Usage(Box::new(usage.into_inner()))
        }
        Command::GetContext(request) => {
            let session_id = request.session_id.clone();
            let context = client.context().get_context(with_deadline(request, PATIENCE)).await?;
            Reply::Context { session_id, context: Box::new(context.into_inner()) }
        }
        Command::SearchMessages(request) => {
            let question = request.question.clone();
            let found = client.search().search_messages(with_deadline(request, PATIENCE)).await?;
            Reply::Found { question, found: found.into_inner() }
        }
        Command::GetTool(request) => {
            let found = client.tool().get_tool(with_deadline(request, PATIENCE)).await?;
            Reply::Tool(Box::new(found.into_inner().tool.unwrap_or_default()))
        }
        Command::ListChanges(request) => {
            let changes = client.tool().list_changes(with_deadline(request, PATIENCE)).await?;
            Reply::Changes(changes.into_inner())
        }
        Command::Undo { session_id, change, author } => {
            Reply::Undone(Box::new(undo::undo(client, session_id, change, author).await?))
        }
        Command::CompactContext(request) => {
            // A model may write the summary.
            let request = with_deadline(request, LONG_PATIENCE);
            let done = client.context().compact_context(request).await?;
            Reply::Compacted(Box::new(done.into_inner()))
        }
        Command::ExpandSummary(request) => {
            let found = client.context().expand_summary(with_deadline(request, PATIENCE)).await?;
            Reply::Expanded(found.into_inner())
        }
        Command::Pin(request) => {
            let pins = client.context().pin_text(with_deadline(request, PATIENCE)).await?;
            Reply::Pins(pins.into_inner().pins)
        }
        Command::Unpin(request) => {
            let pins = client.context().unpin_text(with_deadline(request, PATIENCE)).await?;
            Reply::Pins(pins.into_inner().pins)
        }
        Command::ListEvents(request) => {
            let page = client.event().list_events(with_deadline(request, PATIENCE)).await?;
            Reply::Events(page.into_inner().events)
        }
        Command::Export { session_id, file } => {
            export::export(client, session_id, file.clone()).await?;
            Reply::Exported(file)
        }
        Command::GetStatus => {
            let request = with_deadline(v1::GetStatusRequest::default(), PATIENCE);
            let status = client.admin().get_status(request).await?;
            Reply::Status(Box::new(status.into_inner()))
        }
    };
    Ok(reply)
}

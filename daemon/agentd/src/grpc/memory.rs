//! `MemoryService`: one file per method.
//!
//! What changes memories runs to its end although its client may leave: between what is durable and
//! what is seen nothing may be dropped.

mod add_memory;
mod confirm_memory;
mod consolidate_memories;
mod export_memories;
mod forget_memory;
mod get_memory;
mod get_memory_stats;
mod import_line;
mod import_memories;
mod list_memories;
mod read;
mod sweep_memories;
mod undo_memory_change;
mod update_memory;

use agentd_memory::{Memories, MemoryError};
use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::detached::detached;
use super::{Context, Service, status};

/// Changes memories, whole, although the client may leave.
async fn changed<T: Send + 'static, F>(
    ctx: &Context,
    name: &'static str,
    change: impl FnOnce(Memories) -> F + Send + 'static,
) -> Result<T, Status>
where
    F: Future<Output = Result<T, MemoryError>> + Send,
{
    let memories = ctx.memories.clone();
    detached(ctx.engine.tasks(), name, async move {
        change(memories).await.map_err(|error| status::from_memory(&error))
    })
    .await
}

#[tonic::async_trait]
impl v1::memory_service_server::MemoryService for Service {
    async fn list_memories(
        &self,
        request: Request<v1::ListMemoriesRequest>,
    ) -> Result<Response<v1::ListMemoriesResponse>, Status> {
        list_memories::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn get_memory(
        &self,
        request: Request<v1::GetMemoryRequest>,
    ) -> Result<Response<v1::GetMemoryResponse>, Status> {
        get_memory::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn add_memory(
        &self,
        request: Request<v1::AddMemoryRequest>,
    ) -> Result<Response<v1::AddMemoryResponse>, Status> {
        add_memory::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn update_memory(
        &self,
        request: Request<v1::UpdateMemoryRequest>,
    ) -> Result<Response<v1::UpdateMemoryResponse>, Status> {
        update_memory::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn forget_memory(
        &self,
        request: Request<v1::ForgetMemoryRequest>,
    ) -> Result<Response<v1::ForgetMemoryResponse>, Status> {
        forget_memory::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn confirm_memory(
        &self,
        request: Request<v1::ConfirmMemoryRequest>,
    ) -> Result<Response<v1::ConfirmMemoryResponse>, Status> {
        confirm_memory::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn undo_memory_change(
        &self,
        request: Request<v1::UndoMemoryChangeRequest>,
    ) -> Result<Response<v1::UndoMemoryChangeResponse>, Status> {
        undo_memory_change::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn get_memory_stats(
        &self,
        request: Request<v1::GetMemoryStatsRequest>,
    ) -> Result<Response<v1::GetMemoryStatsResponse>, Status> {
        let v1::GetMemoryStatsRequest {} = request.into_inner();
        get_memory_stats::handle(&self.ctx).await.map(Response::new)
    }

    async fn sweep_memories(
        &self,
        request: Request<v1::SweepMemoriesRequest>,
    ) -> Result<Response<v1::SweepMemoriesResponse>, Status> {
        sweep_memories::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn consolidate_memories(
        &self,
        request: Request<v1::ConsolidateMemoriesRequest>,
    ) -> Result<Response<v1::ConsolidateMemoriesResponse>, Status> {
        consolidate_memories::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn export_memories(
        &self,
        request: Request<v1::ExportMemoriesRequest>,
    ) -> Result<Response<v1::ExportMemoriesResponse>, Status> {
        export_memories::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn import_memories(
        &self,
        request: Request<v1::ImportMemoriesRequest>,
    ) -> Result<Response<v1::ImportMemoriesResponse>, Status> {
        import_memories::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}

//! `SessionService`: one file per method.

mod create_session;
mod delete_session;
mod export_session;
mod fork_session;
mod get_session;
mod import_session;
mod list_sessions;
mod update_session;
mod watch_sessions;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::session_service_server::SessionService for Service {
    type WatchSessionsStream = watch_sessions::WatchStream;

    async fn create_session(
        &self,
        request: Request<v1::CreateSessionRequest>,
    ) -> Result<Response<v1::CreateSessionResponse>, Status> {
        create_session::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn get_session(
        &self,
        request: Request<v1::GetSessionRequest>,
    ) -> Result<Response<v1::GetSessionResponse>, Status> {
        get_session::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn list_sessions(
        &self,
        request: Request<v1::ListSessionsRequest>,
    ) -> Result<Response<v1::ListSessionsResponse>, Status> {
        list_sessions::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn update_session(
        &self,
        request: Request<v1::UpdateSessionRequest>,
    ) -> Result<Response<v1::UpdateSessionResponse>, Status> {
        update_session::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn delete_session(
        &self,
        request: Request<v1::DeleteSessionRequest>,
    ) -> Result<Response<v1::DeleteSessionResponse>, Status> {
        delete_session::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn fork_session(
        &self,
        request: Request<v1::ForkSessionRequest>,
    ) -> Result<Response<v1::ForkSessionResponse>, Status> {
        fork_session::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn export_session(
        &self,
        request: Request<v1::ExportSessionRequest>,
    ) -> Result<Response<v1::ExportSessionResponse>, Status> {
        export_session::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn import_session(
        &self,
        request: Request<v1::ImportSessionRequest>,
    ) -> Result<Response<v1::ImportSessionResponse>, Status> {
        import_session::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn watch_sessions(
        &self,
        request: Request<v1::WatchSessionsRequest>,
    ) -> Result<Response<Self::WatchSessionsStream>, Status> {
        watch_sessions::handle(&self.ctx, request.into_inner()).map(Response::new)
    }
}

//! `AdminService`: one file per method.

mod backup_store;
mod get_status;
mod reload_config;
mod shutdown;
mod upgrade;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;
use super::peer::peer_uid;

#[tonic::async_trait]
impl v1::admin_service_server::AdminService for Service {
    async fn get_status(
        &self,
        _request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::GetStatusResponse>, Status> {
        get_status::handle(&self.ctx).await.map(Response::new)
    }

    async fn shutdown(
        &self,
        _request: Request<v1::ShutdownRequest>,
    ) -> Result<Response<v1::ShutdownResponse>, Status> {
        Ok(Response::new(shutdown::handle(&self.ctx)))
    }

    async fn reload_config(
        &self,
        _request: Request<v1::ReloadConfigRequest>,
    ) -> Result<Response<v1::ReloadConfigResponse>, Status> {
        reload_config::handle(&self.ctx).map(Response::new)
    }

    async fn backup_store(
        &self,
        request: Request<v1::BackupStoreRequest>,
    ) -> Result<Response<v1::BackupStoreResponse>, Status> {
        backup_store::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn upgrade(
        &self,
        request: Request<v1::UpgradeRequest>,
    ) -> Result<Response<v1::UpgradeResponse>, Status> {
        let peer = peer_uid(request.extensions());
        upgrade::handle(&self.ctx, peer, request.into_inner()).await.map(Response::new)
    }
}

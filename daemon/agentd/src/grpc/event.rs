//! `EventService`: one file per method.

mod attach;
mod list_events;
mod set_read_cursor;

use std::pin::Pin;

use agentd_proto::v1;
use futures_util::Stream;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::event_service_server::EventService for Service {
    type AttachStream = Pin<Box<dyn Stream<Item = Result<v1::AttachResponse, Status>> + Send>>;

    async fn attach(
        &self,
        request: Request<v1::AttachRequest>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        attach::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn list_events(
        &self,
        request: Request<v1::ListEventsRequest>,
    ) -> Result<Response<v1::ListEventsResponse>, Status> {
        list_events::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn set_read_cursor(
        &self,
        request: Request<v1::SetReadCursorRequest>,
    ) -> Result<Response<v1::SetReadCursorResponse>, Status> {
        set_read_cursor::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}

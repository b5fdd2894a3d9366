//! `TurnService`: one file per method.

mod answer_question;
mod interrupt_turn;
mod submit_message;
mod withdraw_message;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

pub(crate) use submit_message::decode_submission;

#[tonic::async_trait]
impl v1::turn_service_server::TurnService for Service {
    async fn submit_message(
        &self,
        request: Request<v1::SubmitMessageRequest>,
    ) -> Result<Response<v1::SubmitMessageResponse>, Status> {
        submit_message::handle(&self.ctx, request).await.map(Response::new)
    }

    async fn withdraw_message(
        &self,
        request: Request<v1::WithdrawMessageRequest>,
    ) -> Result<Response<v1::WithdrawMessageResponse>, Status> {
        withdraw_message::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn interrupt_turn(
        &self,
        request: Request<v1::InterruptTurnRequest>,
    ) -> Result<Response<v1::InterruptTurnResponse>, Status> {
        interrupt_turn::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn answer_question(
        &self,
        request: Request<v1::AnswerQuestionRequest>,
    ) -> Result<Response<v1::AnswerQuestionResponse>, Status> {
        answer_question::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}

//! Lists the models that can be chosen, and who has which role.

use agentd_proto::v1;

use crate::grpc::{Context, to_proto};
use crate::provider::ModelList;

pub(super) async fn handle(ctx: &Context) -> v1::ListModelsResponse {
    let ModelList { models, roles } = ctx.models.list().await;
    v1::ListModelsResponse {
        models: models.iter().map(to_proto::model).collect(),
        roles: roles.into_iter().map(to_proto::role).collect(),
    }
}

//! `agentctl reload`.

use agentd_proto::v1;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};

/// Makes the daemon read its configuration again.
pub(super) async fn run(app: &App) -> Result<Exit, Failure> {
    let client = app.running_client().await?;
    let answer = client.admin().reload_config(v1::ReloadConfigRequest {}).await;
    let answer = answer.map_err(|status| rpc_failure("cannot reload the configuration", status))?;
    let v1::ReloadConfigResponse { config_file, needs_restart } = answer.into_inner();
    let source = if config_file.is_empty() { "no file; defaults".to_owned() } else { config_file };
    app.output.foreign_line(&format!("configuration in force: {source}"))?;
    if !needs_restart.is_empty() {
        app.output.note(&format!("after a restart only: {}", needs_restart.join(", ")));
    }
    Ok(Exit::Ok)
}

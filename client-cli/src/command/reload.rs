//! `agentctl reload`.

use agentd_proto::v1;

use super::status;
use crate::app::{App, rpc_failure};
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::{ProviderView, ReloadView};

/// Makes the daemon read its configuration again.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.running_client().await?;
    let answer = client.admin().reload_config(v1::ReloadConfigRequest {}).await;
    let answer = answer.map_err(|status| rpc_failure("cannot reload the configuration", status))?;
    let v1::ReloadConfigResponse { config_file, needs_restart } = answer.into_inner();
    // The file may be right and still name a model that cannot be asked.
    let provider = status::fetch(&client).await?.provider;
    if args.json {
        let provider = provider.as_ref().map(ProviderView::from);
        app.output.json(&ReloadView {
            config_file: &config_file,
            needs_restart: &needs_restart,
            provider,
        })?;
        return Ok(Exit::Ok);
    }
    let source = if config_file.is_empty() { "no file; defaults".to_owned() } else { config_file };
    app.output.foreign_line(&format!("configuration in force: {source}"))?;
    if !needs_restart.is_empty() {
        app.output.note(&format!("after a restart only: {}", needs_restart.join(", ")));
    }
    if let Some(provider) = provider {
        let text = format!("model: {}", answering(&provider));
        app.output.note(&text);
    }
    Ok(Exit::Ok)
}

/// Who answers now, in one line, or why nobody does.
fn answering(provider: &v1::ProviderStatus) -> String {
    match (provider.model.as_str(), provider.base_url.as_str()) {
        ("", _) => format!("{} ({})", provider.kind, provider.source),
        (model, "") => format!("{model} ({})", provider.source),
        (model, url) => format!("{model} at {url} ({})", provider.source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answers_now_is_told_with_its_source() {
        let check = |kind: &str, model: &str, base_url: &str, source: &str, expect: &str| {
            let provider = v1::ProviderStatus {
                kind: kind.into(),
                model: model.into(),
                base_url: base_url.into(),
                source: source.into(),
                ..v1::ProviderStatus::default()
            };
            assert_eq!(answering(&provider), expect);
        };
        check("openai", "m", "http://h/v1", "config", "m at http://h/v1 (config)");
        check("offline", "offline", "", "none found", "offline (none found)");
        check("none", "", "", "no usable API key: set K", "none (no usable API key: set K)");
    }
}

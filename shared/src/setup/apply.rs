//! Putting a first configuration in force, and trying it with one tiny question.

use std::io;
use std::time::Duration;

use agentd_proto::v1;

use super::Saved;
use crate::client::{Client, with_deadline};
use crate::status_error::RpcError;

/// Longest wait for the model's answer; the daemon itself waits for thirty seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is looked at, in the order in which trouble is told.
const LOOKED_AT: [&str; 4] = ["config", "key", "endpoint", "model"];

/// Why a first configuration is not good.
#[derive(Debug, thiserror::Error)]
pub enum TryError {
    /// The daemon has found something wrong; what was written is taken back.
    #[error("{detail}")]
    Refused {
        /// What is wrong. What the daemon would have done about it is of no use: nothing is kept.
        detail: String,
    },
    /// The daemon could not be asked; what was written stays.
    #[error("the daemon could not try it: {0}")]
    Daemon(RpcError),
    /// What was written could not be taken back.
    #[error("what was written could not be removed")]
    Undo(#[source] io::Error),
}

impl Saved {
    /// Has the daemon read it and ask the model one tiny question. What is not good is taken back.
    ///
    /// # Errors
    /// What is wrong with it, or why that is not known.
    pub async fn apply(self, client: &Client) -> Result<(), TryError> {
        let checked = self.check(client).await;
        if let Err(TryError::Refused { .. }) = &checked {
            self.undo().map_err(TryError::Undo)?;
            reload(client).await?;
        }
        checked
    }

    async fn check(&self, client: &Client) -> Result<(), TryError> {
        reload(client).await?;
        let request = with_deadline(v1::RunChecksRequest { offline: false }, PATIENCE);
        let answer = client.diagnostics().run_checks(request).await;
        let checks = answer.map_err(|status| TryError::Daemon(status.into()))?.into_inner().checks;
        trouble(&checks)
            .map_or(Ok(()), |check| Err(TryError::Refused { detail: check.detail.clone() }))
    }
}

async fn reload(client: &Client) -> Result<(), TryError> {
    let answer = client.admin().reload_config(v1::ReloadConfigRequest {}).await;
    answer.map(drop).map_err(|status| {
        let error = RpcError::from(status);
        match error.kind() {
            crate::ErrorKind::Invalid => TryError::Refused { detail: error.message },
            _ => TryError::Daemon(error),
        }
    })
}

/// The first check about the model that failed.
fn trouble(checks: &[v1::Check]) -> Option<&v1::Check> {
    LOOKED_AT.iter().find_map(|name| {
        checks.iter().find(|check| check.name == *name && check.outcome() == v1::CheckOutcome::Fail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_with_the_key_is_told_before_that_of_the_endpoint_and_no_other() {
        let check = |name: &str, outcome: v1::CheckOutcome| v1::Check {
            name: name.to_owned(),
            outcome: outcome.into(),
            ..v1::Check::default()
        };
        let (good, bad) = (v1::CheckOutcome::Ok, v1::CheckOutcome::Fail);
        let checks = [check("disk", bad), check("endpoint", bad), check("key", bad)];
        assert_eq!(trouble(&checks).unwrap().name, "key");
        assert_eq!(trouble(&[check("disk", bad), check("key", good)]), None);
    }
}

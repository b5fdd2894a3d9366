//! The sandbox of a daemon, chosen when it is first needed.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::{Choice, Policy, Sandbox, Unavailable, choose};

/// How a daemon runs programs. What works is found out once; what does not is tried again, since
/// somebody may have installed it.
#[derive(Debug)]
pub struct Programs {
    choice: Choice,
    policy: Policy,
    chosen: OnceCell<Arc<dyn Sandbox>>,
}

impl Programs {
    /// Nothing is started yet.
    pub fn new(choice: Choice, policy: Policy) -> Self {
        Self { choice, policy, chosen: OnceCell::new() }
    }

    /// The sandbox in force.
    ///
    /// # Errors
    /// When none works.
    ///
    /// # Cancel safety
    /// A probe that is dropped is made again by the next call.
    pub async fn sandbox(&self) -> Result<Arc<dyn Sandbox>, Unavailable> {
        let choosing = async {
            let (sandbox, missing) = choose(self.choice, &self.policy).await?;
            let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
            tracing::info!(backend = %sandbox.backend(), ?missing, "programs run in a sandbox");
            Ok(Arc::from(sandbox))
        };
        self.chosen.get_or_try_init(|| choosing).await.cloned()
    }
}

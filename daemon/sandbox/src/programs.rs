//! The sandbox of a daemon, chosen when it is first needed.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::{Backend, Choice, Missing, Policy, Sandbox, Unavailable, choose};

/// How a daemon runs programs. What works is found out once; what does not is tried again, since
/// somebody may have installed it.
#[derive(Debug)]
pub struct Programs {
    choice: Choice,
    policy: Policy,
    chosen: OnceCell<Chosen>,
}

/// The sandbox in force, and why others are not.
#[derive(Debug)]
struct Chosen {
    sandbox: Arc<dyn Sandbox>,
    missing: Vec<Missing>,
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
        Ok(Arc::clone(&self.chosen().await?.sandbox))
    }

    /// The backend in force, and why the ones before it are not.
    ///
    /// # Errors
    /// When none works.
    pub async fn backend(&self) -> Result<(Backend, &[Missing]), Unavailable> {
        let Chosen { sandbox, missing } = self.chosen().await?;
        Ok((sandbox.backend(), missing))
    }

    async fn chosen(&self) -> Result<&Chosen, Unavailable> {
        let choosing = async {
            let (sandbox, missing) = choose(self.choice, &self.policy).await?;
            let why: Vec<String> = missing.iter().map(ToString::to_string).collect();
            tracing::info!(backend = %sandbox.backend(), not_taken = why.join("; "), "sandbox chosen");
            Ok(Chosen { sandbox: Arc::from(sandbox), missing })
        };
        self.chosen.get_or_try_init(|| choosing).await
    }
}

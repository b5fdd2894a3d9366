//! The sandbox of a daemon, chosen when it starts or when it is first needed.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use crate::{Accounting, Backend, Choice, Missing, Policy, Sandbox, Unavailable, choose};

/// How a daemon runs programs. What works is found out once; what does not is tried again, since
/// somebody may have installed it.
#[derive(Debug)]
pub struct Programs {
    choice: Choice,
    policy: Policy,
    chosen: OnceCell<Chosen>,
    /// Why nothing was chosen, the last time that it was tried.
    refused: Mutex<Option<Unavailable>>,
}

/// The sandbox in force, and why others are not.
#[derive(Debug)]
struct Chosen {
    sandbox: Arc<dyn Sandbox>,
    missing: Vec<Missing>,
}

/// What is known without trying anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// Nothing was tried yet.
    Nothing,
    /// This backend is in force.
    InForce {
        /// Which.
        backend: Backend,
        /// Why the ones before it are not.
        missing: Vec<Missing>,
        /// What holds programs to their limits.
        accounting: Accounting,
    },
    /// None works, as far as the last try tells.
    NoneWorks(Unavailable),
}

impl Programs {
    /// Nothing is started yet.
    pub fn new(choice: Choice, policy: Policy) -> Self {
        Self { choice, policy, chosen: OnceCell::new(), refused: Mutex::new(None) }
    }

    /// Which backend the user wants.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// What is the same for all programs.
    pub fn policy(&self) -> &Policy {
        &self.policy
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

    /// A sandbox with this backend, whatever is in force.
    ///
    /// # Errors
    /// When it does not work here.
    pub async fn sandbox_of(&self, backend: Backend) -> Result<Arc<dyn Sandbox>, Unavailable> {
        if let Some(chosen) = self.chosen.get()
            && chosen.sandbox.backend() == backend
        {
            return Ok(Arc::clone(&chosen.sandbox));
        }
        let (sandbox, _) = choose(Choice::Only(backend), &self.policy).await?;
        Ok(Arc::from(sandbox))
    }

    /// The backend in force, and why the ones before it are not.
    ///
    /// # Errors
    /// When none works.
    pub async fn backend(&self) -> Result<(Backend, &[Missing]), Unavailable> {
        let Chosen { sandbox, missing } = self.chosen().await?;
        Ok((sandbox.backend(), missing))
    }

    /// What is known by now; nothing is tried for it.
    pub fn known(&self) -> Known {
        if let Some(Chosen { sandbox, missing }) = self.chosen.get() {
            return Known::InForce {
                backend: sandbox.backend(),
                missing: missing.clone(),
                accounting: sandbox.accounting(),
            };
        }
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.clone().map_or(Known::Nothing, Known::NoneWorks)
    }

    async fn chosen(&self) -> Result<&Chosen, Unavailable> {
        let choosing = async {
            let chosen = choose(self.choice, &self.policy).await;
            let refused = chosen.as_ref().err().cloned();
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = refused;
            let (sandbox, missing) = chosen?;
            let why: Vec<String> = missing.iter().map(ToString::to_string).collect();
            tracing::info!(
                backend = %sandbox.backend(),
                limits = %sandbox.accounting(),
                not_taken = why.join("; "),
                "sandbox chosen"
            );
            Ok(Chosen { sandbox: Arc::from(sandbox), missing })
        };
        self.chosen.get_or_try_init(|| choosing).await
    }
}

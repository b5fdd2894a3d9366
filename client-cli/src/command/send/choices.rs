//! What `send` lets the user choose about a message.

use agentd_proto::v1;
use clap::ValueEnum;

/// What happens to a message when a turn is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum DeliveryChoice {
    /// The message runs after the turn.
    #[default]
    Queue,
    /// The running turn gets the message at its next tool boundary; after it, if there is none.
    Steer,
    /// The running turn is cancelled, then the message runs.
    Interrupt,
}

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum PriorityChoice {
    /// Background work; it expires after an hour unless --ttl or the daemon's configuration says otherwise.
    Low,
    /// What users type.
    #[default]
    Normal,
    /// Before what users type.
    High,
    /// Before what is high.
    Urgent,
    /// Before everything else.
    Critical,
}

impl From<DeliveryChoice> for v1::Delivery {
    fn from(choice: DeliveryChoice) -> Self {
        match choice {
            DeliveryChoice::Queue => Self::Queue,
            DeliveryChoice::Steer => Self::Steer,
            DeliveryChoice::Interrupt => Self::Interrupt,
        }
    }
}

impl From<PriorityChoice> for v1::Priority {
    fn from(choice: PriorityChoice) -> Self {
        match choice {
            PriorityChoice::Low => Self::Low,
            PriorityChoice::Normal => Self::Normal,
            PriorityChoice::High => Self::High,
            PriorityChoice::Urgent => Self::Urgent,
            PriorityChoice::Critical => Self::Critical,
        }
    }
}

//! What a request is made of, for people who ask.

/// A part of a request, by what it is for. In the order in which parts are sent; those from `Recalled`
/// on stand within the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Instructions of agentd.
    System,
    /// Descriptions of tools.
    Tools,
    /// A document of the workspace.
    Project,
    /// The summary of folded turns (L3).
    Summary,
    /// Folded turns that were recalled (L2).
    Recalled,
    /// Memories.
    Memories,
    /// Unfinished work that the model was reminded of.
    Resumed,
    /// What users said.
    User,
    /// What the model said, the arguments of its calls included.
    Assistant,
    /// What tools put out.
    ToolOutputs,
}

impl Layer {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "instructions",
            Self::Tools => "tools",
            Self::Project => "project document",
            Self::Summary => "summary",
            Self::Recalled => "recalled turns",
            Self::Memories => "memories",
            Self::Resumed => "reminders",
            Self::User => "users",
            Self::Assistant => "assistant",
            Self::ToolOutputs => "tool outputs",
        }
    }
}

/// How much of a request a layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerShare {
    /// Which.
    pub layer: Layer,
    /// Its tokens, calibrated.
    pub tokens: u64,
    /// Its messages.
    pub messages: u64,
}

/// What the next request of a session would hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextReport {
    /// The model that would be asked; empty offline.
    pub model: String,
    /// Its window in tokens.
    pub window: u64,
    /// Tokens of the window that are kept for the answer.
    pub answer: u64,
    /// The layers that have tokens, in order.
    pub layers: Vec<LayerShare>,
    /// Tokens of the conversation above which parts of older turns are left out.
    pub trim_above: u64,
    /// Tokens of the conversation above which older turns are folded.
    pub compact_above: u64,
    /// Turns above which older ones are folded; zero: any number stays whole.
    pub compact_above_turns: u32,
    /// Turns that are told whole.
    pub turns: u32,
    /// How tokens are counted.
    pub counted_by: &'static str,
    /// What counts are multiplied with to be what the provider counted.
    pub calibration: f64,
    /// Why folding has stopped for now; empty: it has not.
    pub stopped: String,
}

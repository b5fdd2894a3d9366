//! How much room a model's window leaves for the conversation.

use agentd_context::{
    Calibration, ContextConfig, ContextReport, Conversation, Counter, Layer, LayerShare, Policy,
};
use agentd_tools::Registry;

use crate::model::ResolvedModel;
use crate::roots::Roots;
use crate::turn::system_prompt;

/// Tokens of what every request of a turn holds beside the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fixed {
    system: u64,
    tools: u64,
    project: u64,
}

impl Fixed {
    /// Counts them.
    pub(crate) fn count(
        counter: Counter,
        roots: &Roots,
        tools: &Registry,
        project: Option<&str>,
    ) -> Self {
        let tools: u64 = tools
            .offered()
            .iter()
            .map(|spec| {
                counter.text(&spec.name)
                    + counter.text(&spec.description)
                    + counter.text(&spec.parameters.to_string())
            })
            .sum();
        let project = project.map_or(0, |project| counter.text(project));
        Self { system: counter.text(&system_prompt(roots)), tools, project }
    }

    /// All of it.
    pub(crate) fn tokens(self) -> u64 {
        self.system + self.tools + self.project
    }
}

/// The window of a turn's model, and what is left of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Room {
    pub(crate) counter: Counter,
    calibration: Calibration,
    /// By the server's count.
    window: u64,
    answer: u64,
    /// What an answer may have, where that is configured.
    most_output: u64,
    pub(crate) fixed: Fixed,
    /// By our own.
    pub(crate) policy: Policy,
    config: ContextConfig,
}

impl Room {
    /// Reads the model's tokenizer if it is needed, and counts.
    pub(crate) async fn of(
        config: ContextConfig,
        model: &ResolvedModel,
        calibration: Calibration,
        roots: &Roots,
        tools: &Registry,
        project: Option<&str>,
    ) -> Self {
        let counter = Counter::for_model(&model.model);
        if counter != Counter::Estimate {
            // When it does not come to an end it is read where it is needed first.
            let _aborted = tokio::task::spawn_blocking(move || counter.load()).await;
        }
        let fixed = Fixed::count(counter, roots, tools, project);
        let most = u64::from(model.max_output_tokens.unwrap_or(0));
        Self::new(config, counter, calibration, fixed, model.context_tokens, most)
    }

    fn new(
        config: ContextConfig,
        counter: Counter,
        calibration: Calibration,
        fixed: Fixed,
        window: u64,
        most_output: u64,
    ) -> Self {
        let answer = most_output.max(window / 8).min(window / 2);
        let left = calibration.to_count(window.saturating_sub(answer));
        let room = left.saturating_sub(fixed.tokens());
        let policy = Policy::new(config, calibration.to_count(window), room);
        Self { counter, calibration, window, answer, most_output, fixed, policy, config }
    }

    /// The same in another window, and with at most `most` tokens for the conversation.
    pub(crate) fn within(&self, window: Option<u64>, most: u64) -> Self {
        let window = window.unwrap_or(self.window);
        let smaller = Self::new(
            self.config,
            self.counter,
            self.calibration,
            self.fixed,
            window,
            self.most_output,
        );
        let room = smaller.policy.room.min(most);
        let policy = Policy::new(self.config, self.calibration.to_count(window), room);
        Self { policy, ..smaller }
    }

    /// Tokens of a request with a conversation, by our own count.
    pub(crate) fn request(&self, conversation: &Conversation) -> u64 {
        self.fixed.tokens() + conversation.tokens()
    }

    /// The layers of a request, with their tokens as the server would count them.
    fn layers(&self, conversation: &Conversation) -> Vec<LayerShare> {
        let Fixed { system, tools, project } = self.fixed;
        let fixed = [(Layer::System, system), (Layer::Tools, tools), (Layer::Project, project)];
        let fixed = fixed.into_iter().map(|(layer, tokens)| (layer, tokens, 1));
        fixed
            .chain(conversation.layers())
            .filter(|(_, tokens, _)| *tokens > 0)
            .map(|(layer, tokens, messages)| LayerShare {
                layer,
                tokens: self.calibration.of_count(tokens),
                messages,
            })
            .collect()
    }

    /// For people.
    pub(crate) fn report(&self, model: &str, conversation: &Conversation) -> ContextReport {
        ContextReport {
            model: model.to_owned(),
            window: self.window,
            answer: self.answer,
            layers: self.layers(conversation),
            trim_above: self.calibration.of_count(self.policy.trim_above),
            compact_above: self.calibration.of_count(self.policy.compact_above),
            compact_above_turns: self.policy.turns.map_or(0, |turns| turns.above),
            turns: conversation.turns(),
            counted_by: self.counter.name(),
            calibration: self.calibration.factor(),
            stopped: String::new(),
        }
    }

    /// The largest layers of a request, for a message to people.
    pub(crate) fn largest(&self, conversation: &Conversation) -> String {
        let mut layers = self.layers(conversation);
        layers.sort_by_key(|share| std::cmp::Reverse(share.tokens));
        let parts =
            layers.iter().take(3).map(|share| format!("{} {}", share.layer.name(), share.tokens));
        format!(
            "{} of {} tokens (and {} kept for the answer)",
            parts.collect::<Vec<_>>().join(", "),
            self.window,
            self.answer
        )
    }
}

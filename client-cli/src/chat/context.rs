//! `/context`, `/compact`, `/expand`, `/pin`, `/pins` and `/unpin`.

use agentd_shared::client_ids::now_ms;
use agentd_shared::format::Tone;

use super::conversation::Conversation;
use crate::command::context::{compact, expand, layers, pins};
use crate::exit::Failure;

impl Conversation<'_> {
    /// Shows what the next request would hold.
    pub(super) async fn show_context(&mut self) -> Result<(), Failure> {
        let context = layers::fetch(&self.client, &self.session_id).await?;
        let title = self.session().await?.title;
        self.say(agentd_shared::format::context::lines(&context, &title, layers::bars(self.app)));
        Ok(())
    }

    /// Folds the older turns.
    pub(super) async fn compact(&mut self) -> Result<(), Failure> {
        let done = compact::compact(&self.client, &self.session_id).await?;
        // What was folded is shown to every terminal as it happens.
        if done.compacted.is_none() {
            self.view.aside(Tone::Dim, &compact::line(&done));
        }
        Ok(())
    }

    /// Shows the lines of the summary, or what one was made from.
    pub(super) async fn expand(&mut self, argument: &str) -> Result<(), Failure> {
        if argument.is_empty() {
            let context = layers::fetch(&self.client, &self.session_id).await?;
            self.say(expand::summary(context.summary.as_ref()));
            return Ok(());
        }
        // A number beyond all lines is told as such.
        let line = argument.parse().unwrap_or(u32::MAX);
        let expanded = expand::expand(&self.client, &self.session_id, line).await?;
        self.say(expand::lines(&expanded, i64::try_from(now_ms()).unwrap_or(i64::MAX)));
        Ok(())
    }

    /// Shows what is pinned.
    pub(super) async fn show_pins(&mut self) -> Result<(), Failure> {
        let context = layers::fetch(&self.client, &self.session_id).await?;
        self.say(pins::lines(&context.pins));
        Ok(())
    }

    /// Pins a text. Terminals are shown it as it happens.
    pub(super) async fn pin(&mut self, text: &str) -> Result<(), Failure> {
        pins::add(&self.client, self.app.author(), &self.session_id, text).await?;
        Ok(())
    }

    /// Unpins one.
    pub(super) async fn unpin(&mut self, argument: &str) -> Result<(), Failure> {
        let Ok(number) = argument.parse() else {
            self.view.aside(Tone::Warn, "say /unpin N; /pins shows the numbers");
            return Ok(());
        };
        pins::remove(&self.client, self.app.author(), &self.session_id, number).await?;
        Ok(())
    }
}

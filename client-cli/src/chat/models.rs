//! `/model` and `/effort`.

use agentd_proto::v1;
use agentd_shared::format::{Tone, turn};
use agentd_shared::text::one_line;
use agentd_shared::{EffortArg, Wishes, which};
use clap::ValueEnum as _;

use super::conversation::Conversation;
use crate::command::models;
use crate::exit::{Exit, Failure};

impl Conversation<'_> {
    pub(super) async fn show_models(&mut self) -> Result<(), Failure> {
        let list = models::fetch(&self.client).await?;
        let session = self.session().await?;
        let current = match session.model.as_str() {
            "" => format!("{} (the daemon's default)", main_model(&list)),
            model => model.to_owned(),
        };
        let mut lines = vec![format!("model: {current}")];
        let offered = list.models.iter().filter(|model| model.available);
        lines.extend(offered.map(|model| format!("  {}", model.name)));
        lines.push("`agentctl models` shows what they can do".to_owned());
        self.say(lines);
        Ok(())
    }

    pub(super) async fn set_model(&mut self, model: &str) -> Result<(), Failure> {
        let wishes = Wishes { model: Some(model.to_owned()), ..Wishes::default() };
        which::set(&self.client, self.app.author(), &self.session_id, &wishes).await?;
        // A provider may take models that it does not list, so that a strange one is set all the same.
        let Ok(list) = models::fetch(&self.client).await else { return Ok(()) };
        let mut offered = list.models.iter().filter(|known| known.available).peekable();
        let is_known = model == "default" || offered.peek().is_none();
        if !is_known && !offered.any(|known| known.name == model) {
            let model = one_line(model, 40);
            let text = format!("no endpoint lists \"{model}\"; /model shows what they have");
            self.view.aside(Tone::Warn, &text);
        }
        Ok(())
    }

    pub(super) async fn show_effort(&mut self) -> Result<(), Failure> {
        let session = self.session().await?;
        let requested = match session.effort() {
            v1::Effort::Unspecified => "the model's default".to_owned(),
            effort => crate::json::effort(effort.into()),
        };
        let mut lines = vec![format!("effort: {requested}")];
        if let Some(given) = self.view.transcript.last_turn().and_then(turn::effort) {
            lines.push(format!("the last turn had {given}"));
        }
        let offered = self.offered_efforts(&session).await?;
        lines.push(match offered.as_str() {
            "" => "as far as known, the model has no levels of effort".to_owned(),
            levels => format!("the model offers: {levels}"),
        });
        self.say(lines);
        Ok(())
    }

    pub(super) async fn set_effort(&mut self, level: &str) -> Result<(), Failure> {
        let Ok(effort) = EffortArg::from_str(level, true) else {
            let text = format!(
                "\"{}\" is no effort: use default, off, minimal, low, medium, high or max",
                one_line(level, 40)
            );
            self.view.aside(Tone::Warn, &text);
            self.script_failed(Exit::Usage);
            return Ok(());
        };
        let wishes = Wishes { effort: Some(effort), ..Wishes::default() };
        which::set(&self.client, self.app.author(), &self.session_id, &wishes).await?;
        let session = self.session().await?;
        let offered = self.offered_efforts(&session).await?;
        let level = level.to_ascii_lowercase();
        if effort == EffortArg::Default || offered.split(' ').any(|known| known == level) {
            return Ok(());
        }
        let text = match offered.as_str() {
            "" => "as far as known, the model has no levels of effort".to_owned(),
            levels => format!("the model offers {levels}; it is given the nearest"),
        };
        self.view.aside(Tone::Warn, &text);
        Ok(())
    }

    /// The levels that the session's model offers; empty when none are known.
    async fn offered_efforts(&self, session: &v1::Session) -> Result<String, Failure> {
        let list = models::fetch(&self.client).await?;
        let name = match session.model.as_str() {
            "" => main_model(&list),
            model => model,
        };
        let model = list.models.iter().find(|model| model.name == name);
        Ok(model.map(models::efforts).unwrap_or_default())
    }
}

/// The model that answers where a session names none.
fn main_model(list: &v1::ListModelsResponse) -> &str {
    let main = list.roles.iter().find(|role| role.role == "main");
    main.map_or("", |role| role.model.as_str())
}

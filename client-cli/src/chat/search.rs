//! `/search`: what was said in all sessions.

use agentd_proto::v1;
use agentd_shared::format::Tone;

use super::conversation::Conversation;
use crate::command::search;
use crate::exit::Failure;

impl Conversation<'_> {
    /// Shows messages that fit a question.
    pub(super) async fn search(&mut self, question: &str) -> Result<(), Failure> {
        let request =
            v1::SearchMessagesRequest { question: question.to_owned(), ..Default::default() };
        let answer = search::fetch(&self.client, request).await?;
        self.say(search::lines(&answer, search::now()));
        for note in search::notes(&answer) {
            self.view.aside(Tone::Dim, &note);
        }
        if !answer.messages.is_empty() {
            self.view.aside(Tone::Dim, "/switch ID goes to a session");
        }
        Ok(())
    }
}

//! Tools and what they changed, in a chat: `/tools`, `/diff`, `/undo`.

use agentd_proto::v1;
use agentd_shared::format::card;

use super::conversation::Conversation;
use crate::by_hand::{self, Audience};
use crate::command::{diff, tools, undo};
use crate::exit::{Exit, Failure};

/// Who has typed a command: what it says is what is wanted.
struct Typed {
    planned: Option<v1::PlannedCall>,
}

impl Audience for Typed {
    fn planned(&mut self, planned: &v1::PlannedCall) -> Result<(), Failure> {
        self.planned = Some(planned.clone());
        Ok(())
    }

    async fn approve(&mut self, _planned: &v1::PlannedCall) -> Result<bool, Failure> {
        Ok(true)
    }

    fn shown(&mut self, _text: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn finished(&mut self, _finished: &v1::ToolCallFinished) -> Result<(), Failure> {
        Ok(())
    }
}

impl Conversation<'_> {
    /// Lists the tools, or shows one.
    pub(super) async fn show_tools(&mut self, name: &str) -> Result<(), Failure> {
        let lines = if name.is_empty() {
            let width = self.view.canvas.look().width;
            let known = tools::list::fetch(&self.client).await?;
            tools::list::lines(&known, Some(width))
        } else {
            tools::show::lines(&tools::show::fetch(&self.client, name).await?)
        };
        self.say(lines);
        Ok(())
    }

    /// Shows what the session's tools have changed.
    pub(super) async fn show_changes(&mut self) -> Result<(), Failure> {
        let changes = diff::fetch(&self.client, &self.session_id).await?;
        let look = self.view.canvas.remark_look();
        self.view.canvas.remarks(diff::rows(&changes, look));
        Ok(())
    }

    /// Takes back the last change, or the one of a number.
    pub(super) async fn undo(&mut self, number: &str) -> Result<(), Failure> {
        let call = undo::call(self.session_id.clone(), number.parse().ok(), self.app);
        let mut typed = Typed { planned: None };
        let outcome = by_hand::run(&self.client, &call, &mut typed).await?;
        if let by_hand::Outcome::Finished(finished) = &outcome {
            let look = self.view.canvas.remark_look();
            let item = by_hand::item(typed.planned.as_ref(), finished);
            self.view.canvas.remarks(look.paint_all(&card::finished(&item, look.width)));
            if by_hand::exit_of(finished) != Exit::Ok {
                self.script_failed(Exit::Failed);
            }
        }
        by_hand::not_run(&outcome, &call.tool).map_or(Ok(()), Err)
    }
}

//! Messages that wait: `/queue` and `/withdraw`.

use agentd_proto::v1;
use agentd_shared::format::{Tone, turn};
use agentd_shared::input::pick;
use agentd_shared::text::one_line;
use agentd_shared::with_deadline;

use super::conversation::Conversation;
use super::dispatch::PATIENCE;
use crate::app::rpc_failure;
use crate::exit::Failure;

impl Conversation<'_> {
    pub(super) fn show_queue(&mut self) {
        let waiting = self.view.transcript.queue().enumerate();
        let lines: Vec<String> = waiting
            .map(|(index, message)| {
                let name = one_line(&message.author.name, 30);
                let standing = turn::standing(message.priority, message.expires_at_ms);
                format!("{:>3}  {name}: {}{standing}", index + 1, one_line(&message.text, 80))
            })
            .collect();
        if lines.is_empty() {
            self.view.aside(Tone::Dim, "nothing waits");
        } else {
            self.say(lines);
        }
    }

    pub(super) async fn withdraw(&mut self, argument: &str) -> Result<(), Failure> {
        let waiting: Vec<&str> =
            self.view.transcript.queue().map(|message| message.item_id.as_str()).collect();
        let Some(item_id) = pick::queued(&waiting, argument).map(str::to_owned) else {
            self.view.aside(Tone::Warn, "no such message waits; /queue shows their numbers");
            return Ok(());
        };
        let request = v1::WithdrawMessageRequest {
            session_id: self.session_id.clone(),
            item_id,
            author: Some(self.app.author()),
        };
        let answer = self.client.turn().withdraw_message(with_deadline(request, PATIENCE)).await;
        answer.map(drop).map_err(|status| rpc_failure("cannot take the message back", status))
    }
}

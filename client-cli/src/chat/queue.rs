//! Messages that wait: `/queue` and `/withdraw`.

use agentd_proto::v1;
use agentd_shared::format::{Tone, turn};
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
        let Some(item_id) = pick_queued(&waiting, argument).map(str::to_owned) else {
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

/// A queued message by its number, its id, or the only one.
pub(crate) fn pick_queued<'q>(waiting: &[&'q str], wanted: &str) -> Option<&'q str> {
    if wanted.is_empty() {
        return match waiting {
            [only] => Some(only),
            _ => None,
        };
    }
    // Ids begin with a zero.
    if !wanted.starts_with('0')
        && let Ok(number) = wanted.parse::<usize>()
        && let Some(found) = number.checked_sub(1).and_then(|index| waiting.get(index))
    {
        return Some(found);
    }
    let wanted = wanted.to_ascii_uppercase();
    let mut fits = waiting.iter().filter(|item_id| item_id.starts_with(&wanted));
    let found = fits.next()?;
    fits.next().is_none().then_some(*found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_message_is_numbered_named_or_the_only_one() {
        let check = |waiting: &[&str], wanted: &str, expect: Option<&str>| {
            assert_eq!(pick_queued(waiting, wanted), expect, "{wanted:?}");
        };
        check(&["01A", "01B"], "2", Some("01B"));
        check(&["01A", "01B"], "01a", Some("01A"));
        check(&["01A", "01B"], "01", None);
        check(&["01A", "01B"], "", None);
        check(&["01A"], "", Some("01A"));
        check(&[], "1", None);
    }
}

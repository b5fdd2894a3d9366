//! Approvals and modes in a chat: `y`, `n`, `a`, `w`, `/approve`, `/deny`, `/approvals`, `/mode`, `/work`.

use agentd_proto::v1;
use clap::ValueEnum as _;

use super::conversation::Conversation;
use super::lines::{Tone, mode_name};
use crate::approval_text::{self, Extent};
use crate::cli::{ModeArg, Wishes, WorkArg};
use crate::command::approvals::{self, Answer};
use crate::exit::{Exit, Failure};
use crate::which;

/// What is typed to answer an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    decision: v1::ApprovalDecision,
    scope: v1::ApprovalScope,
    /// The number that the approval was shown with; none: the only one.
    number: Option<usize>,
}

impl Key {
    /// Reads `y`, `n`, `a` or `w`, perhaps with a number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (decision, scope) = match words.next()?.to_ascii_lowercase().as_str() {
            "y" | "yes" => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Once),
            "a" | "always" => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Session),
            "w" | "workspace" => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Workspace),
            "n" | "no" => (v1::ApprovalDecision::Deny, v1::ApprovalScope::Once),
            _ => return None,
        };
        let number = match words.next() {
            None => None,
            Some(number) => Some(number.trim_start_matches('#').parse().ok()?),
        };
        words.next().is_none().then_some(Self { decision, scope, number })
    }
}

/// Splits `#2 because` or `2 because` into the number and the rest.
fn numbered(argument: &str) -> (Option<usize>, &str) {
    let (first, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    match first.trim_start_matches('#').parse() {
        Ok(number) => (Some(number), rest.trim()),
        Err(_) => (None, argument),
    }
}

impl Conversation<'_> {
    /// What a line says to an approval; none when it is something else, or nothing waits.
    pub(super) fn approval_key(&self, text: &str) -> Option<Key> {
        self.view.transcript.open_approvals().next()?;
        Key::parse(text)
    }

    pub(super) async fn press(&mut self, key: Key) -> Result<(), Failure> {
        let Key { decision, scope, number } = key;
        self.answer_approval(number, Answer { decision, scope, reason: "" }).await
    }

    pub(super) async fn approve(&mut self, argument: &str) -> Result<(), Failure> {
        let (number, rest) = numbered(argument);
        let scope = match rest {
            "" | "once" => v1::ApprovalScope::Once,
            "always" => v1::ApprovalScope::Session,
            "workspace" => v1::ApprovalScope::Workspace,
            _ => return self.misused("say /approve [NUMBER] [always|workspace]"),
        };
        let decision = v1::ApprovalDecision::Allow;
        self.answer_approval(number, Answer { decision, scope, reason: "" }).await
    }

    pub(super) async fn deny(&mut self, argument: &str) -> Result<(), Failure> {
        let (number, reason) = numbered(argument);
        let (decision, scope) = (v1::ApprovalDecision::Deny, v1::ApprovalScope::Once);
        self.answer_approval(number, Answer { decision, scope, reason }).await
    }

    /// Lets the calls run that our own turns ask for.
    pub(super) async fn say_yes(&mut self) {
        for approval_id in self.yes.as_mut().map(std::mem::take).unwrap_or_default() {
            // What is shown again after a lost connection may have its answer.
            let mut open = self.view.transcript.open_approvals();
            if !open.any(|(_, open)| open.approval_id == approval_id) {
                continue;
            }
            drop(open);
            let author = self.app.author();
            let (client, session_id) = (&self.client, &self.session_id);
            let sent = approvals::send(client, author, session_id, &approval_id, Answer::YES);
            if sent.await.is_err() {
                self.view.aside(Tone::Warn, "the yes was not taken: somebody else was first");
            }
        }
    }

    async fn answer_approval(
        &mut self,
        number: Option<usize>,
        answer: Answer<'_>,
    ) -> Result<(), Failure> {
        let Some(approval_id) = self.pick_approval(number).map(|open| open.approval_id.clone())
        else {
            return Ok(());
        };
        let author = self.app.author();
        approvals::send(&self.client, author, &self.session_id, &approval_id, answer).await
    }

    /// The approval that a number names. Without one it is the only one: where several wait, what is
    /// answered must be what was meant.
    fn pick_approval(&mut self, number: Option<usize>) -> Option<v1::ApprovalRequested> {
        let open: Vec<&v1::ApprovalRequested> =
            self.view.transcript.open_approvals().map(|(_, request)| request).collect();
        let found = match (number, open.as_slice()) {
            (None, [only]) => Some((*only).clone()),
            (None, _) => None,
            (Some(number), open) => open
                .iter()
                .find(|open| self.view.approval_number(&open.approval_id) == Some(number))
                .map(|open| (*open).clone()),
        };
        if found.is_none() {
            let text = match open.len() {
                0 => "nothing waits for an approval",
                1 => "no approval with this number waits",
                _ => "several wait: name one by its number, such as `y 2` or `/deny 2 REASON`",
            };
            self.view.aside(Tone::Warn, text);
        }
        found
    }

    pub(super) fn show_approvals(&mut self, argument: &str) -> Result<(), Failure> {
        let wanted = argument.strip_prefix("show").map_or(argument, str::trim);
        if wanted.is_empty() {
            let lines: Vec<String> = self
                .view
                .transcript
                .open_approvals()
                .map(|(_, open)| {
                    let number = self.view.approval_number(&open.approval_id).unwrap_or_default();
                    let summary = open.action.as_ref().map_or("", |action| &action.summary);
                    let tool = approval_text::visible(&open.tool, 40);
                    format!("#{number}  {tool}: {}", approval_text::visible(summary, 80))
                })
                .collect();
            if lines.is_empty() {
                self.view.aside(Tone::Dim, "nothing waits for an approval");
            }
            self.say(lines);
            return Ok(());
        }
        let (Some(number), "") = numbered(wanted) else {
            return self.misused("say /approvals, or /approvals show NUMBER");
        };
        if let Some(open) = self.pick_approval(Some(number)) {
            self.say(approval_text::lines(&open, Extent::Whole));
        }
        Ok(())
    }

    pub(super) async fn set_mode(&mut self, argument: &str) -> Result<(), Failure> {
        if argument.is_empty() {
            let session = self.session().await?;
            let mode = mode_name(session.permission_mode());
            self.say(vec![format!("mode: {mode} (plan, ask, auto-edit, full)")]);
            return Ok(());
        }
        let Ok(mode) = ModeArg::from_str(argument, true) else {
            return self.misused("say /mode plan, ask, auto-edit or full");
        };
        let wishes = Wishes { mode: Some(mode), ..Wishes::default() };
        which::set(&self.client, self.app.author(), &self.session_id, &wishes).await
    }

    pub(super) async fn set_work(&mut self, argument: &str) -> Result<(), Failure> {
        if argument.is_empty() {
            let session = self.session().await?;
            let work = crate::json::work_mode(session.work_mode);
            self.say(vec![format!(
                "work mode: {work} (design, develop, test, review, docs, devops)"
            )]);
            return Ok(());
        }
        let Ok(work) = WorkArg::from_str(argument, true) else {
            return self.misused("say /work design, develop, test, review, docs or devops");
        };
        let wishes = Wishes { work: Some(work), ..Wishes::default() };
        which::set(&self.client, self.app.author(), &self.session_id, &wishes).await
    }

    #[expect(clippy::unnecessary_wraps, reason = "it ends commands that can fail")]
    fn misused(&mut self, text: &str) -> Result<(), Failure> {
        self.view.aside(Tone::Warn, text);
        self.script_failed(Exit::Usage);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_letter_and_perhaps_a_number() {
        let check = |text: &str, expect: Option<(v1::ApprovalDecision, Option<usize>)>| {
            let key = Key::parse(text).map(|key| (key.decision, key.number));
            assert_eq!(key, expect, "{text:?}");
        };
        check("y", Some((v1::ApprovalDecision::Allow, None)));
        check(" A #12 ", Some((v1::ApprovalDecision::Allow, Some(12))));
        check("w 2", Some((v1::ApprovalDecision::Allow, Some(2))));
        check("no 2", Some((v1::ApprovalDecision::Deny, Some(2))));
        check("yes please", None);
        check("y 1 2", None);
        check("maybe", None);
    }

    #[test]
    fn a_number_comes_before_the_reason() {
        assert_eq!(numbered("2 use ripgrep"), (Some(2), "use ripgrep"));
        assert_eq!(numbered("use ripgrep"), (None, "use ripgrep"));
        assert_eq!(numbered("#3"), (Some(3), ""));
        assert_eq!(numbered(""), (None, ""));
    }
}

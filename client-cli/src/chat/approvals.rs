//! Approvals and modes in a chat: `y`, `n`, `a`, `w`, `/approve`, `/deny`, `/approvals`, `/mode`, `/work`.

use agentd_proto::v1;
use agentd_shared::ModeArg;
use agentd_shared::Wishes;
use agentd_shared::WorkArg;
use agentd_shared::format::approval::{self as approval_text, Extent};
use agentd_shared::format::{Tone, names};
use agentd_shared::which;
use clap::ValueEnum as _;
use tokio::time::Instant;

use super::conversation::Conversation;
use super::view::View;
use crate::command::approvals::{self, Answer};
use crate::exit::{Exit, Failure};

/// What is typed to answer an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    decision: v1::ApprovalDecision,
    scope: v1::ApprovalScope,
    /// The number that the approval was shown with; none: the only one.
    number: Option<usize>,
    /// Why not, for the model; empty: nothing is said.
    reason: String,
}

impl Key {
    /// Reads `y`, `n`, `a` or `w`, perhaps with a number; after `n` perhaps with a reason.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (decision, scope) = match word.to_ascii_lowercase().as_str() {
            "y" | "yes" => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Once),
            "a" | "always" => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Session),
            "w" | "workspace" => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Workspace),
            "n" | "no" => (v1::ApprovalDecision::Deny, v1::ApprovalScope::Once),
            _ => return None,
        };
        let (number, reason) = numbered(rest.trim());
        let is_answer = reason.is_empty() || decision == v1::ApprovalDecision::Deny;
        is_answer.then(|| Self { decision, scope, number, reason: reason.to_owned() })
    }

    /// True for a letter that says why: it may be a message, too.
    pub(super) fn has_reason(&self) -> bool {
        !self.reason.is_empty()
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

/// What is said to who lets something run without naming it, before it can have been read.
fn too_soon(
    view: &View,
    approval_id: &str,
    answer: Answer<'_>,
    typed_at: Instant,
) -> Option<String> {
    let allows = answer.decision == v1::ApprovalDecision::Allow;
    if !allows || view.can_have_been_read(approval_id, typed_at) {
        return None;
    }
    let key = match answer.scope {
        v1::ApprovalScope::Session => 'a',
        v1::ApprovalScope::Workspace => 'w',
        v1::ApprovalScope::Once | v1::ApprovalScope::Unspecified => 'y',
    };
    let number = view.approval_number(approval_id).unwrap_or_default();
    Some(format!("just asked: say `{key} {number}` if this is what you mean"))
}

impl Conversation<'_> {
    /// What a line says to an approval; none when it is something else, or nothing waits.
    pub(super) fn approval_key(&self, text: &str) -> Option<Key> {
        self.view.transcript.open_approvals().next()?;
        Key::parse(text)
    }

    pub(super) async fn press(&mut self, key: Key) -> Result<(), Failure> {
        let Key { decision, scope, number, reason } = key;
        self.answer_approval(number, Answer { decision, scope, reason: &reason }).await
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

    async fn answer_approval(
        &mut self,
        number: Option<usize>,
        answer: Answer<'_>,
    ) -> Result<(), Failure> {
        let Some(open) = self.pick_approval(number) else { return Ok(()) };
        let approval_id = open.approval_id;
        if number.is_none()
            && let Some(warning) = too_soon(&self.view, &approval_id, answer, self.typed_at)
        {
            self.view.aside(Tone::Warn, &warning);
            self.script_failed(Exit::Usage);
            return Ok(());
        }
        if self.is_cut_off {
            self.hold(approval_id, answer);
            return Ok(());
        }
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
            let mode = names::permission_mode(session.permission_mode());
            self.say(vec![format!("mode: {mode} (plan, ask, auto-edit, full)")]);
            return Ok(());
        }
        let Ok(mode) = ModeArg::from_str(argument, true) else {
            return self.misused("say /mode plan, ask, auto-edit or full");
        };
        let wishes = Wishes { mode: Some(mode), ..Wishes::default() };
        Ok(which::set(&self.client, self.app.author(), &self.session_id, &wishes).await?)
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
        Ok(which::set(&self.client, self.app.author(), &self.session_id, &wishes).await?)
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
    fn a_key_is_a_letter_perhaps_a_number_and_a_reason_only_against_it() {
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
        check("never", None);
        check("n not like this", Some((v1::ApprovalDecision::Deny, None)));
        let key = Key::parse("no #2 use ripgrep").unwrap();
        assert_eq!((key.number, key.reason.as_str()), (Some(2), "use ripgrep"));
    }

    #[test]
    fn who_lets_something_run_before_it_can_have_been_read_has_to_name_it() {
        use std::time::Duration;

        use crate::chat::canvas::{Canvas, Mode};
        use crate::look::Look;

        let canvas = Canvas::new(Mode::Append, Look { width: 60, colored: false });
        let mut view = View::new(canvas, "me", true);
        let before = Instant::now();
        for (seq, id) in [(1, "A"), (2, "B")] {
            let asked = v1::ApprovalRequested { approval_id: id.into(), ..Default::default() };
            let body = Some(v1::event::Body::ApprovalRequested(asked));
            view.event(&v1::Event { seq, body, ..Default::default() });
        }
        let after = Instant::now();
        let warning = |scope: v1::ApprovalScope, typed_at: Instant| {
            too_soon(&view, "B", Answer { scope, ..Answer::YES }, typed_at)
        };
        for (scope, say) in [
            (v1::ApprovalScope::Once, "say `y 2`"),
            (v1::ApprovalScope::Session, "say `a 2`"),
            (v1::ApprovalScope::Workspace, "say `w 2`"),
        ] {
            for typed_at in [before, before + Duration::from_millis(999)] {
                let warning = warning(scope, typed_at).unwrap();
                assert!(warning.contains(say), "{warning}");
            }
            assert_eq!(warning(scope, after + Duration::from_secs(1)), None);
        }
        let no = Answer { decision: v1::ApprovalDecision::Deny, ..Answer::YES };
        assert_eq!(too_soon(&view, "B", no, before), None);
    }

    #[test]
    fn a_number_comes_before_the_reason() {
        assert_eq!(numbered("2 use ripgrep"), (Some(2), "use ripgrep"));
        assert_eq!(numbered("use ripgrep"), (None, "use ripgrep"));
        assert_eq!(numbered("#3"), (Some(3), ""));
        assert_eq!(numbered(""), (None, ""));
    }
}

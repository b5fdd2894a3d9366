//! Commands about the open session.

use std::path::PathBuf;

use agentd_proto::v1;
use agentd_proto::v1::list_changes_request::Place;
use agentd_shared::input::pick;
use agentd_shared::input::slash::SlashCommand;

use crate::conn::Command;
use crate::state::overlay::{Body, Overlay, Picks, TextLine, TextOverlay, TypedAnswer, Wanted};
use crate::state::{Effect, State, Tone, replies};

/// Events in a trace, and the most of them.
const TRACED: u64 = 20;
const MAX_TRACED: u64 = 500;
/// Memories in a list.
const REMEMBERED: u32 = 100;

impl State {
    /// Does what a command says that needs a session.
    pub(super) fn command_of_session(
        &mut self,
        command: SlashCommand,
        argument: &str,
        session_id: String,
    ) -> Vec<Effect> {
        let read = || Command::GetSession(v1::GetSessionRequest { session_id: session_id.clone() });
        let context =
            || Command::GetContext(v1::GetContextRequest { session_id: session_id.clone() });
        match command {
            SlashCommand::Title if argument.is_empty() => {
                let title = self.open.as_ref().map_or("", |open| open.transcript.title());
                let title = if title.is_empty() { "(no title yet)" } else { title }.to_owned();
                self.notices.say(Tone::Info, &title);
                Vec::new()
            }
            SlashCommand::Title => self.update(v1::UpdateSessionRequest {
                title: Some(argument.to_owned()),
                ..Default::default()
            }),
            SlashCommand::Model if argument.is_empty() => self.pick_model(),
            SlashCommand::Model => self.choose(Picks::Model, argument),
            SlashCommand::Effort if argument.is_empty() => self.pick_effort(),
            SlashCommand::Effort => self.choose(Picks::Effort, argument),
            SlashCommand::Mode if argument.is_empty() => self.pick_mode(),
            SlashCommand::Mode => self.choose(Picks::Mode, argument),
            SlashCommand::Work if argument.is_empty() => self.pick_work(),
            SlashCommand::Work => self.choose(Picks::Work, argument),
            SlashCommand::Approvals => self.show_asks(argument),
            SlashCommand::Approve => {
                let (number, rest) = numbered(argument);
                let scope = match rest {
                    "" | "once" => v1::ApprovalScope::Once,
                    "always" => v1::ApprovalScope::Session,
                    "workspace" => v1::ApprovalScope::Workspace,
                    _ => {
                        self.notices.say(Tone::Warn, "say /approve [NUMBER] [always|workspace]");
                        return Vec::new();
                    }
                };
                let decision = v1::ApprovalDecision::Allow;
                self.answer_typed(TypedAnswer { decision, scope, number }, "")
            }
            SlashCommand::Deny => {
                let (number, reason) = numbered(argument);
                let (decision, scope) = (v1::ApprovalDecision::Deny, v1::ApprovalScope::Once);
                self.answer_typed(TypedAnswer { decision, scope, number }, reason)
            }
            SlashCommand::Stats => self.ask_for("this session", Wanted::Stats, read()),
            SlashCommand::Todo => self.ask_for("to do", Wanted::Todo, read()),
            SlashCommand::Plan => self.ask_for("plan", Wanted::Plan, read()),
            SlashCommand::Usage => {
                let session_id = match argument {
                    "" => session_id,
                    "all" => String::new(),
                    _ => {
                        let text = "say /usage for this session, /usage all for all";
                        self.notices.say(Tone::Warn, text);
                        return Vec::new();
                    }
                };
                let group_by = v1::UsageGrouping::Model.into();
                let request = v1::GetUsageRequest { group_by, session_id, ..Default::default() };
                self.ask_for("usage in 30 days", Wanted::Usage, Command::GetUsage(request))
            }
            SlashCommand::Memories => {
                self.ask_for("memories", Wanted::Memories, self.memories_here(argument))
            }
            SlashCommand::Context => self.ask_for("context", Wanted::Context, context()),
            SlashCommand::Pins => self.ask_for("pinned", Wanted::Pins, context()),
            SlashCommand::Expand if argument.is_empty() => {
                self.ask_for("summary", Wanted::Summary, context())
            }
            SlashCommand::Expand => {
                // A number beyond all lines is told as such.
                let line = argument.parse().unwrap_or(u32::MAX);
                let request = v1::ExpandSummaryRequest { session_id, line };
                let title = format!("line {argument} of the summary");
                self.ask_for(&title, Wanted::Expanded, Command::ExpandSummary(request))
            }
            SlashCommand::Compact => {
                self.notices.say(Tone::Info, "folding older turns");
                vec![Effect::Send(Command::CompactContext(v1::CompactContextRequest {
                    session_id,
                }))]
            }
            SlashCommand::Pin => vec![Effect::Send(Command::Pin(v1::PinTextRequest {
                session_id,
                text: argument.to_owned(),
                author: Some(self.author.clone()),
            }))],
            SlashCommand::Unpin => {
                let Ok(number) = argument.parse() else {
                    self.notices.say(Tone::Warn, "say /unpin N; /pins shows the numbers");
                    return Vec::new();
                };
                let author = Some(self.author.clone());
                let request = v1::UnpinTextRequest { session_id, number, author };
                vec![Effect::Send(Command::Unpin(request))]
            }
            SlashCommand::Diff => {
                let place = Some(Place::SessionId(session_id));
                let request = v1::ListChangesRequest { place };
                self.ask_for("changes", Wanted::Changes, Command::ListChanges(request))
            }
            SlashCommand::Undo => {
                let author = self.author.clone();
                let change = argument.parse().ok();
                vec![Effect::Send(Command::Undo { session_id, change, author })]
            }
            SlashCommand::Trace => {
                let count = argument.parse().unwrap_or(TRACED).clamp(1, MAX_TRACED);
                let last = self.open.as_ref().map_or(0, |open| open.transcript.last_seq());
                let request = v1::ListEventsRequest {
                    session_id,
                    from_seq: last.saturating_sub(count).saturating_add(1),
                    page_size: u32::try_from(count).unwrap_or(1),
                };
                self.ask_for("newest events", Wanted::Trace, Command::ListEvents(request))
            }
            SlashCommand::Export => {
                let short: String = session_id.chars().take(10).collect();
                let file = match argument {
                    "" => PathBuf::from(format!("agentd-{short}.jsonl")),
                    file => PathBuf::from(file),
                };
                vec![Effect::Send(Command::Export { session_id, file })]
            }
            SlashCommand::Queue => {
                let lines = self.open.as_ref().map(|open| replies::queue(&open.transcript));
                let body = Body::Lines(lines.unwrap_or_default());
                self.overlay = Some(Overlay::Text(TextOverlay::new("messages that wait", body)));
                Vec::new()
            }
            SlashCommand::Withdraw => self.withdraw(argument, session_id),
            SlashCommand::Interrupt if argument.is_empty() => self.cancel_turn(),
            SlashCommand::Stop => self.cancel_turn(),
            SlashCommand::Interrupt => self.submit(argument, v1::Delivery::Interrupt),
            SlashCommand::Steer => self.submit(argument, v1::Delivery::Steer),
            SlashCommand::Answer => self.answer_open(argument),
            SlashCommand::Continue => self.answer_open("1"),
            // They need no session and were done before.
            SlashCommand::Help
            | SlashCommand::New
            | SlashCommand::Sessions
            | SlashCommand::Search
            | SlashCommand::Switch
            | SlashCommand::Status
            | SlashCommand::Tools
            | SlashCommand::Clear
            | SlashCommand::Reasoning
            | SlashCommand::Verbose
            | SlashCommand::Theme
            | SlashCommand::Quit => Vec::new(),
        }
    }

    /// Asks for the memories that are told here, everywhere and in this workspace, with some words.
    pub(in crate::state) fn memories_here(&self, words: &str) -> Command {
        let here = v1::memory_scope::Scope::Workspace(self.workspace());
        let here = v1::MemoryScope { scope: Some(here) };
        let (active, waiting) = (v1::MemoryStatus::Active, v1::MemoryStatus::Quarantined);
        let filter = v1::MemoryFilter {
            text: words.to_owned(),
            scopes: vec![v1::MemoryScope::default(), here],
            statuses: vec![active.into(), waiting.into()],
            ..Default::default()
        };
        Command::ListMemories(v1::ListMemoriesRequest {
            filter: Some(filter),
            page_size: REMEMBERED,
            ..Default::default()
        })
    }

    fn withdraw(&mut self, argument: &str, session_id: String) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        let waiting: Vec<&str> =
            open.transcript.queue().map(|message| message.item_id.as_str()).collect();
        let Some(item_id) = pick::queued(&waiting, argument) else {
            self.notices.say(Tone::Warn, "no such message waits; /queue shows them");
            return Vec::new();
        };
        vec![Effect::Send(Command::Withdraw(v1::WithdrawMessageRequest {
            session_id,
            item_id: item_id.to_owned(),
            author: Some(self.author.clone()),
        }))]
    }

    /// Answers the open question with a choice, by its number or name, or with a text.
    fn answer_open(&mut self, argument: &str) -> Vec<Effect> {
        let question = self.open.as_ref().and_then(|it| it.transcript.open_questions().next());
        let Some(question) = question else {
            self.notices.say(Tone::Info, "no question is open");
            return Vec::new();
        };
        let answer = pick::choice(&question.choices, argument);
        let answer = answer.unwrap_or_else(|| argument.to_owned());
        let id = question.question_id.clone();
        self.answer_question(&id, &answer)
    }

    /// Shows what waits, or all of one.
    fn show_asks(&mut self, argument: &str) -> Vec<Effect> {
        let wanted = argument.strip_prefix("show").map_or(argument, str::trim);
        let Some(open) = &self.open else { return Vec::new() };
        if let (Some(number), _) = numbered(wanted) {
            let id = self.asks.named(number);
            let mut waiting = open.transcript.open_approvals().map(|(_, request)| request);
            let Some(request) = waiting.find(|it| id == Some(it.approval_id.as_str())) else {
                self.notices.say(Tone::Warn, "no approval with this number waits");
                return Vec::new();
            };
            let lines = agentd_shared::format::approval::lines(
                request,
                agentd_shared::format::approval::Extent::Whole,
            );
            let lines = lines.into_iter().map(TextLine::plain).collect();
            let title = format!("approval #{number}");
            self.overlay = Some(Overlay::Text(TextOverlay::new(title, Body::Lines(lines))));
            return Vec::new();
        }
        if self.asks.focus(self.ticks) {
            return Vec::new();
        }
        self.notices.say(Tone::Info, "nothing waits for an approval");
        Vec::new()
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

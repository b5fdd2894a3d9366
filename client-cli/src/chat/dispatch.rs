//! What a line does: messages, commands, answers.

use std::path::PathBuf;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::{Tone, plan, trace};
use agentd_shared::input::pick;
use agentd_shared::input::slash::{self, Line, SlashCommand, Surface};
use agentd_shared::text::one_line;
use agentd_shared::{Chosen, Follow, Outgoing, Wishes, ids, submit::waits, which, with_deadline};

use super::conversation::Conversation;
use super::help;
use crate::app::rpc_failure;
use crate::command::sessions::export::ExportFormat;
use crate::command::sessions::export::{self, Sink};
use crate::command::usage::UsageBy;
use crate::command::{sessions, status, usage};
use crate::exit::{Exit, Failure};

/// Longest wait for a command of the daemon inside a chat.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Sessions in a list.
const LISTED: usize = 20;
/// Events in a trace.
const TRACED: u64 = 20;
const MAX_TRACED: u64 = 500;

impl Conversation<'_> {
    /// Says where we are.
    pub(super) async fn welcome(&mut self) -> Result<(), Failure> {
        let status = status::fetch(&self.client).await?;
        let provider = status.provider.unwrap_or_default();
        // Only completion and the first line suffer when the session cannot be looked at.
        let chosen = self.session().await.map(|session| session.model).unwrap_or_default();
        self.view.aside(
            Tone::Dim,
            &format!(
                "agentd {} · {} · session {} · /help",
                one_line(&status.version, 20),
                one_line(answering(&provider, &chosen), 40),
                ids::short(&self.session_id)
            ),
        );
        if provider.kind == "offline" {
            self.view.aside(
                Tone::Warn,
                "No model is configured: the offline provider answers. `agentctl config path` prints the file to name one in.",
            );
        }
        for warning in &status.warnings {
            self.view.aside(Tone::Warn, &format!("◆ {warning}"));
        }
        Ok(())
    }

    /// Does what a line says. Only trouble with the output is an error; all else is shown.
    pub(super) async fn on_line(&mut self, line: &str) -> Result<(), Failure> {
        let done = match slash::parse(line, Surface::Chat) {
            Line::Empty => Ok(()),
            Line::Message(text) => self.said(text).await,
            Line::Steer(text) => self.submit(text, v1::Delivery::Steer).await,
            Line::Interrupt(text) => self.submit(text, v1::Delivery::Interrupt).await,
            Line::Command(command, argument) => Box::pin(self.command(command, argument)).await,
            Line::Misused(usage) => {
                self.view.aside(Tone::Warn, &format!("say {usage}; /help shows all commands"));
                self.script_failed(Exit::Usage);
                Ok(())
            }
            Line::Unknown(name, nearest) => {
                let hint = match nearest {
                    Some(nearest) => format!("; did you mean /{nearest}?"),
                    None => "; see /help".to_owned(),
                };
                self.view.aside(Tone::Warn, &format!("there is no /{name}{hint}"));
                self.script_failed(Exit::Usage);
                Ok(())
            }
        };
        self.show(done)
    }

    /// Answers what waits with a text, or sends it.
    async fn said(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(key) = self.approval_key(text) {
            return self.press(key).await;
        }
        if let Some(why) = self.too_late(text) {
            self.view.aside(Tone::Warn, &why);
            return Ok(());
        }
        if let Some(choice) = self.answer_of(text) {
            return self.answer(&choice).await;
        }
        if let Some(why) = self.no_choice(text) {
            self.view.aside(Tone::Warn, &why);
            return Ok(());
        }
        self.submit(text, v1::Delivery::Queue).await
    }

    /// Shows what went wrong. Only trouble with the output is left.
    pub(super) fn show(&mut self, done: Result<(), Failure>) -> Result<(), Failure> {
        match done {
            Err(Failure::Report(report)) => {
                self.script_failed(report.exit);
                let why =
                    if report.why.is_empty() { String::new() } else { format!(": {}", report.why) };
                self.view.aside(Tone::Error, &format!("✗ {}{why}", report.what));
                if !report.hint.is_empty() {
                    self.view.aside(Tone::Dim, &format!("  hint: {}", report.hint));
                }
                Ok(())
            }
            other => other,
        }
    }

    /// The choice of the open question that a text names: in full, or by its number.
    fn chosen(&self, text: &str) -> Option<String> {
        let question = self.view.transcript.open_questions().next()?;
        pick::choice(&question.choices, text)
    }

    /// The answer to the open question that a line is, where any text is one to a running turn.
    fn answer_of(&self, text: &str) -> Option<String> {
        let turn = self.view.transcript.open_turn();
        let question = self.view.transcript.open_questions().next()?;
        let takes_text =
            question.free_text && turn.is_some_and(|turn| turn.turn_id == question.turn_id);
        self.chosen(text).or_else(|| takes_text.then(|| text.to_owned()))
    }

    async fn submit(&mut self, text: &str, delivery: v1::Delivery) -> Result<(), Failure> {
        let steers_nothing =
            delivery == v1::Delivery::Steer && self.view.transcript.open_turn().is_none();
        let mut outgoing = Outgoing::new(self.app.author(), &self.session_id, text, delivery);
        if self.app.is_unattended() && self.yes.is_none() {
            outgoing = outgoing.unattended();
        }
        self.view.sent(outgoing.client_message_id());
        let sent = outgoing.send(self.app.connector(), &self.client).await;
        let accepted = sent.map_err(|error| rpc_failure("cannot send the message", error))?;
        if steers_nothing && accepted.queue_position == 0 {
            self.view.aside(Tone::Dim, "  no turn runs: sent as a message");
        }
        if let Some(waits) = waits(delivery, accepted.queue_position) {
            self.view.aside(Tone::Dim, &format!("  {waits} (/queue, /withdraw)"));
        }
        self.pending.push(Follow::new(accepted.item_id));
        Ok(())
    }

    async fn answer(&mut self, choice: &str) -> Result<(), Failure> {
        let Some(question) = self.view.transcript.open_questions().next() else {
            self.view.aside(Tone::Dim, "no question is open");
            return Ok(());
        };
        let turn_id = question.turn_id.clone();
        let request = v1::AnswerQuestionRequest {
            session_id: self.session_id.clone(),
            question_id: question.question_id.clone(),
            choice: choice.to_owned(),
            author: Some(self.app.author()),
        };
        let mut turn = self.client.turn();
        let answer = turn.answer_question(with_deadline(request, PATIENCE)).await;
        answer.map_err(|status| rpc_failure("cannot answer the question", status))?;
        self.goes_on(&turn_id);
        Ok(())
    }

    /// Cancels the turn that runs or waits.
    pub(super) async fn cancel_turn(&mut self) -> Result<(), Failure> {
        let turn_id = self.view.transcript.open_turn().map(|turn| turn.turn_id.clone());
        let request = v1::InterruptTurnRequest {
            session_id: self.session_id.clone(),
            turn_id: turn_id.unwrap_or_default(),
            author: Some(self.app.author()),
        };
        let answer = self.client.turn().interrupt_turn(with_deadline(request, PATIENCE)).await;
        match answer {
            Ok(answer) if !answer.get_ref().interrupted => {
                self.view.aside(Tone::Dim, "no turn runs");
            }
            Ok(_) => {}
            Err(status) => {
                let error = agentd_shared::RpcError::from(status);
                self.view.aside(Tone::Error, &format!("✗ cannot interrupt: {}", error.message));
            }
        }
        Ok(())
    }

    /// Shows what the session used, or all of them today.
    async fn show_usage(&mut self, argument: &str) -> Result<(), Failure> {
        let session_id = match argument {
            "" => self.session_id.clone(),
            "all" => String::new(),
            _ => {
                self.view.aside(Tone::Warn, "say /usage for this session, /usage all for all");
                return Ok(());
            }
        };
        let request = v1::GetUsageRequest {
            group_by: v1::UsageGrouping::Model.into(),
            session_id,
            ..Default::default()
        };
        let report = usage::fetch(&self.client, request).await?;
        self.say(usage::lines(&report, UsageBy::Model));
        Ok(())
    }

    async fn command(&mut self, command: SlashCommand, argument: &str) -> Result<(), Failure> {
        match command {
            SlashCommand::Help => self.say(help::lines()),
            SlashCommand::New => {
                let chosen = which::create(&self.client, &Wishes::default()).await?;
                self.go(&chosen).await;
            }
            SlashCommand::Sessions => {
                let known = ids::up_to(&self.client, LISTED).await;
                let known = known.map_err(|error| rpc_failure("cannot list sessions", error))?;
                let width = self.view.canvas.look().width;
                self.say(sessions::list::table(&known.sessions, Some(width)));
            }
            SlashCommand::Switch => self.resume(argument).await?,
            SlashCommand::Continue if !argument.is_empty() => self.resume(argument).await?,
            SlashCommand::Title if argument.is_empty() => {
                // The event that gave it may be older than what was replayed.
                let title = match self.session().await?.title.as_str() {
                    "" => "(no title yet)".to_owned(),
                    title => one_line(title, 200),
                };
                self.say(vec![title]);
            }
            SlashCommand::Title => {
                let author = self.app.author();
                sessions::rename::rename(&self.client, author, &self.session_id, argument).await?;
            }
            SlashCommand::Model if argument.is_empty() => self.show_models().await?,
            SlashCommand::Model => self.set_model(argument).await?,
            SlashCommand::Effort if argument.is_empty() => self.show_effort().await?,
            SlashCommand::Effort => self.set_effort(argument).await?,
            SlashCommand::Mode => self.set_mode(argument).await?,
            SlashCommand::Work => self.set_work(argument).await?,
            SlashCommand::Approvals => self.show_approvals(argument)?,
            SlashCommand::Approve => self.approve(argument).await?,
            SlashCommand::Deny => self.deny(argument).await?,
            SlashCommand::Status => {
                let status = status::fetch(&self.client).await?;
                let width = self.view.canvas.look().width;
                let today = usage::today_line(&self.client).await;
                self.say(status::lines(&status, today.as_deref(), Some(width)));
            }
            SlashCommand::Stats => {
                let detail = sessions::show::fetch(&self.client, &self.session_id).await?;
                self.say(sessions::show::lines(&detail));
            }
            SlashCommand::Usage => self.show_usage(argument).await?,
            SlashCommand::Todo => {
                // The list may be older than what was read of the session.
                let detail = sessions::show::fetch(&self.client, &self.session_id).await?;
                let todo = plan::todo(&detail.todo.unwrap_or_default());
                self.say(todo.lines().map(str::to_owned).collect());
            }
            SlashCommand::Plan => {
                let detail = sessions::show::fetch(&self.client, &self.session_id).await?;
                let plan = plan::plan(&detail.plan.unwrap_or_default());
                self.say(plan.lines().map(str::to_owned).collect());
            }
            SlashCommand::Search => self.search(argument).await?,
            SlashCommand::Memories => self.show_memories(argument).await?,
            SlashCommand::Context => self.show_context().await?,
            SlashCommand::Compact => self.compact().await?,
            SlashCommand::Expand => self.expand(argument).await?,
            SlashCommand::Pin => self.pin(argument).await?,
            SlashCommand::Pins => self.show_pins().await?,
            SlashCommand::Unpin => self.unpin(argument).await?,
            SlashCommand::Tools => self.show_tools(argument).await?,
            SlashCommand::Diff => self.show_changes().await?,
            SlashCommand::Undo => self.undo(argument).await?,
            SlashCommand::Trace => self.trace(argument).await?,
            SlashCommand::Clear => self.clear(),
            SlashCommand::Export => self.export(argument).await?,
            SlashCommand::Queue => self.show_queue(),
            SlashCommand::Withdraw => self.withdraw(argument).await?,
            SlashCommand::Interrupt if argument.is_empty() => self.cancel_turn().await?,
            SlashCommand::Interrupt => self.submit(argument, v1::Delivery::Interrupt).await?,
            SlashCommand::Steer => self.submit(argument, v1::Delivery::Steer).await?,
            SlashCommand::Reasoning => self.set_reasoning(argument),
            SlashCommand::Answer => match self.chosen(argument) {
                Some(choice) => self.answer(&choice).await?,
                None => self.answer(argument).await?,
            },
            SlashCommand::Continue => match self.chosen("1") {
                Some(choice) => self.answer(&choice).await?,
                None => self.view.aside(Tone::Dim, "no question is open"),
            },
            SlashCommand::Stop => self.cancel_turn().await?,
            // The table says where they are, and completion does not offer them here.
            SlashCommand::Verbose | SlashCommand::Theme => {
                let program = Surface::FullScreen.program();
                self.view.aside(Tone::Warn, &format!("only {program} has this"));
            }
            SlashCommand::Quit => self.leaving = true,
        }
        Ok(())
    }

    pub(super) fn say(&mut self, lines: Vec<String>) {
        for line in lines {
            if line.is_empty() {
                self.view.canvas.gap();
            } else {
                self.view.canvas.plain(&line);
            }
        }
    }

    async fn resume(&mut self, id: &str) -> Result<(), Failure> {
        let session_id = ids::resolve(&self.client, id).await?;
        self.go(&Chosen { session_id, is_new: false }).await;
        Ok(())
    }

    async fn go(&mut self, chosen: &Chosen) {
        self.switch_to(chosen).await;
        self.view.canvas.gap();
        let kind = if chosen.is_new { "new session" } else { "session" };
        self.view.aside(Tone::Dim, &format!("◆ {kind} {}", chosen.session_id));
    }

    pub(super) async fn session(&self) -> Result<v1::Session, Failure> {
        let detail = sessions::show::fetch(&self.client, &self.session_id).await?;
        Ok(detail.session.unwrap_or_default())
    }

    async fn trace(&mut self, argument: &str) -> Result<(), Failure> {
        let count = argument.parse().unwrap_or(TRACED).clamp(1, MAX_TRACED);
        let last = self.view.transcript.last_seq();
        let request = v1::ListEventsRequest {
            session_id: self.session_id.clone(),
            from_seq: last.saturating_sub(count).saturating_add(1),
            page_size: u32::try_from(count).unwrap_or(1),
        };
        let page = self.client.event().list_events(request).await;
        let page = page.map_err(|status| rpc_failure("cannot read the events", status))?;
        let events = page.into_inner().events;
        let width = self.view.canvas.look().width;
        self.say(events.iter().map(|event| trace::line(event, width)).collect());
        Ok(())
    }

    fn clear(&mut self) {
        if self.app.output.can_draw() {
            self.view.canvas.disturbed();
            self.view.canvas.row("\u{1b}[H\u{1b}[2J".to_owned());
        }
    }

    async fn export(&mut self, argument: &str) -> Result<(), Failure> {
        let file = if argument.is_empty() {
            PathBuf::from(format!("agentd-{}.jsonl", ids::short(&self.session_id)))
        } else {
            PathBuf::from(argument)
        };
        let is_markdown = file.extension().is_some_and(|extension| extension == "md");
        let format = if is_markdown { ExportFormat::Markdown } else { ExportFormat::Jsonl };
        let mut sink = Sink::file(&file)?;
        export::write(&self.client, &self.session_id, format, &mut sink, &|_seq| {}).await?;
        let whole = std::path::absolute(&file).unwrap_or(file);
        self.view.aside(Tone::Dim, &format!("wrote {}", whole.display()));
        Ok(())
    }

    fn set_reasoning(&mut self, argument: &str) {
        let show = match argument {
            "on" => true,
            "off" => false,
            _ => !self.view.show_reasoning,
        };
        self.view.show_reasoning = show;
        let state = if show { "shown" } else { "hidden" };
        self.view.aside(Tone::Dim, &format!("reasoning is {state}"));
    }
}

/// The model that answers next: the session's own, where there is one that can be asked.
fn answering<'m>(provider: &'m v1::ProviderStatus, chosen: &'m str) -> &'m str {
    // The offline engine answers for every model of its own endpoint.
    let is_offline = provider.kind == "offline" && !chosen.contains('/');
    if chosen.is_empty() || is_offline { &provider.model } else { chosen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_that_is_shown_is_the_one_that_answers() {
        let check = |kind: &str, model: &str, chosen: &str, expect: &str| {
            let provider = v1::ProviderStatus {
                kind: kind.into(),
                model: model.into(),
                ..v1::ProviderStatus::default()
            };
            assert_eq!(answering(&provider, chosen), expect, "{kind} {chosen:?}");
        };
        check("openai", "gpt-5", "", "gpt-5");
        check("openai", "gpt-5", "gpt-5-mini", "gpt-5-mini");
        check("offline", "offline", "gpt-5", "offline");
        check("offline", "offline", "home/qwen3", "home/qwen3");
    }
}

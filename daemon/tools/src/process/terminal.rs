//! A shell in a terminal that stays open from one call to the next.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, ActionTarget, Capabilities, SessionId, ToolResult, cut_line};
use agentd_sandbox::{Profile, Programs};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{MAX_SUMMARY, Ready, Wanted};
use super::keys;
use super::limits::{ProcessLimits, invalid};
use super::per_session::RunsOn as _;
use super::terminals::{self, OpenTerminal, SIZE, Terminals, too_many};
use super::told::call_time;
use crate::permission::TYPING;
use crate::{About, Rank, ToolContext, TypedTool};

/// Longest text that is typed at once, in bytes: more does not fit one line of a terminal.
const MAX_TEXT: usize = 4_000;

/// Keys that are pressed at once.
const MAX_KEYS: usize = 32;

/// How long a call waits for what it shows, when nothing is said.
const USUAL_WAIT: Duration = Duration::from_secs(5);

/// Longest id that is shown, in characters.
const MAX_ID: usize = 40;

/// The shell, without anybody's own settings.
const SHELL: [&str; 3] = ["bash", "--noprofile", "--norc"];

/// Arguments of terminal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    action: What,
    /// Of the terminal; not for open.
    id: Option<String>,
    /// For send: text to type. A line break is the key enter.
    text: Option<String>,
    /// For send: keys to press after the text, such as enter, tab, up, ctrl-c.
    keys: Option<Vec<String>>,
    /// Longest wait in seconds until the screen stands still, 1 to 120; 5 when left out.
    timeout_s: Option<u32>,
    /// For open: directory relative to the workspace.
    cwd: Option<String>,
    /// For open: true: it changes no files.
    read_only: Option<bool>,
    /// For open: hosts that it needs, such as crates.io or *.crates.io; * alone: all of it.
    network: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum What {
    Open,
    Send,
    Read,
    Close,
}

/// See the module.
#[derive(Debug)]
pub(super) struct TerminalTool {
    pub(super) programs: Arc<Programs>,
    pub(super) terminals: Arc<Terminals>,
    pub(super) limits: ProcessLimits,
}

#[async_trait]
impl TypedTool for TerminalTool {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "terminal",
            description: "A shell in a terminal, in a sandbox, that stays open between calls: for \
                          programs that ask for input or fill the screen. Gives what it shows as \
                          text. For other commands use run_command.",
            capabilities: Capabilities::PROCESS,
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    fn timeout(&self, arguments: &Arguments) -> Option<Duration> {
        Some(call_time(self.wait(arguments).unwrap_or(self.limits.longest_time)))
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let _wait = self.wait(arguments)?;
        Ok(match arguments.action {
            What::Open => {
                let ready = self.ready(ctx, arguments).await?;
                Action { summary: "open a terminal".to_owned(), targets: vec![ready.target] }
            }
            What::Send => self.typing(ctx, arguments)?.1,
            What::Read | What::Close => {
                let open = self.find(ctx, arguments)?;
                let verb = if arguments.action == What::Read { "read" } else { "close" };
                let summary = format!("{verb} terminal {}", open.id());
                Action { summary, targets: Vec::new() }
            }
        })
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        let running = async {
            let wait = self.wait(&arguments)?;
            let open = match arguments.action {
                What::Open => {
                    let ready = self.ready(ctx, &arguments).await?;
                    let started = ready.open_terminal(planned, SIZE).await?;
                    let opened = (ready.target.clone(), ready.command.profile != Profile::ReadOnly);
                    let bounds = self.limits.bounds(self.limits.job_time);
                    terminals::keep(&self.terminals, ctx, started, opened, bounds)?
                }
                What::Send => {
                    let (open, action) = self.typing(ctx, &arguments)?;
                    if action.targets != planned.targets {
                        return Err(ToolResult::fatal(
                            "ACTION_CHANGED",
                            "Nothing was typed: the terminal is another one than when it was \
                             looked at. Call it again.",
                        ));
                    }
                    open.send(&typed(&arguments, open.wants_application_keys())?).await?;
                    open
                }
                What::Read => self.find(ctx, &arguments)?,
                What::Close => {
                    let open = self.find(ctx, &arguments)?;
                    open.life().end().await;
                    return Ok(open.read());
                }
            };
            open.settled(wait).await;
            Ok(open.read())
        };
        running.await.unwrap_or_else(|refused: ToolResult| refused)
    }

    async fn end_session(&self, session: Option<SessionId>) {
        self.terminals.end(session).await;
    }
}

impl TerminalTool {
    fn wait(&self, arguments: &Arguments) -> Result<Duration, ToolResult> {
        match arguments.timeout_s {
            None => Ok(USUAL_WAIT.min(self.limits.longest_time)),
            asked => self.limits.time(asked),
        }
    }

    async fn ready(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Ready, ToolResult> {
        self.terminals.room(ctx.session).map_err(too_many)?;
        let wanted = Wanted {
            argv: SHELL.map(str::to_owned).to_vec(),
            cwd: arguments.cwd.as_deref(),
            writes: arguments.read_only != Some(true),
            network: arguments.network.as_deref().unwrap_or_default(),
            limits: self.limits.command,
        };
        Ready::of(&self.programs, ctx, wanted).await
    }

    fn find(
        &self,
        ctx: &ToolContext,
        arguments: &Arguments,
    ) -> Result<Arc<OpenTerminal>, ToolResult> {
        let id = arguments.id.as_deref().unwrap_or_default().trim();
        self.terminals.find(ctx.session, id).ok_or_else(|| {
            ToolResult::fatal(
                "NO_SUCH_TERMINAL",
                format!(
                    "There is no terminal '{}' in this session: give the id that open gave. \
                     Terminals end with the daemon.",
                    cut_line(id, MAX_ID)
                ),
            )
        })
    }

    /// The terminal, and what typing into it will do: whatever its shell makes of the text, in the
    /// place and behind what keeps it in. Permissions are decided on that.
    fn typing(
        &self,
        ctx: &ToolContext,
        arguments: &Arguments,
    ) -> Result<(Arc<OpenTerminal>, Action), ToolResult> {
        let open = self.find(ctx, arguments)?;
        typed(arguments, false)?;
        let text = arguments.text.clone().unwrap_or_default();
        let keys = arguments.keys.as_deref().unwrap_or_default();
        let shown = match (text.is_empty(), keys) {
            (true, keys) => keys.join(" "),
            (false, []) => text.clone(),
            (false, keys) => format!("{text} {}", keys.join(" ")),
        };
        let summary =
            format!("type into terminal {}: {}", open.id(), cut_line(&shown, MAX_SUMMARY));
        let mut argv = vec![TYPING.to_owned(), open.id().to_owned(), text];
        argv.extend(keys.iter().cloned());
        let ActionTarget::Run { cwd, confinement, .. } = open.opened.clone() else {
            return Err(invalid("it is no terminal of a program.".to_owned()));
        };
        let targets = vec![ActionTarget::Run { argv, cwd, confinement }];
        Ok((open, Action { summary, targets }))
    }
}

/// What is sent to the terminal.
fn typed(arguments: &Arguments, application_keys: bool) -> Result<String, ToolResult> {
    let text = arguments.text.as_deref().unwrap_or_default();
    let keys = arguments.keys.as_deref().unwrap_or_default();
    if text.is_empty() && keys.is_empty() {
        return Err(invalid("give text or keys.".to_owned()));
    }
    if text.len() > MAX_TEXT || keys.len() > MAX_KEYS {
        return Err(invalid(format!(
            "text takes {MAX_TEXT} bytes and keys {MAX_KEYS}: send it in parts."
        )));
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(invalid("text holds a control character: name keys instead.".to_owned()));
    }
    let mut sent = text.replace('\n', "\r");
    for key in keys {
        sent += &keys::bytes(key, application_keys).ok_or_else(|| {
            let key = cut_line(key, MAX_ID);
            invalid(format!("there is no key '{key}'; there are {}.", keys::names()))
        })?;
    }
    Ok(sent)
}

//! `agentctl goals`: what is to be reached beyond one session.

use std::path::PathBuf;

use agentd_proto::v1;
use agentd_proto::v1::goal_author::Who;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::approval::visible;
use agentd_shared::text::relative_time;
use agentd_shared::{Client, directory};
use clap::{Args, Subcommand};

use crate::app::{App, rpc_failure};
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::{DroppedGoalView, GoalView};

/// Characters of a path, a name or an id.
const NAME_WIDTH: usize = 60;

/// Characters of a goal in the list; `--json` has all of them.
const CONTENT_WIDTH: usize = 300;

/// Commands about goals.
#[derive(Debug, Subcommand)]
pub(crate) enum GoalsCommand {
    /// List goals: open ones by importance and age, of all workspaces or one
    #[command(after_help = "\
Examples:
  agentctl goals list --workspace .
  agentctl goals list --done --json | jq -r '.[].content'")]
    List(ListArgs),
    /// Set a goal for the sessions of this directory
    #[command(after_help = "\
Examples:
  agentctl goals add port the parser to wasm --priority 1
  agentctl goals add --everywhere \"learn Rust\"")]
    Add(AddArgs),
    /// Note that a goal is reached
    #[command(after_help = "\
Examples:
  agentctl goals done 01JZ3V8QK5RDWS3Y8XZ0M4B6TN")]
    Done(GoalArgs),
    /// Remove a goal
    #[command(after_help = "\
Examples:
  agentctl goals drop 01JZ3V8QK5RDWS3Y8XZ0M4B6TN")]
    Drop(GoalArgs),
}

/// Options of `goals list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Those that hold in this directory's sessions
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Those that are done too
    #[arg(long)]
    done: bool,
    #[command(flatten)]
    json: JsonArgs,
}

/// Options of `goals add`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AddArgs {
    /// What is to be reached, at most 2,000 characters
    #[arg(value_name = "GOAL", required = true)]
    content: Vec<String>,
    /// 1 comes first, 3 last [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3))]
    priority: Option<u32>,
    /// For the sessions of this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "everywhere")]
    workspace: Option<PathBuf>,
    /// For all sessions, wherever they work
    #[arg(long)]
    everywhere: bool,
    #[command(flatten)]
    json: JsonArgs,
}

/// Options of `goals done` and `goals drop`.
#[derive(Debug, Clone, Args)]
pub(crate) struct GoalArgs {
    /// Goal by id, as the list shows it
    #[arg(value_name = "ID")]
    goal: String,
    #[command(flatten)]
    json: JsonArgs,
}

/// Runs a command about goals.
pub(super) async fn run(command: &GoalsCommand, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    match command {
        GoalsCommand::List(args) => list(&client, app, args).await,
        GoalsCommand::Add(args) => add(&client, app, args).await,
        GoalsCommand::Done(args) => done(&client, app, args).await,
        GoalsCommand::Drop(args) => remove(&client, app, args).await,
    }
}

async fn list(client: &Client, app: &App, args: &ListArgs) -> Result<Exit, Failure> {
    let named = args.workspace.as_ref().map(|path| directory::named(client.endpoint(), path));
    let request = v1::ListGoalsRequest {
        workspace: named.transpose()?.unwrap_or_default(),
        with_done: args.done,
    };
    let answer = client.goal().list_goals(request).await;
    let goals = answer.map_err(|status| rpc_failure("cannot list the goals", status))?;
    let goals = goals.into_inner().goals;
    if args.json.json {
        app.output.json(&goals.iter().map(GoalView::from).collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    if goals.is_empty() {
        app.output.note(if args.done { "no goals" } else { "no goal is open" });
    }
    let now = now();
    for goal in &goals {
        app.output.line(&line(goal, now))?;
    }
    Ok(Exit::Ok)
}

async fn add(client: &Client, app: &App, args: &AddArgs) -> Result<Exit, Failure> {
    let workspace = match (&args.workspace, args.everywhere) {
        (_, true) => String::new(),
        (Some(path), false) => directory::named(client.endpoint(), path)?,
        (None, false) => directory::current(client.endpoint())?.ok_or_else(|| {
            Failure::new(Exit::Usage, "cannot tell which workspace the goal belongs to")
                .because("the daemon is on another machine, which does not have this directory")
                .hint("name one there with --workspace, or set it for all with --everywhere")
        })?,
    };
    let request = v1::AddGoalRequest {
        content: args.content.join(" "),
        priority: args.priority.unwrap_or_default(),
        workspace,
        author: Some(app.author()),
    };
    let answer = client.goal().add_goal(request).await;
    let added = answer.map_err(|status| rpc_failure("cannot set the goal", status))?.into_inner();
    if !added.is_new {
        app.output.note("it is open already");
    }
    show(app, &added.goal.unwrap_or_default(), &args.json)
}

async fn done(client: &Client, app: &App, args: &GoalArgs) -> Result<Exit, Failure> {
    let request = v1::FinishGoalRequest { goal_id: args.goal.clone(), author: Some(app.author()) };
    let answer = client.goal().finish_goal(request).await;
    let reached = answer.map_err(|status| rpc_failure("cannot note that it is done", status))?;
    show(app, &reached.into_inner().goal.unwrap_or_default(), &args.json)
}

async fn remove(client: &Client, app: &App, args: &GoalArgs) -> Result<Exit, Failure> {
    let request = v1::DropGoalRequest { goal_id: args.goal.clone(), author: Some(app.author()) };
    let answer = client.goal().drop_goal(request).await;
    answer.map_err(|status| rpc_failure("cannot remove the goal", status))?;
    if args.json.json {
        app.output.json(&DroppedGoalView { goal_id: &args.goal })?;
        return Ok(Exit::Ok);
    }
    app.output.note(&format!("goal {} is no longer kept", visible(&args.goal, NAME_WIDTH)));
    Ok(Exit::Ok)
}

fn show(app: &App, goal: &v1::Goal, json: &JsonArgs) -> Result<Exit, Failure> {
    if json.json {
        app.output.json(&GoalView::from(goal))?;
    } else {
        app.output.line(&line(goal, now()))?;
    }
    Ok(Exit::Ok)
}

/// Unix time in milliseconds.
fn now() -> i64 {
    i64::try_from(now_ms()).unwrap_or(i64::MAX)
}

/// A goal in one line. What it says may be a model's, so that nothing in it hides.
fn line(goal: &v1::Goal, now: i64) -> String {
    let text = |text: &str| visible(text, NAME_WIDTH);
    let author = |author: Option<&v1::GoalAuthor>| match author.and_then(|by| by.who.as_ref()) {
        None => "nobody known".to_owned(),
        Some(Who::SessionId(id)) => format!("the model of session {}", text(id)),
        Some(Who::Person(author)) => text(&author.name),
    };
    let wherever = match goal.workspace.as_str() {
        "" => "everywhere".to_owned(),
        root => format!("in {}", text(root)),
    };
    let done = match &goal.done_by {
        None => String::new(),
        Some(by) => {
            format!(", done {} by {}", relative_time(goal.done_at_ms, now), author(Some(by)))
        }
    };
    format!(
        "{}  {}  {}  ({wherever}, {} by {}{done})",
        text(&goal.goal_id),
        goal.priority,
        visible(&goal.content, CONTENT_WIDTH),
        relative_time(goal.at_ms, now),
        author(goal.by.as_ref()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_one_line_in_which_nothing_hides() {
        let by = |who| Some(v1::GoalAuthor { who: Some(who) });
        let person = v1::Author { client_id: "c".to_owned(), name: "ann\u{7}".to_owned() };
        let goal = v1::Goal {
            goal_id: "01JZ".to_owned(),
            content: "port\n\u{1b}[2Jit".to_owned(),
            priority: 1,
            workspace: "/p".to_owned(),
            by: by(Who::SessionId("01K0".to_owned())),
            at_ms: 0,
            done_by: by(Who::Person(person)),
            done_at_ms: 60_000,
        };
        let shown = line(&goal, 600_000);
        assert!(!shown.contains(char::is_control), "{shown:?}");
        assert!(shown.starts_with("01JZ  1  port"), "{shown}");
        assert!(
            shown.contains("(in /p, 10 min ago by the model of session 01K0, done "),
            "{shown}"
        );
    }
}

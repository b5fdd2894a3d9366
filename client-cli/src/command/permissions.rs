//! `agentctl permissions`: rules about what agents may do by themselves.

use std::path::PathBuf;

use agentd_proto::v1;
use agentd_proto::v1::permission_rule::Scope;
use agentd_proto::v1::rule_matcher::Matcher;
use agentd_shared::Client;
use agentd_shared::directory;
use agentd_shared::format::approval::{self as approval_text, visible};
use agentd_shared::ids;
use clap::{Args, Subcommand};

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::{RemovedRuleView, RuleView};

/// Columns of a path or a name.
const NAME_WIDTH: usize = 60;

const ABOUT: &str = "\
What a rule is about:
  command PROGRAM [WORD...] ['*']  programs; after a * any words may follow
  write GLOB, read GLOB            files, in the workspace or absolute; one
                                   that holds secrets is read when a rule
                                   allows its very path
  host HOST                        example.org, *.example.org for all below
  tool NAME, mcp SERVER            all calls of a tool, of a server's tools

A rule that denies counts before one that asks, and that before one that
allows. Options come before what it is about.

Examples:
  agentctl permissions allow --workspace . command cargo test '*'
  agentctl permissions deny command git push '*'
  agentctl permissions ask --json write '**/Cargo.toml'";

/// Commands about rules.
#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// List rules: all, or those that hold in a workspace or a session
    #[command(after_help = "\
Examples:
  agentctl permissions list --workspace .
  agentctl permissions list --json | jq -r '.[].rule_id'")]
    List(ListArgs),
    /// Let agents do something without asking
    #[command(after_help = ABOUT)]
    Allow(RuleArgs),
    /// Have agents ask for something, whatever the mode
    #[command(after_help = ABOUT)]
    Ask(RuleArgs),
    /// Keep agents from something, whatever the mode
    #[command(after_help = ABOUT)]
    Deny(RuleArgs),
    /// Take a rule back
    #[command(after_help = "\
Examples:
  agentctl permissions remove 01JZ3V8QK5RDWS3Y8XZ0M4B6TN
  agentctl permissions remove --session last 01JZ3V8QK5RDWS3Y8XZ0M4B6TN-0")]
    Remove(RemoveArgs),
}

/// Options of `permissions list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Those that hold in this directory's sessions
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    workspace: Option<PathBuf>,
    /// Those that hold in this session, its own among them
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a rule is about, and where it holds.
#[derive(Debug, Clone, Args)]
pub(crate) struct RuleArgs {
    /// Only in the sessions of this directory
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// What it is about
    #[arg(
        value_name = "ABOUT",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    about: Vec<String>,
}

/// Options of `permissions remove`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RemoveArgs {
    /// Rule by id, as the list shows it
    #[arg(value_name = "RULE")]
    rule: String,
    /// The session, for a rule of a session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs a command about rules.
pub(super) async fn run(command: &PermissionsCommand, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    match command {
        PermissionsCommand::List(args) => list(&client, app, args).await,
        PermissionsCommand::Allow(args) => add(&client, app, v1::RuleEffect::Allow, args).await,
        PermissionsCommand::Ask(args) => add(&client, app, v1::RuleEffect::Ask, args).await,
        PermissionsCommand::Deny(args) => add(&client, app, v1::RuleEffect::Deny, args).await,
        PermissionsCommand::Remove(args) => remove(&client, app, args).await,
    }
}

async fn list(client: &Client, app: &App, args: &ListArgs) -> Result<Exit, Failure> {
    let request = v1::ListRulesRequest {
        session_id: session(client, args.session.as_deref()).await?,
        workspace: workspace(client, args.workspace.as_ref())?,
    };
    let answer = client.permission().list_rules(request).await;
    let rules = answer.map_err(|status| rpc_failure("cannot list the rules", status))?;
    let rules = rules.into_inner().rules;
    if args.json {
        app.output.json(&rules.iter().map(RuleView::from).collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    if rules.is_empty() {
        app.output.note("no rules");
    }
    for rule in &rules {
        app.output.line(&line(rule))?;
    }
    Ok(Exit::Ok)
}

async fn add(
    client: &Client,
    app: &App,
    effect: v1::RuleEffect,
    args: &RuleArgs,
) -> Result<Exit, Failure> {
    let matcher = matcher(&args.about)?;
    let request = v1::AddRuleRequest {
        effect: effect.into(),
        matcher: Some(v1::RuleMatcher { matcher: Some(matcher) }),
        workspace: workspace(client, args.workspace.as_ref())?,
        author: Some(app.author()),
    };
    let answer = client.permission().add_rule(request).await;
    let rule = answer.map_err(|status| rpc_failure("cannot make the rule", status))?;
    let rule = rule.into_inner().rule.unwrap_or_default();
    if args.json {
        app.output.json(&RuleView::from(&rule))?;
    } else {
        app.output.line(&line(&rule))?;
    }
    Ok(Exit::Ok)
}

async fn remove(client: &Client, app: &App, args: &RemoveArgs) -> Result<Exit, Failure> {
    let request = v1::DeleteRuleRequest {
        rule_id: args.rule.clone(),
        session_id: session(client, args.session.as_deref()).await?,
        author: Some(app.author()),
    };
    let answer = client.permission().delete_rule(request).await;
    answer.map_err(|status| rpc_failure("cannot remove the rule", status))?;
    if args.json {
        app.output.json(&RemovedRuleView { rule_id: &args.rule })?;
        return Ok(Exit::Ok);
    }
    app.output.note(&format!("rule {} holds no longer", visible(&args.rule, NAME_WIDTH)));
    Ok(Exit::Ok)
}

async fn session(client: &Client, wanted: Option<&str>) -> Result<String, Failure> {
    match wanted {
        Some(wanted) => Ok(ids::resolve(client, wanted).await?),
        None => Ok(String::new()),
    }
}

/// The directory whose sessions are meant; empty: those of all.
fn workspace(client: &Client, directory: Option<&PathBuf>) -> Result<String, Failure> {
    let named = directory.map(|path| directory::named(client.endpoint(), path));
    Ok(named.transpose()?.unwrap_or_default())
}

/// Reads what a rule is about.
fn matcher(words: &[String]) -> Result<Matcher, Failure> {
    let wrong = |why: &str| {
        Err(Failure::new(Exit::Usage, "cannot read what the rule is about")
            .because(why.to_owned())
            .hint("options come before it; `agentctl permissions allow --help` shows the forms"))
    };
    match words {
        [kind, argv @ ..] if kind == "command" => {
            let (argv, more) = match argv {
                [program @ .., star] if star == "*" && !program.is_empty() => (program, true),
                argv => (argv, false),
            };
            if argv.is_empty() {
                return wrong("a command needs a program");
            }
            // It would be one word, and the options behind it others.
            if argv.iter().any(|word| word == "*") {
                return wrong("a * that stands for any words is the last of them");
            }
            Ok(Matcher::Command(v1::CommandMatcher { argv: argv.to_vec(), more }))
        }
        [kind, one] => match kind.as_str() {
            "read" => Ok(Matcher::ReadGlob(one.clone())),
            "write" => Ok(Matcher::WriteGlob(one.clone())),
            "host" => Ok(Matcher::Host(one.clone())),
            "tool" => Ok(Matcher::Tool(one.clone())),
            "mcp" => Ok(Matcher::McpServer(one.clone())),
            _ => wrong("it begins with none of command, read, write, host, tool, mcp"),
        },
        _ => wrong("it is not one kind and what it names"),
    }
}

/// A rule in one line.
fn line(rule: &v1::PermissionRule) -> String {
    let text = |text: &str| visible(text, NAME_WIDTH);
    let effect = crate::json::rule_effect(rule.effect);
    let matcher = rule.matcher.as_ref().map_or_else(String::new, approval_text::rule);
    let wherever = match &rule.scope {
        None => "everywhere".to_owned(),
        Some(Scope::Workspace(root)) => format!("in {}", text(root)),
        Some(Scope::SessionId(id)) => format!("in session {}", text(id)),
    };
    let by = match &rule.by {
        None => "the configuration".to_owned(),
        Some(author) => text(&author.name),
    };
    format!("{}  {effect:<5} {matcher}  ({wherever}, by {by})", text(&rule.rule_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_is_about_is_said_in_words() {
        let read = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            matcher(&words)
                .map(|matcher| approval_text::rule(&v1::RuleMatcher { matcher: Some(matcher) }))
        };
        for same in [
            "command git push",
            "command cargo test *",
            "read docs/**",
            "write .env",
            "host *.example.org",
            "tool fetch_url",
            "mcp jira",
        ] {
            assert_eq!(read(same).ok().as_deref(), Some(same));
        }
        assert!(read("command *x *y z").is_ok());
        for wrong in ["command", "command *", "read", "read a b", "file a", "tool a b"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_star_that_is_not_the_last_word_is_refused_since_options_come_before() {
        for wrong in ["git push * --workspace .", "git * push", "* push", "git * *"] {
            let words = format!("command {wrong}");
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let Err(Failure::Report(report)) = matcher(&words) else { panic!("{wrong} is taken") };
            assert!(report.hint.contains("options come before"), "{report:?}");
        }
    }
}

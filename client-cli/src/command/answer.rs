//! `agentctl answer`: answers what a turn asks the users.

use agentd_proto::v1;
use agentd_shared::ids;
use agentd_shared::input::pick;
use agentd_shared::text::one_line;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::command::sessions::show::fetch;
use crate::exit::{Exit, Failure};
use crate::json::QuestionAnswerView;

/// Options of `answer`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AnswerArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    session: String,
    /// The answer: a choice or its number, or a text where any is an answer; without it the question
    /// is shown
    #[arg(value_name = "ANSWER")]
    answer: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Columns of a question.
const PROMPT_WIDTH: usize = 400;

/// Answers, or shows what is asked.
pub(super) async fn run(args: &AnswerArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let questions = fetch(&client, &session_id).await?.open_questions;
    let Some(question) = questions.first() else {
        return Err(Failure::new(Exit::NotFound, "nothing is asked in this session")
            .hint("calls that wait for a yes are answered with `agentctl approvals`"));
    };
    if args.answer.is_empty() {
        return show(question, args.json, app);
    }
    let choice = choice(question, &args.answer.join(" "));
    let request = v1::AnswerQuestionRequest {
        session_id: session_id.clone(),
        question_id: question.question_id.clone(),
        choice: choice.clone(),
        author: Some(app.author()),
    };
    let answer = client.turn().answer_question(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot answer the question", status))?;
    if args.json {
        app.output.json(&QuestionAnswerView {
            session_id: &session_id,
            question_id: &question.question_id,
            choice: &choice,
            seq: answer.into_inner().seq,
        })?;
    } else {
        app.output.note(&format!("answered: {}", one_line(&choice, PROMPT_WIDTH)));
    }
    Ok(Exit::Ok)
}

fn show(question: &v1::QuestionAsked, json: bool, app: &App) -> Result<Exit, Failure> {
    if json {
        app.output.json(&crate::json::QuestionView::from(question))?;
        return Ok(Exit::Ok);
    }
    app.output.line(&one_line(&question.prompt, PROMPT_WIDTH))?;
    for (index, choice) in question.choices.iter().enumerate() {
        app.output.line(&format!("{:>3}) {}", index + 1, one_line(choice, PROMPT_WIDTH)))?;
    }
    Ok(Exit::Ok)
}

/// What was meant: the number of a choice, unless that is one itself, or the words as they are.
fn choice(question: &v1::QuestionAsked, said: &str) -> String {
    pick::choice(&question.choices, said).unwrap_or_else(|| said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_named_or_numbered_and_anything_else_stays_as_it_is() {
        let question = |choices: &[&str]| v1::QuestionAsked {
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            ..v1::QuestionAsked::default()
        };
        let check = |choices: &[&str], said: &str, expect: &str| {
            assert_eq!(choice(&question(choices), said), expect);
        };
        check(&["continue", "stop"], "2", "stop");
        check(&["continue", "stop"], "STOP", "stop");
        check(&["continue", "stop"], "3", "3");
        check(&["3", "2", "1"], "1", "1");
        check(&[], "1", "1");
    }
}

//! Questions of a call to the users: what is asked, answered and voided in a given state. Pure, as
//! `decide.rs`.

use agentd_domain::{
    Author, QuestionAnswered, QuestionAsked, QuestionId, QuestionKind, TimestampMs, cut_line,
};
use agentd_tools::Question;

use super::decide::Draft;
use super::state::{OpenTurn, SessionState};
use crate::error::CommandError;

/// Longest answer in bytes, where any text is one.
const MAX_ANSWER: usize = 4_000;

/// How much of a wrong answer is shown, in characters.
const MAX_SHOWN: usize = 40;

/// Asks; none when there is no turn any more, or it asks something else.
pub(crate) fn ask(
    state: &SessionState,
    question: Question,
    question_id: QuestionId,
    now: TimestampMs,
) -> Option<Draft> {
    let Question { prompt, choices, default, timeout } = question;
    let turn = state.turn.as_ref().filter(|turn| turn.question.is_none())?;
    let asked = QuestionAsked {
        question_id,
        kind: QuestionKind::AskUser,
        prompt,
        free_text: choices.is_empty(),
        choices,
        default_choice: default.unwrap_or_default(),
        expires_at: Some(now.plus(timeout)),
    };
    Some(Draft::of(turn.turn_id, asked))
}

/// Takes the answer to a question of a call.
pub(crate) fn answer(
    turn: &OpenTurn,
    asked: &QuestionAsked,
    choice: &str,
    by: &Author,
) -> Result<Vec<Draft>, CommandError> {
    let is_text = asked.free_text && !choice.trim().is_empty() && choice.len() <= MAX_ANSWER;
    if !is_text && !asked.choices.iter().any(|known| known == choice) {
        let choices = if asked.free_text {
            vec![format!("any text of at most {MAX_ANSWER} bytes")]
        } else {
            asked.choices.clone()
        };
        return Err(CommandError::NotAChoice { got: cut_line(choice, MAX_SHOWN), choices });
    }
    let choice = choice.to_owned();
    let by = Some(by.clone());
    let answered = QuestionAnswered { question_id: asked.question_id, choice, by };
    Ok(vec![Draft::of(turn.turn_id, answered)])
}

/// The open question of a call, with its turn.
fn open(state: &SessionState) -> Option<(&OpenTurn, &QuestionAsked)> {
    let turn = state.turn.as_ref()?;
    let asked = turn.question.as_ref()?;
    (asked.kind == QuestionKind::AskUser).then_some((turn, asked))
}

/// When the open question of a call has waited for long enough.
pub(crate) fn expiry(state: &SessionState) -> Option<TimestampMs> {
    open(state).and_then(|(_, asked)| asked.expires_at)
}

/// Ends a question that nobody has answered in time.
pub(crate) fn expired(state: &SessionState, now: TimestampMs) -> Option<Draft> {
    expiry(state).filter(|at| *at <= now)?;
    void(state)
}

/// Voids the question of a call, because its turn is cut off.
pub(crate) fn void(state: &SessionState) -> Option<Draft> {
    let (turn, asked) = open(state)?;
    let answered =
        QuestionAnswered { question_id: asked.question_id, choice: String::new(), by: None };
    Some(Draft::of(turn.turn_id, answered))
}

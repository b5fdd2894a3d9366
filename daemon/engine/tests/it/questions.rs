//! Calls that ask the users something, or tell them.

use agentd_domain::{
    Delivery, EventBody, NoticeLevel, QuestionAnswered, QuestionAsked, QuestionKind, SessionId,
    ToolCallFinished,
};
use agentd_engine::{AutoResume, CommandError, Engine};
use agentd_tools::Registry;

use crate::world::{Step, Terminal, World, author, pass_seconds};

const CHOICE: &str = r#"{"question": "Which?", "options": ["red", "blue"], "default": "blue"}"#;
const TEXT: &str = r#"{"question": "Who?", "timeout_s": 60}"#;

/// A world with the tools of a daemon.
fn with_tools() -> World {
    let mut world = World::new();
    world.tools = Registry::builtin();
    world
}

async fn asked(world: &World, engine: &Engine, arguments: &'static str) -> (SessionId, Terminal) {
    let id = world.session(engine).await;
    let mut ann = Terminal::attach(engine, id, "ann").await;
    world.script(vec![Step::Call(vec![("ask_user", arguments)])]);
    world.send(engine, id, "go").await;
    ann.until_kind("question_asked", 1).await;
    (id, ann)
}

fn questions(terminal: &Terminal) -> Vec<QuestionAsked> {
    let asked = terminal.events.iter().filter_map(|event| match &event.body {
        EventBody::QuestionAsked(asked) => Some(asked.clone()),
        _ => None,
    });
    asked.collect()
}

fn answers(terminal: &Terminal) -> Vec<(String, Option<String>)> {
    let answered = terminal.events.iter().filter_map(|event| match &event.body {
        EventBody::QuestionAnswered(QuestionAnswered { choice, by, .. }) => {
            Some((choice.clone(), by.as_ref().map(|by| by.name.clone())))
        }
        _ => None,
    });
    answered.collect()
}

fn results(terminal: &Terminal) -> Vec<(String, String)> {
    let finished = terminal.events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCallFinished(ToolCallFinished { error_code, output, .. }) => {
            Some((error_code.clone(), output.clone()))
        }
        _ => None,
    });
    finished.collect()
}

fn told(code: &str, output: &str) -> Vec<(String, String)> {
    vec![(code.to_owned(), output.to_owned())]
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_of_any_terminal_counts_and_reaches_the_model_with_its_name() {
    let world = with_tools();
    let engine = world.engine();
    let (id, mut ann) = asked(&world, &engine, CHOICE).await;
    let mut bob = Terminal::attach(&engine, id, "bob").await;
    bob.until_kind("question_asked", 1).await;
    let question = questions(&bob).remove(0);
    assert_eq!((question.kind, question.free_text), (QuestionKind::AskUser, false));
    assert_eq!((question.prompt.as_str(), question.default_choice.as_str()), ("Which?", "blue"));
    let wrong = engine.answer(id, question.question_id, "green", author("bob")).await;
    assert!(matches!(wrong, Err(CommandError::NotAChoice { .. })), "{wrong:?}");
    engine.answer(id, question.question_id, "red", author("bob")).await.unwrap();
    let late = engine.answer(id, question.question_id, "blue", author("ann")).await;
    assert!(matches!(late, Err(CommandError::AnsweredAlready { .. })), "{late:?}");
    ann.until_kind("turn_completed", 1).await;
    assert_eq!(answers(&ann), [("red".to_owned(), Some("bob".to_owned()))]);
    assert_eq!(results(&ann), told("", "bob answered: red"));
    assert_eq!(ann.count("turn_suspended"), 0, "the turn has run all the time");
}

#[tokio::test(start_paused = true)]
async fn any_text_answers_a_question_without_options() {
    let world = with_tools();
    let engine = world.engine();
    let (id, mut ann) = asked(&world, &engine, TEXT).await;
    let question = questions(&ann).remove(0);
    assert!(question.free_text && question.choices.is_empty());
    for wrong in ["", " \n", &"x".repeat(4_001)] {
        let refused = engine.answer(id, question.question_id, wrong, author("ann")).await;
        assert!(matches!(refused, Err(CommandError::NotAChoice { .. })), "{refused:?}");
    }
    engine.answer(id, question.question_id, "continue", author("ann")).await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    assert_eq!(results(&ann), told("", "ann answered: continue"));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_ends_with_its_time() {
    for (arguments, seconds, code, output) in [
        (CHOICE, 600, "", "Nobody answered within 600 s; the default is taken: blue"),
        (
            TEXT,
            60,
            "NO_ANSWER",
            "Nobody answered within 60 s. Decide yourself, and say in your answer what you assumed.",
        ),
    ] {
        let world = with_tools();
        let engine = world.engine();
        let (id, mut ann) = asked(&world, &engine, arguments).await;
        let question_id = questions(&ann)[0].question_id;
        pass_seconds(seconds - 1).await;
        assert_eq!(engine.view(id).await.unwrap().open_questions.len(), 1);
        ann.until_kind("turn_completed", 1).await;
        assert_eq!(answers(&ann), [(String::new(), None)]);
        assert_eq!(results(&ann), told(code, output));
        let late = engine.answer(id, question_id, "red", author("ann")).await;
        assert!(matches!(late, Err(CommandError::AnsweredAlready { .. })), "{late:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_script_that_nobody_watches_is_answered_at_once() {
    let world = with_tools();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut script = Terminal::attach(&engine, id, "ann").await;
    world.script(vec![Step::Call(vec![("ask_user", TEXT), ("ask_user", CHOICE)])]);
    let mut message = world.message("go", Delivery::Queue);
    message.unattended = true;
    engine.submit(id, message).await.unwrap();
    script.until_kind("turn_completed", 1).await;
    let results = results(&script);
    assert_eq!(results[0].0, "NOBODY_THERE");
    assert!(results[0].1.starts_with("Nobody is there who could answer."), "{results:?}");
    assert_eq!(results[1].1, "Nobody is there who could answer; the default is taken: blue");
    assert_eq!(script.count("question_asked"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cut_off_voids_its_question() {
    let world = with_tools();
    let engine = world.engine();
    let (id, mut ann) = asked(&world, &engine, TEXT).await;
    let question_id = questions(&ann)[0].question_id;
    engine.interrupt(id, None, author("bob")).await.unwrap();
    ann.until_kind("turn_interrupted", 1).await;
    assert_eq!(answers(&ann), [(String::new(), None)]);
    let late = engine.answer(id, question_id, "me", author("ann")).await;
    assert!(matches!(late, Err(CommandError::AnsweredAlready { .. })), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_goes_on_after_a_stop_asks_again() {
    let world = with_tools();
    world.configure(|config| config.auto_resume = AutoResume::Always);
    let engine = world.engine();
    let (id, ann) = asked(&world, &engine, TEXT).await;
    let first = questions(&ann)[0].question_id;
    drop(ann);
    world.crash(engine).await;
    let engine = world.engine();
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    ann.until_kind("question_asked", 2).await;
    let second = questions(&ann)[1].question_id;
    assert_ne!(first, second);
    engine.answer(id, second, "me", author("ann")).await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    assert_eq!(answers(&ann), [(String::new(), None), ("me".to_owned(), Some("ann".to_owned()))]);
    assert_eq!(results(&ann), told("", "ann answered: me"));
}

#[tokio::test(start_paused = true)]
async fn a_message_reaches_every_terminal_and_says_how_many_there_are() {
    let world = with_tools();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    let mut bob = Terminal::attach(&engine, id, "bob").await;
    let arguments = r#"{"message": "It is done", "title": "Build", "urgency": "critical"}"#;
    world.script(vec![Step::Call(vec![("notify", arguments)])]);
    world.send(&engine, id, "go").await;
    ann.until_kind("turn_completed", 1).await;
    bob.until_kind("turn_completed", 1).await;
    for terminal in [&ann, &bob] {
        let notice = terminal.events.iter().find_map(|event| match &event.body {
            EventBody::Notice(notice) => Some((notice.level, notice.text.as_str())),
            _ => None,
        });
        assert_eq!(notice, Some((NoticeLevel::Warn, "Build: It is done")));
    }
    let output = &results(&ann)[0].1;
    assert!(output.starts_with("Shown on 2 attached terminals. "), "{output}");
}

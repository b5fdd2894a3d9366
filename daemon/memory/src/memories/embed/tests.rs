use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use agentd_domain::{
    Clock, IdSource, MemoryAuthor, MemoryCategory, MemoryOrigin, MemoryScope, TimestampMs,
};
use agentd_llm::{Embedded, Embedder};
use agentd_store::{MemoryStore, Store};
use async_trait::async_trait;
use tokio::task::JoinSet;

use super::*;
use crate::{Added, Filter, MemoryConfig, MemoryPatch, NewMemory, Vouched};

#[derive(Debug, Default)]
struct Outside(AtomicU64);

impl Clock for Outside {
    fn now(&self) -> TimestampMs {
        TimestampMs(1_000_000)
    }
}

impl IdSource for Outside {
    fn random(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Means "car tyres" and has no word of that.
const QUESTION: &str = "automobile rubber";

/// A model to which texts are near that share words, or words of one meaning.
#[derive(Debug)]
struct Words {
    space: &'static str,
    dimensions: usize,
    meanings: BTreeMap<&'static str, &'static str>,
    /// What was asked for.
    asked: Mutex<Vec<(TextKind, Vec<String>)>>,
    /// What requests come to before any is answered.
    failures: Mutex<VecDeque<LlmError>>,
    is_silent: AtomicBool,
    takes_all: AtomicBool,
}

impl Words {
    fn new(space: &'static str) -> Self {
        Self {
            space,
            dimensions: 64,
            meanings: BTreeMap::from([
                ("automobile", "car"),
                ("rubber", "tyres"),
                ("likes", "enjoys"),
            ]),
            asked: Mutex::default(),
            failures: Mutex::default(),
            is_silent: AtomicBool::new(false),
            takes_all: AtomicBool::new(false),
        }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.dimensions];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let word = word.to_lowercase();
            let word = self.meanings.get(word.as_str()).copied().unwrap_or(&word);
            let mut hash = word
                .bytes()
                .fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            for number in &mut vector {
                hash = hash.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                *number += if hash >> 63 == 0 { 1.0 } else { -1.0 };
            }
        }
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        vector.iter().map(|number| number / length.max(1.0)).collect()
    }

    /// Documents that were asked for, without the sentences of the probe.
    fn documents(&self) -> Vec<String> {
        let probe = probe_documents();
        let asked = self.asked.lock().unwrap();
        let documents = asked.iter().filter(|(kind, _)| *kind == TextKind::Document);
        let texts = documents.flat_map(|(_, texts)| texts).filter(|text| !probe.contains(text));
        texts.cloned().collect()
    }

    fn fail(&self, times: usize) {
        let detail = || LlmError::Connect { base_url: "there".into(), detail: "refused".into() };
        self.failures.lock().unwrap().extend(std::iter::repeat_with(detail).take(times));
    }
}

#[async_trait]
impl Embedder for Words {
    fn model(&self) -> &str {
        self.space
    }

    fn place(&self) -> &str {
        self.space
    }

    fn space(&self) -> &str {
        self.space
    }

    async fn embed(&self, texts: &[String], kind: TextKind) -> Result<Embedded, LlmError> {
        self.asked.lock().unwrap().push((kind, texts.to_vec()));
        if let Some(failure) = self.failures.lock().unwrap().pop_front() {
            return Err(failure);
        }
        if self.is_silent.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        let takes_all = self.takes_all.load(Ordering::Relaxed);
        if !takes_all && texts.iter().any(|text| text.contains("indigestible")) {
            return Err(LlmError::Invalid { status: 400, message: "no".to_owned() });
        }
        let vectors = texts.iter().map(|text| self.vector(text)).collect();
        Ok(Embedded { vectors, usage: agentd_domain::Usage::default() })
    }
}

struct World {
    store: Arc<dyn Store>,
    outside: Arc<Outside>,
    memories: Memories,
    background: JoinSet<()>,
}

impl World {
    fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let outside = Arc::new(Outside::default());
        let memories = open(&store, &outside);
        Self { store, outside, memories, background: JoinSet::new() }
    }

    /// The process ends wherever it is, and another begins.
    fn restart(&mut self) {
        self.background = JoinSet::new();
        self.memories = open(&self.store, &self.outside);
    }

    async fn embed_with(&mut self, model: &Arc<Words>) {
        let embeddings = Embeddings::Model {
            embedder: Arc::clone(model) as _,
            query_timeout: Duration::from_millis(500),
        };
        self.memories.embed_with(embeddings).await.unwrap();
        if self.background.is_empty() {
            let memories = self.memories.clone();
            self.background.spawn(async move { memories.keep_embedded().await });
        }
        settle().await;
    }

    async fn add(&self, content: &str) -> Added {
        let added = self.memories.add(note(content)).await.unwrap();
        settle().await;
        added
    }

    async fn find(&self, text: &str) -> Vec<String> {
        let filter = Filter { text: text.to_owned(), ..Filter::default() };
        let (found, _all) = self.memories.find(&filter, 10).await.unwrap();
        found.into_iter().map(|found| found.memory.content).collect()
    }

    /// Embedded, wanted, and why the last request failed.
    async fn state(&self) -> (usize, usize, Option<String>) {
        match self.memories.embeddings().await.unwrap() {
            EmbeddingState::Model { embedded, wanted, failure, .. } => (embedded, wanted, failure),
            other => panic!("{other:?}"),
        }
    }
}

fn open(store: &Arc<dyn Store>, outside: &Arc<Outside>) -> Memories {
    Memories::new(Arc::clone(store), outside.clone(), outside.clone(), MemoryConfig::default())
}

fn note(content: &str) -> NewMemory {
    NewMemory {
        content: content.to_owned(),
        priority: None,
        importance: None,
        category: MemoryCategory::Fact,
        tags: Vec::new(),
        scope: MemoryScope::User,
        pinned: false,
        expires_at: None,
        origin: MemoryOrigin { author: MemoryAuthor::Model, session_id: None, seq: None },
        vouched: Vouched::Yes,
    }
}

/// Lets the background do what it can do now.
async fn settle() {
    for _turn in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn memories_get_vectors_when_they_are_added_and_are_found_by_what_they_mean() {
    let mut world = World::new();
    world.add("The car needs new tyres").await;
    world.add("Lunch is at noon").await;
    assert_eq!(world.memories.embeddings().await.unwrap(), EmbeddingState::Off);
    assert!(world.find(QUESTION).await.is_empty(), "by words alone");
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    assert_eq!(world.state().await, (2, 2, None));
    assert_eq!(world.find(QUESTION).await, ["The car needs new tyres"]);
    let id = world.add("The automobile has new rubber").await.id();
    assert_eq!(world.state().await, (3, 3, None));
    assert_eq!(world.find("new car tyres").await.len(), 2);
    // Each once, and again only when it says something else.
    let patch = MemoryPatch { importance: Some(5), ..MemoryPatch::default() };
    world.memories.edit(id, patch, MemoryAuthor::Model).await.unwrap();
    settle().await;
    let known = model.documents();
    assert_eq!(known.iter().filter(|text| text.contains("tyres")).count(), 1, "{known:?}");
    let content = Some("The bicycle is green".to_owned());
    let patch = MemoryPatch { content, ..MemoryPatch::default() };
    world.memories.edit(id, patch, MemoryAuthor::Model).await.unwrap();
    settle().await;
    assert_eq!(model.documents().len(), known.len() + 1);
    assert_eq!(world.find(QUESTION).await, ["The car needs new tyres"]);
    world.memories.embed_with(Embeddings::Off).await.unwrap();
    assert!(world.find(QUESTION).await.is_empty());
}

#[tokio::test]
async fn what_a_turn_is_told_follows_what_was_meant() {
    let mut world = World::new();
    world.add("The car needs new tyres").await;
    for n in 0..6 {
        world.add(&format!("apples{n} pears{n}")).await;
    }
    world.embed_with(&Arc::new(Words::new("m"))).await;
    let scopes = [MemoryScope::User];
    let (told, _) = world.memories.select(&scopes, QUESTION, usize::MAX).await.unwrap();
    let related: Vec<&str> = told
        .iter()
        .filter(|(_, chosen)| chosen.is_related)
        .map(|(memory, _)| memory.content.as_str())
        .collect();
    assert_eq!(related, ["The car needs new tyres"]);
}

#[tokio::test]
async fn a_stop_in_the_middle_costs_one_batch_and_nothing_is_asked_for_twice() {
    let mut world = World::new();
    for n in 0..2 * BATCH {
        world.add(&format!("alder{n} birch{n}")).await;
    }
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    let all = world.state().await.0;
    assert_eq!((all, model.documents().len()), (2 * BATCH, 2 * BATCH));
    // A request is under way when the process ends.
    model.is_silent.store(true, Ordering::Relaxed);
    let late = Arc::new(Words::new("late"));
    late.is_silent.store(true, Ordering::Relaxed);
    world.restart();
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    assert_eq!(world.state().await, (2 * BATCH, 2 * BATCH, None));
    assert_eq!(model.documents(), Vec::<String>::new(), "what is there is used");
    world.embed_with(&late).await;
    assert_eq!(world.state().await.0, 0, "vectors of another model are of no use");
    world.restart();
    let partly = Arc::new(Words::new("late"));
    // The probe, its questions, and one batch; then nothing more comes.
    world.embed_with(&partly).await;
    assert_eq!(world.state().await, (2 * BATCH, 2 * BATCH, None));
    let asked = partly.documents();
    let distinct: std::collections::BTreeSet<&String> = asked.iter().collect();
    assert_eq!((asked.len(), distinct.len()), (2 * BATCH, 2 * BATCH));
}

#[tokio::test]
async fn what_was_made_before_a_stop_is_not_made_again() {
    let mut world = World::new();
    for n in 0..3 * BATCH {
        world.add(&format!("alder{n} birch{n}")).await;
    }
    let model = Arc::new(Words::new("m"));
    let embeddings = Embeddings::Model {
        embedder: Arc::clone(&model) as _,
        query_timeout: Duration::from_secs(1),
    };
    world.memories.embed_with(embeddings).await.unwrap();
    assert_eq!(world.memories.embed_some().await.unwrap(), Step::More);
    model.is_silent.store(true, Ordering::Relaxed);
    let cut_off = tokio::time::timeout(Duration::from_millis(1), world.memories.embed_some());
    cut_off.await.unwrap_err();
    world.restart();
    let again = Arc::new(Words::new("m"));
    world.embed_with(&again).await;
    assert_eq!(world.state().await, (3 * BATCH, 3 * BATCH, None));
    let (before, after) = (model.documents(), again.documents());
    assert_eq!(after.len(), 2 * BATCH, "the batch that was cut off, and the rest");
    assert!(before[..BATCH].iter().all(|text| !after.contains(text)));
}

#[tokio::test]
async fn another_model_makes_all_vectors_anew() {
    let mut world = World::new();
    world.add("The car needs new tyres").await;
    world.embed_with(&Arc::new(Words::new("m"))).await;
    let other = Arc::new(Words { dimensions: 32, ..Words::new("other") });
    world.embed_with(&other).await;
    assert_eq!(world.state().await, (1, 1, None));
    assert_eq!(other.documents(), ["The car needs new tyres"]);
    assert_eq!(world.find(QUESTION).await.len(), 1);
    // The same name, but its vectors are of another length.
    let changed = Arc::new(Words { dimensions: 16, ..Words::new("other") });
    world.embed_with(&changed).await;
    world.add("The tea is cold").await;
    assert_eq!(world.state().await, (2, 2, None));
    assert_eq!(
        changed.documents().len(),
        3,
        "the new one, to compare it and to keep it; the old one"
    );
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_is_asked_again_later_and_meanwhile_words_go_on() {
    let mut world = World::new();
    world.add("The car needs new tyres").await;
    let model = Arc::new(Words::new("m"));
    model.fail(2);
    world.embed_with(&model).await;
    let why = "cannot connect to there: refused".to_owned();
    assert_eq!(world.state().await, (0, 1, Some(why.clone())));
    assert_eq!(world.find("tyres").await.len(), 1);
    let asked = |model: &Words| model.asked.lock().unwrap().len();
    assert_eq!(asked(&model), 1);
    // What is added meanwhile does not make it ask more often.
    world.add("Lunch is at noon").await;
    tokio::time::advance(FIRST_PAUSE / 2).await;
    settle().await;
    assert_eq!(asked(&model), 1, "not yet");
    tokio::time::advance(FIRST_PAUSE).await;
    settle().await;
    assert_eq!(asked(&model), 2);
    tokio::time::advance(FIRST_PAUSE + FIRST_PAUSE / 2).await;
    settle().await;
    assert_eq!((asked(&model), world.state().await), (2, (0, 2, Some(why))), "it waits longer");
    tokio::time::advance(FIRST_PAUSE).await;
    settle().await;
    assert_eq!(world.state().await, (2, 2, None));
}

#[tokio::test(start_paused = true)]
async fn a_reload_tries_again_at_once() {
    let mut world = World::new();
    world.add("The car needs new tyres").await;
    let model = Arc::new(Words::new("m"));
    model.fail(1);
    world.embed_with(&model).await;
    assert_eq!(world.state().await.0, 0);
    world.embed_with(&model).await;
    assert_eq!(world.state().await, (1, 1, None));
}

#[tokio::test(start_paused = true)]
async fn another_configuration_while_a_vector_waits_to_be_written_stops_nobody() {
    let mut world = World::new();
    let model = Arc::new(Words::new("m"));
    model.fail(1);
    let (config, seen) = watch::channel(());
    let (memories, embedder) = (world.memories.clone(), Arc::clone(&model));
    world.background.spawn(async move {
        let query_timeout = Duration::from_millis(500);
        let choose = || {
            let embedder = Arc::clone(&embedder) as _;
            std::future::ready(Embeddings::Model { embedder, query_timeout })
        };
        memories.keep_embedded_with(seen, choose).await;
    });
    settle().await;
    world.add("The car needs new tyres").await;
    // Somebody writes when the vector is made, and still when the configuration changes.
    let alone = world.memories.alone().await;
    tokio::time::advance(FIRST_PAUSE * 2).await;
    settle().await;
    assert_eq!(model.documents(), ["The car needs new tyres"]);
    config.send_replace(());
    settle().await;
    drop(alone);
    let adding = tokio::time::timeout(LONGEST_PAUSE, world.add("Lunch is at noon"));
    adding.await.expect("memories can be written");
    assert_eq!(world.state().await, (2, 2, None));
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_in_time_goes_by_its_words_and_soon_nobody_waits() {
    let mut world = World::new();
    world.add("The car needs new tyres").await;
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    model.is_silent.store(true, Ordering::Relaxed);
    let begin = tokio::time::Instant::now();
    for _ in 0..5 {
        assert_eq!(world.find("new tyres").await.len(), 1);
    }
    assert_eq!(begin.elapsed(), Duration::from_millis(1500), "three were waited for");
    let EmbeddingState::Model { missed, failure, .. } = world.memories.embeddings().await.unwrap()
    else {
        panic!("there is a model")
    };
    assert_eq!((missed, failure.as_deref()), (5, Some("no answer within 500 ms")));
    model.is_silent.store(false, Ordering::Relaxed);
    tokio::time::advance(Duration::from_secs(31)).await;
    assert_eq!(world.find(QUESTION).await.len(), 1);
    assert_eq!(world.state().await.2, None);
}

#[tokio::test]
async fn a_text_that_the_model_refuses_keeps_no_vector_from_the_others() {
    let mut world = World::new();
    for text in ["alder is a tree", "this is indigestible", "birch is one, too"] {
        world.add(text).await;
    }
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    let state = world.memories.embeddings().await.unwrap();
    let EmbeddingState::Model { embedded, wanted, refused, failure, .. } = state else {
        panic!("there is a model")
    };
    assert_eq!((embedded, wanted, refused, failure), (2, 3, 1, None));
    assert_eq!(world.find("indigestible").await.len(), 1, "by its words");
}

#[tokio::test(start_paused = true)]
async fn a_text_that_a_new_model_refuses_may_be_its_fault_and_is_tried_again() {
    let mut world = World::new();
    world.add("this is indigestible").await;
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    let (embedded, wanted, failure) = world.state().await;
    assert_eq!((embedded, wanted), (0, 1));
    assert!(failure.unwrap().contains("refused the request"));
    model.takes_all.store(true, Ordering::Relaxed);
    tokio::time::advance(FIRST_PAUSE * 2).await;
    settle().await;
    assert_eq!(world.state().await, (1, 1, None));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_refuses_everything_is_not_asked_about_each_text() {
    let mut world = World::new();
    for n in 0..BATCH {
        world.add(&format!("indigestible{n} alder{n}")).await;
    }
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    let (embedded, _, failure) = world.state().await;
    assert_eq!((embedded, model.asked.lock().unwrap().len()), (0, 2 + 1 + REFUSED_IN_A_ROW));
    assert!(failure.unwrap().contains("refused the request"));
}

#[tokio::test]
async fn a_secret_is_refused_before_a_model_sees_it() {
    let mut world = World::new();
    world.add("The car needs new tyres").await;
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    world.add("Lunch is at noon").await;
    assert!(model.documents().contains(&"Lunch is at noon".to_owned()), "it is asked otherwise");
    let refused = world.memories.add(note("The password is hunter22")).await.unwrap_err();
    assert!(matches!(refused, MemoryError::Secret { .. }), "{refused}");
    settle().await;
    let asked = format!("{:?}", model.asked.lock().unwrap());
    assert!(!asked.contains("hunter22"), "{asked}");
}

#[tokio::test]
async fn texts_that_mean_the_same_are_one_and_nothing_is_lost() {
    let mut world = World::new();
    world.embed_with(&Arc::new(Words::new("m"))).await;
    let first = world.add("He likes the automobile in Berlin").await;
    assert_eq!(world.state().await.0, 1);
    let again = world.add("He enjoys the car in Berlin").await;
    assert_eq!(again, Added::MergedInto(first.id()));
    let text = world.find("Berlin").await.pop().unwrap();
    assert!(text.contains("likes the automobile") && text.contains("enjoys the car"), "{text}");
}

#[tokio::test]
async fn texts_that_came_without_a_vector_and_mean_the_same_become_one_at_rest() {
    let mut world = World::new();
    let texts = [
        "He likes the automobile in Berlin",
        "He enjoys the car in Berlin",
        "He enjoys the car in Paris",
        "He does not enjoy the car in Berlin",
    ];
    // Nobody could say then what they mean.
    for text in texts {
        assert!(matches!(world.add(text).await, Added::New(_)), "{text}");
    }
    assert_eq!(
        world.memories.merge_duplicates().await.unwrap(),
        0,
        "by words they are not the same"
    );
    let upkeep = world.memories.upkeep().await.unwrap();
    assert_eq!(upkeep.nearness_through, None, "nothing was looked at without a model");

    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    assert_eq!(world.state().await, (4, 4, None));
    let would = world.memories.duplicates().await.unwrap();
    let [(older, newer)] = &would[..] else { panic!("{would:?}") };
    assert_eq!([older, newer].map(|it| it.content.as_str()), [texts[0], texts[1]]);
    assert_eq!(world.memories.merge_duplicates().await.unwrap(), 1);
    settle().await;
    let left = world.find("Berlin").await;
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.iter().any(|it| it.contains(texts[0]) && it.contains(texts[1])), "{left:?}");
    assert_eq!(world.memories.merge_duplicates().await.unwrap(), 0, "once");
    world.memories.undo(None, MemoryAuthor::Daemon).await.unwrap();
    assert_eq!(world.find("Berlin").await.len(), 3, "it can be taken back");
}

#[tokio::test]
async fn what_waits_for_its_vector_is_compared_when_it_has_one_and_what_is_refused_holds_nothing_up()
 {
    let mut world = World::new();
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    world.add("He likes the automobile in Berlin").await;
    // From then on nothing answers.
    model.fail(1_000);
    world.add("He enjoys the car in Berlin").await;
    assert_eq!(world.state().await.0, 1);
    assert_eq!(world.memories.merge_duplicates().await.unwrap(), 0);
    model.failures.lock().unwrap().clear();
    world.restart();
    world.embed_with(&model).await;
    assert_eq!(world.state().await.0, 2);
    assert_eq!(world.memories.merge_duplicates().await.unwrap(), 1);

    let mut world = World::new();
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    let texts = [
        "an indigestible text",
        "He likes the automobile in Berlin",
        "He enjoys the car in Berlin",
    ];
    world.memories.embed_with(Embeddings::Off).await.unwrap();
    for text in texts {
        world.add(text).await;
    }
    world.embed_with(&model).await;
    assert_eq!(world.state().await, (2, 3, None));
    assert_eq!(world.memories.merge_duplicates().await.unwrap(), 1);
}

#[tokio::test]
async fn texts_that_mean_nearly_the_same_and_name_something_else_stay_two() {
    let mut world = World::new();
    world.embed_with(&Arc::new(Words::new("m"))).await;
    let common = "He likes the automobile that stands in the yard behind the old house";
    let other = "He enjoys the car that stands in the yard behind the old house";
    assert!(matches!(world.add(&format!("{common} 80")).await, Added::New(_)));
    for different in [format!("{other} 8080"), format!("not so: {other} 80")] {
        let added = world.add(&different).await;
        assert!(matches!(added, Added::New(_)), "{different}: {added:?}");
    }
}

#[tokio::test]
async fn what_is_erased_takes_its_vector_along() {
    let mut world = World::new();
    world.embed_with(&Arc::new(Words::new("m"))).await;
    let id = world.add("The cat is called Zebedee").await.id();
    assert_eq!(world.store.memory_vectors(None, 9).await.unwrap().len(), 1);
    world.memories.erase(id).await.unwrap();
    assert_eq!(world.store.memory_vectors(None, 9).await.unwrap(), []);
    assert_eq!(world.state().await, (0, 0, None));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_tells_no_sentences_apart_is_not_believed() {
    let mut world = World::new();
    world.add("The car needs new tyres").await;
    let model = Arc::new(Words { dimensions: 1, ..Words::new("m") });
    world.embed_with(&model).await;
    let (embedded, _, failure) = world.state().await;
    assert!(embedded == 0 && failure.unwrap().contains("no model for texts"));
    assert_eq!(world.find("tyres").await.len(), 1);
}

#[tokio::test]
async fn questions_in_a_script_that_the_model_does_not_read_go_by_their_words() {
    let mut world = World::new();
    world.add("用户的数据库部署在北京机房").await;
    let model = Arc::new(Words::new("m"));
    world.embed_with(&model).await;
    let asked = model.asked.lock().unwrap().len();
    assert_eq!(world.find("数据库在哪里").await.len(), 1);
    assert_eq!(model.asked.lock().unwrap().len(), asked, "it was not asked");
}

#[tokio::test]
async fn what_cannot_be_used_says_why() {
    let world = World::new();
    let unusable = Embeddings::Unusable { model: "m".to_owned(), why: "no key".to_owned() };
    world.memories.embed_with(unusable).await.unwrap();
    let expect = EmbeddingState::Unusable { model: "m".to_owned(), why: "no key".to_owned() };
    assert_eq!(world.memories.embeddings().await.unwrap(), expect);
}

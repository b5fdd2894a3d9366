use std::path::Path;

use agentd_testkit::StaticModelFiles;
use safetensors::serialize;
use safetensors::tensor::{Dtype, TensorView};
use tempfile::TempDir;

use super::*;
use crate::{MAX_DIMENSIONS, MAX_TEXT_BYTES};

fn options(directory: &Path) -> StaticOptions {
    StaticOptions {
        directory: directory.to_owned(),
        dimensions: None,
        query_prefix: String::new(),
        document_prefix: String::new(),
    }
}

fn cars() -> StaticModelFiles {
    StaticModelFiles::new().meaning_the_same(&["car", "automobile"]).knowing(&["lunch", "query"])
}

/// A directory with a model.
fn written(model: &StaticModelFiles) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    model.write(dir.path());
    dir
}

async fn vectors(model: &StaticEmbeddings, texts: &[&str], kind: TextKind) -> Vec<Vec<f32>> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    model.embed(&texts, kind).await.unwrap().vectors
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[tokio::test]
async fn texts_are_near_that_mean_the_same_and_what_is_unknown_is_zero() {
    let dir = written(&cars());
    let model = StaticEmbeddings::load(options(dir.path())).unwrap();
    let texts = ["The car", "AUTOMOBILE!", "lunch", "\u{30c6}\u{30b9}\u{30c8}"];
    let made = vectors(&model, &texts, TextKind::Document).await;
    let [car, automobile, lunch, unknown] = made.as_slice() else { panic!("four") };
    assert!(cosine(car, automobile) > 0.999);
    assert!(cosine(car, lunch) < 0.5);
    assert_eq!(unknown, &vec![0.0; 64]);
    assert!((cosine(lunch, lunch) - 1.0).abs() < 1e-4);
    assert_eq!(model.place(), dir.path().display().to_string());
}

#[tokio::test]
async fn a_prefix_stands_before_texts_of_its_kind() {
    let dir = written(&cars());
    let mut options = options(dir.path());
    options.query_prefix = "query ".to_owned();
    options.document_prefix = "passage ".to_owned();
    let model = StaticEmbeddings::load(options).unwrap();
    let query = vectors(&model, &["lunch"], TextKind::Query).await;
    let document = vectors(&model, &["lunch"], TextKind::Document).await;
    assert!(cosine(&query[0], &document[0]) < 0.9, "the model knows the word query");
    assert!(model.space().ends_with(" \"passage \""), "{}", model.space());
}

#[tokio::test]
async fn texts_without_words_or_end_are_refused_as_an_endpoint_does() {
    let dir = written(&cars());
    let model = StaticEmbeddings::load(options(dir.path())).unwrap();
    for text in [" ".to_owned(), "x".repeat(MAX_TEXT_BYTES + 1)] {
        let error = model.embed(&[text], TextKind::Document).await.unwrap_err();
        assert!(matches!(error, LlmError::Invalid { .. }), "{error:?}");
    }
    // What is long is read as far as the model reads.
    let long = ["car ".repeat(8_000)];
    assert_eq!(model.embed(&long, TextKind::Document).await.unwrap().vectors.len(), 1);
}

#[test]
fn another_model_has_another_name_and_the_same_files_are_not_kept_twice() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("potion");
    cars().write(&place);
    let first = StaticEmbeddings::load(options(&place)).unwrap();
    let (name, hash) = first.model().split_once('@').unwrap();
    assert_eq!((name, hash.len()), ("potion", 16));
    let again = first.load_again(options(&place)).unwrap();
    assert!(Arc::ptr_eq(&again.tables, &first.tables));
    assert_eq!(again.model(), first.model());
    cars().trained_again("more").write(&place);
    let other = again.load_again(options(&place)).unwrap();
    assert!(!Arc::ptr_eq(&other.tables, &first.tables));
    assert_ne!(other.model(), first.model());
    // Other words in the same rows are other vectors, too.
    std::fs::write(place.join("tokenizer.json"), cars().tokenizer().replace("lunch", "supper"))
        .unwrap();
    let words = other.load_again(options(&place)).unwrap();
    assert_ne!(words.model(), other.model());
    assert_eq!(words.model(), words.space());
}

/// What is said of a directory, and what is to be done.
#[track_caller]
fn refused(options: StaticOptions, parts: &[&str]) {
    let error = StaticEmbeddings::load(options).unwrap_err();
    let told = format!("{error}; {}", error.hint());
    for part in parts {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn what_is_missing_or_no_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("potion");
    refused(options(&place), &["there is no directory", "potion", "tokenizer.json"]);
    std::fs::create_dir(&place).unwrap();
    refused(options(&place), &["potion/tokenizer.json is missing", "model2vec"]);
    cars().write(&place);
    std::fs::remove_file(place.join("model.safetensors")).unwrap();
    refused(options(&place), &["potion/model.safetensors is missing"]);
    std::fs::create_dir(place.join("model.safetensors")).unwrap();
    refused(options(&place), &["potion/model.safetensors is not a file"]);
    std::fs::remove_dir(place.join("model.safetensors")).unwrap();
    let large = std::fs::File::create(place.join("model.safetensors")).unwrap();
    large.set_len(513 * 1024 * 1024).unwrap();
    refused(options(&place), &["has more than 536870912 bytes", "smaller"]);
}

#[test]
fn files_that_are_something_else_are_named() {
    let dir = written(&cars());
    let (tokenizer, weights) =
        (dir.path().join("tokenizer.json"), dir.path().join("model.safetensors"));
    std::fs::write(&tokenizer, "{\"version\":\n \"1.0\"}").unwrap();
    refused(options(dir.path()), &["tokenizer.json is no tokenizer", "again"]);
    let empty = cars().tokenizer().replace("[UNK]", "");
    std::fs::write(&tokenizer, empty.replace("\"unk_token\":\"\"", "\"unk_token\":\"none\""))
        .unwrap();
    refused(options(dir.path()), &["tokenizer.json is no tokenizer", "unk_token 'none'"]);
    std::fs::write(&tokenizer, cars().tokenizer()).unwrap();
    std::fs::write(&weights, "version https://git-lfs.github.com/spec/v1").unwrap();
    refused(options(dir.path()), &["model.safetensors holds no vectors", "model2vec"]);
    cars().in_tensor("encoder.layer.0").write(dir.path());
    refused(options(dir.path()), &["it has no tensor 'embeddings'", "models with layers"]);
    cars().in_tensor("embedding.weight").write(dir.path());
    assert!(StaticEmbeddings::load(options(dir.path())).is_ok());
}

#[test]
fn vectors_of_another_length_than_configured_are_refused() {
    let dir = written(&cars().of_length(32));
    let wanting = |dimensions| StaticOptions { dimensions, ..options(dir.path()) };
    assert!(StaticEmbeddings::load(wanting(Some(32))).is_ok());
    let parts = ["model.safetensors has vectors of 32 numbers", "64 are configured", "or to 0"];
    refused(wanting(Some(64)), &parts);
    cars().of_length(MAX_DIMENSIONS + 1).write(dir.path());
    refused(options(dir.path()), &["vectors of 4097 numbers"]);
}

/// Tensors as `model.safetensors` holds them.
fn tensors(tensors: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
    let views = tensors.iter().map(|(name, dtype, shape, data)| {
        (*name, TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    serialize(views, &None).unwrap()
}

/// Tables of two numbers for the token that stands for the unknown, and for one word.
#[track_caller]
fn check(found: &[(&str, Dtype, Vec<usize>, Vec<u8>)], parts: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let tokenizer = r#"{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
        "post_processor": null, "decoder": null, "model":
        {"type": "WordLevel", "vocab": {"[UNK]": 0, "tea": 1}, "unk_token": "[UNK]"}}"#;
    std::fs::write(dir.path().join("tokenizer.json"), tokenizer).unwrap();
    std::fs::write(dir.path().join("model.safetensors"), tensors(found)).unwrap();
    if parts.is_empty() {
        let model = StaticEmbeddings::load(options(dir.path())).unwrap();
        let made = vectors_now(&model, "tea");
        assert!((cosine(&made, &made) - 1.0).abs() < 1e-3, "{made:?}");
    } else {
        refused(options(dir.path()), parts);
    }
}

fn vectors_now(model: &StaticEmbeddings, text: &str) -> Vec<f32> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(vectors(model, &[text], TextKind::Query)).remove(0)
}

fn bytes<const N: usize>(numbers: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    numbers.into_iter().flatten().collect()
}

#[test]
fn tables_of_all_kinds_are_read_and_wrong_ones_are_refused_before_they_are_used() {
    let floats = |numbers: [f32; 4]| bytes(numbers.map(f32::to_le_bytes));
    let table = |data| ("embeddings", Dtype::F32, vec![2, 2], data);
    let good = || table(floats([0.0, 0.0, 1.0, 2.0]));
    check(&[good()], &[]);
    let halves = bytes([0_u16, 0, 0x3c00, 0xbc00].map(u16::to_le_bytes));
    check(&[("0", Dtype::F16, vec![2, 2], halves)], &[]);
    check(&[("embeddings", Dtype::I8, vec![2, 2], vec![0, 0, 100, 156])], &[]);

    let no_number = table(floats([0.0, 0.0, 1.0, f32::NAN]));
    let not_finite = "a number in its tensor 'embeddings' that is not finite";
    check(&[no_number], &["model.safetensors", not_finite, "again"]);
    let infinite = bytes([0_u16, 0, 0x3c00, 0x7c00].map(u16::to_le_bytes));
    check(&[("embeddings", Dtype::F16, vec![2, 2], infinite)], &[not_finite]);
    check(&[("embeddings", Dtype::F32, vec![4], floats([1.0; 4]))], &["'embeddings' is no table"]);
    let doubles = bytes([0.0_f64; 4].map(f64::to_le_bytes));
    check(
        &[("embeddings", Dtype::F64, vec![2, 2], doubles)],
        &["numbers of the type F64, not one of F32, F16, I8"],
    );
    // Half of the tokens have a row.
    check(
        &[("embeddings", Dtype::F32, vec![1, 4], floats([1.0; 4]))],
        &["model.safetensors has vectors of 1 tokens", "has token 1", "the same model"],
    );

    let weights =
        |numbers: [f64; 2]| ("weights", Dtype::F64, vec![2], bytes(numbers.map(f64::to_le_bytes)));
    check(&[good(), weights([1.0, 0.5])], &[]);
    check(&[good(), weights([1.0, f64::INFINITY])], &["its tensor 'weights' that is not finite"]);
    let whole = ("weights", Dtype::I64, vec![2], bytes([1_i64, 1].map(i64::to_le_bytes)));
    check(&[good(), whole], &["'weights' has numbers of the type I64"]);

    let one_row = || ("embeddings", Dtype::F32, vec![1, 4], floats([1.0, 2.0, 3.0, 4.0]));
    let mapping =
        |rows: [i64; 2]| ("mapping", Dtype::I64, vec![2], bytes(rows.map(i64::to_le_bytes)));
    check(&[one_row(), mapping([0, 0])], &[]);
    check(&[one_row(), mapping([0, 1])], &["'mapping' names the row 1, of 1"]);
    check(&[one_row(), mapping([-1, 0])], &["'mapping' names the row below 0, of 1"]);
    let narrow = ("mapping", Dtype::I32, vec![2], bytes([0_i32, 0].map(i32::to_le_bytes)));
    check(&[one_row(), narrow], &[]);
    let half = ("mapping", Dtype::I32, vec![1], bytes([0_i32].map(i32::to_le_bytes)));
    check(&[one_row(), half], &["has vectors of 1 tokens"]);
}

#[tokio::test]
async fn numbers_that_become_infinite_and_tokenizers_that_give_up_refuse_the_text() {
    let dir = tempfile::tempdir().unwrap();
    // A tokenizer without a token for what it does not know.
    let tokenizer = r#"{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
        "post_processor": null, "decoder": null, "model":
        {"type": "Unigram", "unk_id": null, "vocab": [["a", -1.0], ["b", -1.0]]}}"#;
    std::fs::write(dir.path().join("tokenizer.json"), tokenizer).unwrap();
    let numbers = bytes([f32::MAX, 1.0, 1.0, 1.0].map(f32::to_le_bytes));
    let weights = tensors(&[("embeddings", Dtype::F32, vec![2, 2], numbers)]);
    std::fs::write(dir.path().join("model.safetensors"), weights).unwrap();
    let model = StaticEmbeddings::load(options(dir.path())).unwrap();
    assert_eq!(vectors(&model, &["b"], TextKind::Query).await.len(), 1);
    for (text, part) in [("aaaa", "not finite"), ("xyz", "tokenizer cannot read it")] {
        let error = model.embed(&[text.to_owned()], TextKind::Query).await.unwrap_err();
        assert!(matches!(error, LlmError::Invalid { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

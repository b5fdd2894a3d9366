//! What a model in a directory does, and what is said when it cannot.

use agentd_testkit::{Home, StaticModelFiles};

use crate::support::{add, cars, doctor, find, place, reading, reload, wait_for};

/// Has no word of the memory that it means.
const QUESTION: &str = "automobile rubber";

#[tokio::test]
async fn memories_are_found_by_what_they_mean_without_any_server_and_keep_their_vectors() {
    let home = Home::new();
    cars().write(&place(&home));
    let mut daemon = reading(&home, &place(&home)).start().await;
    let client = daemon.client().await;
    add(&client, "The car needs new tyres").await;
    add(&client, "Lunch is at noon").await;
    let told = wait_for(&client, &["2 of 2 embedded"]).await;
    assert!(told.starts_with("hybrid: by words and embeddings of potion@"), "{told}");
    assert_eq!(find(&client, QUESTION).await, ["The car needs new tyres"]);
    assert!(doctor(&client).await.starts_with("Ok: 2 memories, "));
    drop(client);
    // Vectors that are kept are those of this very model.
    daemon.restart().await;
    let client = daemon.client().await;
    assert_eq!(wait_for(&client, &["2 of 2 embedded"]).await, told);
    let found = async { while find(&client, QUESTION).await.is_empty() {} };
    tokio::time::timeout(agentd_testkit::PATIENCE, found).await.unwrap();
    daemon.stop().await;
}

#[tokio::test]
async fn another_model_in_the_directory_makes_all_vectors_anew_at_a_reload() {
    let home = Home::new();
    cars().write(&place(&home));
    let daemon = reading(&home, &place(&home)).start().await;
    let client = daemon.client().await;
    add(&client, "The car needs new tyres").await;
    let first = wait_for(&client, &["1 of 1 embedded"]).await;
    // It is of another length, and never heard of automobiles.
    let other = StaticModelFiles::new().knowing(&["car", "vehicle"]).of_length(96);
    other.meaning_the_same(&["lorry", "tyres"]).write(&place(&home));
    reload(&client).await;
    let hash = |told: &str| told.split('@').nth(1).unwrap().split(',').next().unwrap().to_owned();
    let first = hash(&first);
    let second = loop {
        let told = wait_for(&client, &["hybrid", "1 of 1 embedded"]).await;
        if hash(&told) != first {
            break told;
        }
    };
    assert!(find(&client, QUESTION).await.is_empty(), "{second}");
    assert_eq!(find(&client, "lorry").await, ["The car needs new tyres"]);
    // What it was before is made anew as well.
    cars().write(&place(&home));
    reload(&client).await;
    wait_for(&client, &[&first, "1 of 1 embedded"]).await;
    assert_eq!(find(&client, QUESTION).await, ["The car needs new tyres"]);
    daemon.stop().await;
}

#[tokio::test]
async fn a_directory_without_a_model_is_told_and_words_go_on_until_it_has_one() {
    let home = Home::new();
    let mut daemon = reading(&home, &place(&home)).start().await;
    let client = daemon.client().await;
    add(&client, "The car needs new tyres").await;
    let check = async |parts: &[&str]| {
        let told = wait_for(&client, parts).await;
        assert!(told.starts_with("lexical: by words alone: embeddings of /"), "{told}");
        assert_eq!(find(&client, "tyres").await.len(), 1);
        assert!(find(&client, QUESTION).await.is_empty());
        let told = doctor(&client).await;
        let is_clear = told.starts_with("Warn: 1 memory")
            && parts.iter().all(|part| told.contains(part))
            && told.contains("memory.embeddings.directory, then `agentctl reload`");
        assert!(is_clear, "{told}");
    };
    check(&["there is no directory", "potion", "put tokenizer.json and model.safetensors"]).await;
    std::fs::create_dir(place(&home)).unwrap();
    reload(&client).await;
    check(&["potion/tokenizer.json is missing"]).await;
    cars().in_tensor("encoder").write(&place(&home));
    reload(&client).await;
    check(&["potion/model.safetensors holds no vectors of tokens"]).await;
    cars().write(&place(&home));
    daemon.home_mut().set("memory.embeddings.dimensions", 256);
    daemon.home().write_config();
    reload(&client).await;
    let parts = ["vectors of 64 numbers, and 256 are configured", "dimensions to that, or to 0"];
    check(&parts).await;
    daemon.home_mut().set("memory.embeddings.dimensions", 64);
    daemon.home().write_config();
    reload(&client).await;
    wait_for(&client, &["hybrid", "1 of 1 embedded"]).await;
    assert_eq!(find(&client, QUESTION).await, ["The car needs new tyres"]);
    daemon.stop().await;
}

#[tokio::test]
async fn a_model_that_tells_no_texts_apart_is_said_to_be_none() {
    let home = Home::new();
    // All that it knows means the same.
    let words = ["coffee", "database", "violin", "train", "roof", "cat", "taxes", "peanuts"];
    let useless = StaticModelFiles::empty().meaning_the_same(&words);
    useless.write(&place(&home));
    let daemon = reading(&home, &place(&home)).start().await;
    let client = daemon.client().await;
    add(&client, "The cat sleeps").await;
    wait_for(&client, &["0 of 1 embedded", "it is no model for texts"]).await;
    let told = doctor(&client).await;
    let remedy = "put another model into memory.embeddings.directory";
    assert!(told.starts_with("Warn: ") && told.contains(remedy), "{told}");
    assert_eq!(find(&client, "cat").await.len(), 1);
    daemon.stop().await;
}

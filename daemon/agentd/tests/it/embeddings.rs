//! Memories that are found by what they mean.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_testkit::{Daemon, LlmServer, PATIENCE, Reply};

/// Has no word of the memory that it means.
const QUESTION: &str = "automobile rubber";

async fn server() -> LlmServer {
    let llm = LlmServer::start().await;
    llm.mean_the_same(&["car", "automobile"]);
    llm.mean_the_same(&["tyres", "rubber"]);
    llm
}

/// A daemon whose vectors come from `embedder`.
async fn daemon(llm: &LlmServer, embedder: &LlmServer) -> Daemon {
    Daemon::builder()
        .llm(llm)
        .set("memory.embeddings.provider", "endpoint")
        .set("memory.embeddings.document_prefix", "passage ")
        .set("endpoints.near.base_url", embedder.base_url())
        .set("endpoints.near.max_attempts", 1)
        .set("roles.embedding.endpoint", "near")
        .set("roles.embedding.model", "e5")
        .start()
        .await
}

async fn add(client: &Client, content: &str) {
    let author = Some(v1::Author { client_id: "ann-1".to_owned(), name: "ann".to_owned() });
    let content = content.to_owned();
    let request = v1::AddMemoryRequest { content, author, ..Default::default() };
    client.memory().add_memory(request).await.unwrap();
}

async fn find(client: &Client, text: &str) -> Vec<String> {
    let filter = v1::MemoryFilter { text: text.to_owned(), ..Default::default() };
    let request = v1::ListMemoriesRequest { filter: Some(filter), ..Default::default() };
    let found = client.memory().list_memories(request).await.unwrap().into_inner().memories;
    found.into_iter().map(|found| found.memory.unwrap().content).collect()
}

async fn search(client: &Client) -> String {
    let stats = client.memory().get_memory_stats(v1::GetMemoryStatsRequest {}).await.unwrap();
    stats.into_inner().search
}

/// Waits until the statistics say this of the search.
async fn wait_for(client: &Client, part: &str) -> String {
    let waiting = async {
        loop {
            let told = search(client).await;
            if told.contains(part) {
                return told;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(PATIENCE, waiting).await;
    if let Ok(told) = told {
        return told;
    }
    panic!("{part}: {}", search(client).await)
}

/// What the doctor says of memory, its outcome first.
async fn doctor(client: &Client, offline: bool) -> String {
    let request = v1::RunChecksRequest { offline };
    let checks = client.diagnostics().run_checks(request).await.unwrap().into_inner().checks;
    let check = checks.into_iter().find(|check| check.name == "memory").unwrap();
    format!("{:?}: {} / {}", check.outcome(), check.detail, check.remedy)
}

async fn reload(client: &Client) {
    client.admin().reload_config(v1::ReloadConfigRequest {}).await.unwrap();
}

#[tokio::test]
async fn memories_are_found_by_what_they_mean_and_keep_their_vectors_over_a_restart() {
    let llm = server().await;
    let mut daemon = daemon(&llm, &llm).await;
    let client = daemon.client().await;
    add(&client, "The car needs new tyres").await;
    add(&client, "Lunch is at noon").await;
    let told = wait_for(&client, "2 of 2 embedded").await;
    assert_eq!(told, "hybrid: by words and embeddings of e5, 2 of 2 embedded");
    assert_eq!(find(&client, QUESTION).await, ["The car needs new tyres"]);
    assert!(doctor(&client, false).await.starts_with("Ok: 2 memories, "));
    drop(client);
    daemon.restart().await;
    let client = daemon.client().await;
    wait_for(&client, "2 of 2 embedded").await;
    let documents = llm.embedding_requests();
    let asked = |part: &str| {
        let inputs = documents.iter().map(|request| request.body["input"].to_string());
        inputs.filter(|input| input.contains(part)).count()
    };
    assert_eq!(asked("passage Lunch"), 1, "the vector is there");
    // The probe is made again, and then questions have vectors.
    let found = async { while find(&client, QUESTION).await.is_empty() {} };
    tokio::time::timeout(PATIENCE, found).await.unwrap();
    daemon.stop().await;
}

#[tokio::test]
async fn a_turn_is_told_what_is_meant_and_goes_on_without_it_when_the_server_is_down() {
    let (llm, embedder) = (server().await, server().await);
    let daemon = daemon(&llm, &embedder).await;
    let client = daemon.client().await;
    add(&client, "The car needs new tyres").await;
    for n in 0..40 {
        add(&client, &format!("apples{n} pears{n} plums{n}")).await;
    }
    wait_for(&client, "41 of 41 embedded").await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::text("I see."));
    ann.ask(&format!("{QUESTION}?")).await;
    let request = llm.wait_for_request(1).await;
    let sent = String::from_utf8_lossy(&request.raw).into_owned();
    assert!(sent.contains("The car needs new tyres"), "{sent}");
    drop(embedder);
    llm.push(Reply::text("So it is."));
    ann.ask("What about plums7?").await;
    let request = llm.wait_for_request(2).await;
    assert!(String::from_utf8_lossy(&request.raw).contains("apples7 pears7 plums7"));
    let told = search(&client).await;
    let end = "1 questions went by words alone; ";
    assert!(told.contains(end) && told.contains("does not answer now: cannot connect"), "{told}");
    let notices = ann.log().await;
    let is_notice = |event: &&v1::Event| matches!(event.body, Some(v1::event::Body::Notice(_)));
    assert_eq!(notices.iter().filter(is_notice).count(), 0, "nobody is told each time");
    daemon.stop().await;
}

#[tokio::test]
async fn the_doctor_tells_of_a_server_that_does_not_answer_and_words_go_on() {
    let (llm, embedder) = (server().await, server().await);
    for _ in 0..2 {
        embedder.push_embeddings(Reply::error(404, "model_not_found", "there is no e5 here"));
    }
    let daemon = daemon(&llm, &embedder).await;
    let client = daemon.client().await;
    add(&client, "The car needs new tyres").await;
    let told = wait_for(&client, "does not answer now").await;
    assert!(told.contains("0 of 1 embedded") && told.contains("there is no e5 here"), "{told}");
    assert_eq!(find(&client, "tyres").await.len(), 1);
    let told = doctor(&client, true).await;
    assert!(told.starts_with("Warn: 1 memory") && told.contains("roles.embedding"), "{told}");
    // It is there again, and a reload does not wait for the next try.
    reload(&client).await;
    embedder.wait_for_embeddings(2).await;
    reload(&client).await;
    wait_for(&client, "1 of 1 embedded").await;
    assert!(doctor(&client, false).await.starts_with("Ok: "));
    drop(embedder);
    let told = doctor(&client, false).await;
    assert!(told.starts_with("Warn: ") && told.contains("cannot connect"), "{told}");
    daemon.stop().await;
}

#[tokio::test]
async fn another_model_is_taken_at_a_reload_and_makes_all_vectors_anew() {
    let llm = server().await;
    let mut daemon = daemon(&llm, &llm).await;
    let client = daemon.client().await;
    add(&client, "The car needs new tyres").await;
    wait_for(&client, "embeddings of e5, 1 of 1 embedded").await;
    daemon.home_mut().set("roles.embedding.model", "bge");
    daemon.home().write_config();
    reload(&client).await;
    wait_for(&client, "embeddings of bge, 1 of 1 embedded").await;
    let last = llm.embedding_requests().pop().unwrap();
    assert_eq!(last.model(), "bge");
    daemon.home_mut().set("memory.embeddings.provider", "none");
    daemon.home().write_config();
    reload(&client).await;
    assert_eq!(wait_for(&client, "lexical").await, "lexical");
    assert!(find(&client, QUESTION).await.is_empty());
    daemon.stop().await;
}

/// Builds with the feature read it: see the tests in `tests/local_embeddings`.
#[cfg(not(feature = "local-embeddings"))]
#[tokio::test]
async fn a_model_in_a_directory_that_this_build_cannot_read_is_refused_with_the_way_to_build_one() {
    let how = "cargo build --release --package agentd --features local-embeddings";
    let refused = Daemon::builder()
        .set("memory.embeddings.provider", "local")
        .set("memory.embeddings.directory", "/models/potion")
        .try_start()
        .await
        .unwrap_err();
    let told = refused.to_string();
    assert!(told.contains("memory.embeddings.provider") && told.contains(how), "{told}");
    // One that runs goes on with what it had, and the doctor says why.
    let llm = server().await;
    let mut daemon = daemon(&llm, &llm).await;
    let client = daemon.client().await;
    daemon.home_mut().set("memory.embeddings.provider", "local");
    daemon.home_mut().set("memory.embeddings.directory", "/models/potion");
    daemon.home().write_config();
    let request = v1::ReloadConfigRequest {};
    let refused = client.admin().reload_config(request).await.unwrap_err();
    assert!(refused.message().contains(how), "{refused:?}");
    wait_for(&client, "hybrid: by words and embeddings of e5").await;
    let request = v1::RunChecksRequest { offline: true };
    let checks = client.diagnostics().run_checks(request).await.unwrap().into_inner().checks;
    let check = checks.into_iter().find(|check| check.name == "config").unwrap();
    assert_eq!(check.outcome(), v1::CheckOutcome::Fail);
    assert!(check.detail.contains(how), "{check:?}");
    daemon.stop().await;
}

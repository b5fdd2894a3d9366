//! What is remembered: how it is found, and what waits for somebody.

use agentd_domain::MemoryStatus;
use agentd_memory::{Counts, EmbeddingState, Memories};

use super::Check;
use crate::config::EmbeddingProvider;

const NAME: &str = "memory";

/// The model that makes vectors is asked only when `ask` says so.
pub(super) async fn check(memories: &Memories, provider: EmbeddingProvider, ask: bool) -> Check {
    if ask {
        memories.try_embeddings().await;
    }
    let found = match memories.counts().await {
        Ok(counts) => memories.embeddings().await.map(|state| (counts, state)),
        Err(error) => Err(error),
    };
    match found {
        Ok((counts, state)) => told(&counts, &state, provider),
        Err(error) => Check::fail(
            NAME,
            format!("memories cannot be read: {error}"),
            "see what the store's check says",
        ),
    }
}

fn told(counts: &Counts, state: &EmbeddingState, provider: EmbeddingProvider) -> Check {
    let of = |status: MemoryStatus| {
        let tiers = counts.by_status.iter().find(|(name, _tiers)| *name == status.name());
        tiers.map_or(0, |(_name, tiers)| tiers.iter().sum::<usize>())
    };
    let held = match of(MemoryStatus::Active) {
        0 => "nothing is remembered yet".to_owned(),
        1 => "1 memory".to_owned(),
        many => format!("{many} memories"),
    };
    let waiting = of(MemoryStatus::Quarantined);
    let waits = if waiting == 1 { "waits" } else { "wait" };
    let search = search(state);
    let detail = format!("{held}, {waiting} {waits} for confirmation; the search is {search}");
    let is_local = provider == EmbeddingProvider::Local;
    let remedy = match state {
        EmbeddingState::Unusable { .. } if is_local => {
            "mend what stands in memory.embeddings.directory, then `agentctl reload`; or unset it and \
             memory.embeddings.provider"
        }
        EmbeddingState::Unusable { .. } => {
            "mend [roles.embedding] and its endpoint, then `agentctl reload`; or set \
             memory.embeddings.provider to \"none\""
        }
        EmbeddingState::Model { failure: Some(_), .. } if is_local => {
            "put another model into memory.embeddings.directory, then `agentctl reload`"
        }
        EmbeddingState::Model { failure: Some(_), .. } => {
            "see that the server of roles.embedding runs and has the model; it is asked again by itself"
        }
        EmbeddingState::Off | EmbeddingState::Model { .. } => "",
    };
    if !remedy.is_empty() {
        return Check::warn(NAME, detail, remedy);
    }
    if waiting == 0 {
        return Check::ok(NAME, detail);
    }
    let remedy = "look with `agentctl memory list --status quarantined`, then `agentctl memory confirm ID` \
                  or `forget ID`";
    Check::warn(NAME, detail, remedy)
}

/// How memories are found, in a few words.
pub(crate) fn search(state: &EmbeddingState) -> String {
    match state {
        EmbeddingState::Off => "by words alone, no embeddings are configured".to_owned(),
        EmbeddingState::Unusable { model, why } => {
            format!("by words alone: embeddings of {model} cannot be used: {why}")
        }
        EmbeddingState::Model { model, place, embedded, wanted, refused, missed, failure } => {
            let mut told = vec![format!(
                "by words and embeddings of {model}, {embedded} of {wanted} embedded"
            )];
            if *refused > 0 {
                told.push(format!(", {refused} refused by it"));
            }
            if *missed > 0 {
                told.push(format!(", {missed} questions went by words alone"));
            }
            if let Some(why) = failure {
                told.push(format!("; {place} does not answer now: {why}"));
            }
            told.concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::*;

    #[test]
    fn it_says_how_memories_are_found_and_what_waits() {
        let check = told(&Counts::default(), &EmbeddingState::Off, EmbeddingProvider::None);
        let expect = "nothing is remembered yet, 0 wait for confirmation; the search is by words alone, \
                      no embeddings are configured";
        assert_eq!((check.outcome, check.detail.as_str()), (Outcome::Ok, expect));
        let by_status = vec![("active", [0, 1, 2, 0]), ("quarantined", [0, 0, 1, 0])];
        let check = told(&Counts { by_status }, &EmbeddingState::Off, EmbeddingProvider::None);
        assert_eq!(check.outcome, Outcome::Warn);
        assert!(check.detail.starts_with("3 memories, 1 waits for confirmation"), "{check:?}");
        assert!(check.remedy.contains("memory confirm"));
    }

    #[test]
    fn it_says_what_the_model_is_doing() {
        let state = |failure: Option<&str>| EmbeddingState::Model {
            model: "e5".to_owned(),
            place: "http://127.0.0.1:9/v1".to_owned(),
            embedded: 3,
            wanted: 5,
            refused: 0,
            missed: 0,
            failure: failure.map(str::to_owned),
        };
        let endpoint = EmbeddingProvider::Endpoint;
        let check = told(&Counts::default(), &state(None), endpoint);
        assert_eq!(check.outcome, Outcome::Ok);
        assert!(
            check.detail.ends_with("by words and embeddings of e5, 3 of 5 embedded"),
            "{check:?}"
        );
        let check = told(&Counts::default(), &state(Some("connection refused")), endpoint);
        assert_eq!(check.outcome, Outcome::Warn);
        let end = "; http://127.0.0.1:9/v1 does not answer now: connection refused";
        assert!(check.detail.ends_with(end), "{check:?}");
        let unusable =
            EmbeddingState::Unusable { model: "e5".to_owned(), why: "no key".to_owned() };
        let check = told(&Counts::default(), &unusable, endpoint);
        assert!(check.remedy.contains("roles.embedding") && check.detail.ends_with("no key"));
        // A model in a directory has no server.
        for state in [unusable, state(Some("it is no model for texts"))] {
            let check = told(&Counts::default(), &state, EmbeddingProvider::Local);
            let (outcome, remedy) = (check.outcome, check.remedy);
            assert_eq!(outcome, Outcome::Warn);
            assert!(
                remedy.contains("memory.embeddings.directory, then `agentctl reload`"),
                "{remedy}"
            );
        }
    }
}

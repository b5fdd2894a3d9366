//! Who makes the call that is being handled, for handlers that have to name him.
//!
//! It is carried beside the call, not in each handler's arguments, so that none can forget it: what
//! reads an author ([`super::from_proto::author`]) asks here.

use agentd_domain::{Author, floor_char_boundary};

use crate::access::Scope;

tokio::task_local! {
    static CALLER: RemoteCaller;
}

/// Somebody who came in with a token.
#[derive(Debug, Clone)]
pub(super) struct RemoteCaller {
    /// What the token is called.
    pub(super) token: String,
    /// What the token is for.
    pub(super) scope: Scope,
}

/// True when the caller may do what needs this scope: local clients may do everything.
pub(super) fn may(scope: Scope) -> bool {
    CALLER.try_with(|caller| caller.scope >= scope).unwrap_or(true)
}

/// Handles a call on behalf of a remote caller.
pub(super) async fn on_behalf<F: Future>(caller: RemoteCaller, handling: F) -> F::Output {
    CALLER.scope(caller, handling).await
}

/// Adds the token's name to what a remote client calls itself: it may call itself anything, and
/// others must see who it is. Local clients are the daemon's own user and are believed.
pub(super) fn tagged(mut author: Author) -> Author {
    // No caller is set for local clients.
    let Ok(tag) = CALLER.try_with(|caller| format!(" [{}]", caller.token)) else { return author };
    let tag = tag.get(..floor_char_boundary(&tag, Author::MAX_BYTES / 2)).unwrap_or_default();
    let end = floor_char_boundary(&author.name, Author::MAX_BYTES - tag.len());
    author.name.truncate(end);
    author.name.push_str(tag);
    author
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn named(token: &str, name: &str) -> String {
        let author = Author { client_id: "id".to_owned(), name: name.to_owned() };
        let caller = RemoteCaller { token: token.to_owned(), scope: Scope::Chat };
        on_behalf(caller, async { tagged(author).name }).await
    }

    #[tokio::test]
    async fn remote_names_carry_the_tokens_name_and_stay_names() {
        assert_eq!(named("phone", "ann").await, "ann [phone]");
        let long = named(&"世".repeat(100), &"界".repeat(42)).await;
        assert!(long.len() <= Author::MAX_BYTES && long.contains("界 [世"), "{long}");
        Author::new("id", &long).unwrap();
    }

    #[tokio::test]
    async fn a_token_may_what_its_scope_includes_and_the_local_user_everything() {
        let caller = RemoteCaller { token: "t".to_owned(), scope: Scope::Chat };
        on_behalf(caller, async {
            assert!(may(Scope::Read) && may(Scope::Chat) && !may(Scope::Admin));
        })
        .await;
        assert!(may(Scope::Admin));
    }

    #[test]
    fn local_names_stay_as_they_are() {
        let author = Author { client_id: "id".to_owned(), name: "ann".to_owned() };
        assert_eq!(tagged(author.clone()), author);
    }
}

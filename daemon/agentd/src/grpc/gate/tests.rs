use agentd_engine::{RandomIds, SystemClock};
use tonic::Code;

use super::super::scopes;
use super::*;
use crate::access::{Scope, Tokens};
use crate::config::RemoteConfig;
use crate::environment::Environment;

struct World {
    _dir: tempfile::TempDir,
    remote: Arc<Remote>,
}

impl World {
    /// A listener without TLS; requests are made by hand.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tokens.json");
        let tokens = Tokens::load(&file, Arc::new(SystemClock), Arc::new(RandomIds)).unwrap();
        let (remote, _) =
            Remote::open(&RemoteConfig::default(), Arc::new(tokens), &Environment::new()).unwrap();
        Self { _dir: dir, remote }
    }

    fn token(&self, scope: Scope) -> String {
        self.remote.tokens.create(scope.name(), scope, None).unwrap().1.reveal()
    }

    fn admit(&self, request: http::Request<Body>) -> Result<RemoteCaller, Status> {
        let address = "192.0.2.1:1".parse().unwrap();
        let admission = self.remote.connections.admit(address).unwrap();
        let mut request = request;
        request.extensions_mut().insert(RemotePeer(Arc::clone(admission.peer())));
        admit(&self.remote, &request).map(|(caller, _)| caller).map_err(|status| *status)
    }
}

fn request(path: &str, authorization: &[&str]) -> http::Request<Body> {
    let mut request = http::Request::builder().uri(format!("http://localhost{path}"));
    for value in authorization {
        request = request.header("authorization", *value);
    }
    request.body(Body::default()).unwrap()
}

#[tokio::test]
async fn each_scope_is_let_into_what_it_includes_and_nothing_else() {
    let world = World::new();
    for has in [Scope::Read, Scope::Chat, Scope::Admin] {
        let bearer = format!("Bearer {}", world.token(has));
        for (path, needed) in scopes::all() {
            let admitted = world.admit(request(path, &[&bearer]));
            match admitted {
                Ok(caller) => {
                    assert!(has >= needed, "{path} is open to {has:?}");
                    assert_eq!(caller.token, has.name());
                }
                Err(status) => {
                    assert!(has < needed, "{path} is closed to {has:?}: {status:?}");
                    assert_eq!(status.code(), Code::PermissionDenied, "{path}");
                    assert!(status.message().contains(needed.name()), "{status:?}");
                }
            }
        }
        let status = world.admit(request("/agentd.v1.New/Method", &[&bearer])).unwrap_err();
        assert_eq!(status.code(), Code::Unimplemented, "what has no scope is closed to all");
    }
}

#[tokio::test]
async fn the_header_is_one_bearer_token_and_nothing_like_it() {
    let world = World::new();
    let token = world.token(Scope::Admin);
    let path = "/agentd.v1.SessionService/ListSessions";
    let bearer = format!("Bearer {token}");
    for good in [&bearer, &format!("bearer {token}"), &format!("BEARER  {token} ")] {
        world.admit(request(path, &[good])).unwrap();
    }
    let wrong =
        [vec![], vec![token.as_str()], vec!["Bearer "], vec![bearer.as_str(), bearer.as_str()]];
    for wrong in &wrong {
        let status = world.admit(request(path, wrong)).unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{wrong:?}");
        assert!(!format!("{status:?}").contains(&token));
    }
    let basic = world.admit(request(path, &[&format!("Basic {token}")])).unwrap_err();
    assert_eq!(basic.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn dl_04_a_foreign_host_or_a_web_page_is_refused_before_the_token_is_looked_at() {
    let world = World::new();
    let bearer = format!("Bearer {}", world.token(Scope::Admin));
    let with = |name: &str, value: &str| {
        let mut request = request("/agentd.v1.SessionService/ListSessions", &[&bearer]);
        let name: http::HeaderName = name.parse().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    world.admit(with("host", "127.0.0.1:7443")).unwrap();
    for (name, value) in
        [("host", "evil.test"), ("host", "a b"), ("origin", "null"), ("origin", "http://localhost")]
    {
        let status = world.admit(with(name, value)).unwrap_err();
        assert_eq!(status.code(), Code::PermissionDenied, "{name}: {value}");
    }
    let nowhere = http::Request::builder().uri("/x").body(Body::default()).unwrap();
    assert_eq!(world.admit(nowhere).unwrap_err().code(), Code::PermissionDenied);
}

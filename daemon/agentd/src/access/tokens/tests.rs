use std::os::unix::fs::PermissionsExt as _;

use agentd_testkit::{FakeClock, SeqIds};

use super::*;

const NOW: i64 = 1_700_000_000_000;

struct World {
    dir: tempfile::TempDir,
    clock: Arc<FakeClock>,
}

impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), clock: Arc::new(FakeClock::at(NOW)) }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("tokens.json")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    fn try_load(&self) -> Result<Tokens, TokenFileError> {
        Tokens::load(&self.file(), Arc::clone(&self.clock) as _, Arc::new(SeqIds::default()))
    }

    fn load(&self) -> Tokens {
        self.try_load().unwrap()
    }
}

#[test]
fn a_token_is_good_after_a_restart_and_the_file_does_not_hold_it() {
    let world = World::new();
    let (info, text) = world.load().create(" phone ", Scope::Chat, None).unwrap();
    let text = text.reveal();
    let grant = world.load().check(&text).unwrap();
    assert_eq!(
        grant,
        Grant { token_id: info.id.clone(), name: "phone".to_owned(), scope: Scope::Chat }
    );
    let stored = world.text();
    let secret = text.splitn(3, '_').nth(2).unwrap();
    assert!(stored.contains(&info.id) && !stored.contains(secret), "{stored}");
    let mode = std::fs::metadata(world.file()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn what_is_not_exactly_the_token_is_not_known() {
    let world = World::new();
    let tokens = world.load();
    let (info, text) = tokens.create("phone", Scope::Read, None).unwrap();
    let text = text.reveal();
    let other = TokenText::new(&info.id).unwrap().reveal();
    for wrong in ["", "agentd", &text[..text.len() - 1], &format!("{text}x"), &other] {
        assert_eq!(tokens.check(wrong), Err(Refusal::Unknown), "{wrong}");
    }
    assert_eq!(tokens.list()[0].last_used_at_ms, 0, "none of that was a use");
    tokens.check(&text).unwrap();
}

#[test]
fn a_token_expires_by_the_clock() {
    let world = World::new();
    let tokens = world.load();
    let ttl = Some(Duration::from_secs(60));
    let (info, text) = tokens.create("guest", Scope::Chat, ttl).unwrap();
    let text = text.reveal();
    world.clock.set(NOW + 59_999);
    tokens.check(&text).unwrap();
    assert!(tokens.is_good(&info.id));
    world.clock.set(NOW + 60_000);
    assert_eq!(tokens.check(&text), Err(Refusal::Expired));
    assert!(!tokens.is_good(&info.id));
    assert_eq!(tokens.list().len(), 1, "it stays in the list");
}

#[test]
fn a_revoked_token_is_not_known_and_stays_so() {
    let world = World::new();
    let tokens = world.load();
    let (info, text) = tokens.create("guest", Scope::Chat, None).unwrap();
    let text = text.reveal();
    tokens.revoke(&info.id).unwrap();
    assert_eq!(tokens.check(&text), Err(Refusal::Unknown));
    assert_eq!(world.load().check(&text), Err(Refusal::Unknown));
    assert!(matches!(tokens.revoke(&info.id), Err(TokenError::NoToken(_))));
}

#[test]
fn the_last_use_is_known_to_the_minute_and_written_when_asked_for() {
    let world = World::new();
    let tokens = world.load();
    let (_, text) = tokens.create("phone", Scope::Chat, None).unwrap();
    let text = text.reveal();
    let before = world.text();
    world.clock.set(NOW + 61_234);
    tokens.check(&text).unwrap();
    assert_eq!(world.text(), before, "a call does not wait for the disk");
    tokens.flush().unwrap();
    let used = world.load().list()[0].last_used_at_ms;
    assert_eq!(used % 60_000, 0);
    assert!((NOW..=NOW + 61_234).contains(&used), "{used}");
    // Another use in the same minute changes nothing.
    std::fs::remove_file(world.file()).unwrap();
    world.clock.set(used + 59_000);
    tokens.check(&text).unwrap();
    tokens.flush().unwrap();
    assert!(!world.file().exists());
}

#[test]
fn names_are_short_printable_and_used_once() {
    let tokens = World::new().load();
    for name in ["", " ", "a\nb", &"x".repeat(101)] {
        let refused = tokens.create(name, Scope::Read, None);
        assert!(matches!(refused, Err(TokenError::Name(_))), "{name:?}: {refused:?}");
    }
}

#[test]
fn a_name_is_given_once_and_times_have_an_end() {
    let world = World::new();
    let tokens = world.load();
    tokens.create("phone", Scope::Read, None).unwrap();
    let again = tokens.create("phone", Scope::Admin, None);
    assert!(matches!(again, Err(TokenError::Taken(_))), "{again:?}");
    let endless = tokens.create("x", Scope::Read, Some(Duration::MAX));
    assert!(matches!(endless, Err(TokenError::Ttl)), "{endless:?}");
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let world = World::new();
    world.load().create("phone", Scope::Read, None).unwrap();
    let good = world.text();
    let check = |text: &str, expect: &str| {
        std::fs::write(world.file(), text).unwrap();
        let error = world.try_load().unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
        assert!(error.to_string().contains("tokens.json"), "{error}");
    };
    check("{", "cannot be understood");
    check(&good.replace("\"version\": 1", "\"version\": 2"), "version is 2");
    std::fs::write(world.file(), &good).unwrap();
    std::fs::set_permissions(world.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(world.try_load(), Err(TokenFileError::NotPrivate { mode: 0o644, .. })));
}

#[test]
fn a_change_that_cannot_be_stored_does_not_happen() {
    let world = World::new();
    let tokens = world.load();
    let (info, text) = tokens.create("phone", Scope::Read, None).unwrap();
    // A directory in its place cannot be replaced by a file.
    std::fs::remove_file(world.file()).unwrap();
    std::fs::create_dir(world.file()).unwrap();
    assert!(matches!(tokens.revoke(&info.id), Err(TokenError::Write(_))));
    assert!(matches!(tokens.create("x", Scope::Read, None), Err(TokenError::Write(_))));
    tokens.check(&text.reveal()).unwrap();
    assert_eq!(tokens.list().len(), 1);
}

#[test]
fn a_file_that_cannot_be_used_is_left_as_it_is_and_the_reason_is_told() {
    let world = World::new();
    std::fs::write(world.file(), "nonsense").unwrap();
    std::fs::set_permissions(world.file(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let error = world.try_load().unwrap_err();
    let ids = Arc::new(SeqIds::default());
    let tokens = Tokens::unusable(&world.file(), Arc::clone(&world.clock) as _, ids, &error);
    for refused in [tokens.create("a", Scope::Read, None).map(|_| ()), tokens.revoke("a")] {
        let problem = refused.unwrap_err().to_string();
        assert!(problem.contains("cannot be understood") && problem.contains("move"), "{problem}");
    }
    tokens.flush().unwrap();
    assert_eq!(world.text(), "nonsense");
}

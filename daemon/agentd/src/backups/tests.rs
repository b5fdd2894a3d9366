use agentd_store::conformance::sample::{append, session_id};
use agentd_store::{SalvageSource, SledOptions, SledStore};
use agentd_testkit::FakeClock;

use super::*;

const HOUR_MS: i64 = 3_600_000;
const START_MS: i64 = 1_700_000_000_000;

/// A store, and what makes copies of it.
struct World {
    dir: tempfile::TempDir,
    store: Arc<dyn Store>,
    clock: Arc<FakeClock>,
    control: Control,
    config: watch::Sender<Config>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = SledStore::open(&dir.path().join("store"), SledOptions::default()).unwrap();
        let (config, _) = watch::channel(Config::default());
        let clock = Arc::new(FakeClock::at(START_MS));
        let control = Control::for_tests();
        Self { dir, store: Arc::new(store.store), clock, control, config }
    }

    fn backups_dir(&self) -> PathBuf {
        self.dir.path().join("backups")
    }

    /// Lets this much of the day go by, and the loop look again.
    async fn pass(&self, ms: i64) {
        let backups = Backups {
            store: Arc::clone(&self.store),
            dir: self.backups_dir(),
            clock: Arc::clone(&self.clock) as _,
            config: self.config.subscribe(),
            control: self.control.clone(),
        };
        // The loop has seen the time at which it began; then the day moves on.
        let clock = Arc::clone(&self.clock);
        let move_on = async move {
            tokio::task::yield_now().await;
            clock.advance(ms);
            std::future::pending::<()>().await;
        };
        // The runtime's clock stands still while a copy is being made, and is moved on otherwise.
        let _goes_on = tokio::time::timeout(LOOK_EVERY * 3 / 2, async {
            tokio::join!(biased; backups.run(), move_on)
        })
        .await;
    }

    async fn change(&self, id: u128) {
        self.store.commit(append(session_id(id), 1, 1)).await.unwrap();
    }

    fn ages_h(&self) -> Vec<i64> {
        let now = self.clock.now().0;
        copies(&self.backups_dir())
            .unwrap()
            .iter()
            .map(|copy| (now - copy.at.0) / HOUR_MS)
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_is_made_each_hour_in_which_something_changed() {
    let world = World::new();
    world.change(1).await;
    world.pass(HOUR_MS - 1).await;
    assert_eq!(world.ages_h(), [0; 0], "not yet");
    world.pass(HOUR_MS).await;
    assert_eq!(world.ages_h(), [0]);
    world.pass(HOUR_MS).await;
    assert_eq!(world.ages_h(), [1], "nothing has changed");
    world.change(2).await;
    world.pass(1).await;
    assert_eq!(world.ages_h(), [1, 0]);
    world.change(3).await;
    world.pass(1).await;
    assert_eq!(world.ages_h(), [1, 0], "not twice in an hour");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_makes_no_copy_each_minute_and_the_useful_ones_stay() {
    let world = World::new();
    world.config.send_modify(|config| config.store.backup_keep = 3);
    for id in 1..=3 {
        world.change(id).await;
        world.pass(HOUR_MS).await;
    }
    assert_eq!(world.ages_h(), [2, 1, 0]);
    // All copies are from later now.
    world.clock.set(START_MS - 10 * HOUR_MS);
    world.change(4).await;
    world.pass(HOUR_MS).await;
    assert_eq!(world.ages_h(), [0, -11, -12]);
    for id in 5..=8 {
        world.change(id).await;
        world.pass(60_000).await;
    }
    assert_eq!(world.ages_h(), [0, -10, -11], "not twice in an hour");
    for id in 9..=10 {
        world.change(id).await;
        world.pass(HOUR_MS).await;
    }
    assert_eq!(world.ages_h(), [2, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn the_oldest_copies_go_and_what_others_put_there_stays() {
    let world = World::new();
    world.config.send_modify(|config| config.store.backup_keep = 2);
    let own = world.backups_dir().join("before-the-move");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir(world.backups_dir().join("auto-0000000000001-1.unfinished")).unwrap();
    for id in 1..=4 {
        world.change(id).await;
        world.pass(HOUR_MS).await;
    }
    assert_eq!(world.ages_h(), [1, 0]);
    assert!(own.exists());
    assert_eq!(std::fs::read_dir(world.backups_dir()).unwrap().count(), 3, "no leftover");
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_fails_is_a_warning_until_one_succeeds_and_zero_switches_them_off() {
    let world = World::new();
    world.change(1).await;
    std::fs::write(world.backups_dir(), "in the way").unwrap();
    world.pass(HOUR_MS).await;
    world.pass(HOUR_MS).await;
    let warnings = world.control.warnings();
    assert!(
        warnings.len() == 1 && warnings[0].text.contains("could not be backed up"),
        "{warnings:?}"
    );
    std::fs::remove_file(world.backups_dir()).unwrap();
    world.pass(HOUR_MS).await;
    assert_eq!((world.control.warnings(), world.ages_h()), (Vec::new(), vec![0]));
    world.config.send_modify(|config| config.store.backup_interval_ms = 0);
    world.change(2).await;
    world.pass(2 * HOUR_MS).await;
    assert_eq!(world.ages_h(), [2]);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_can_read_nothing_falls_back_on_the_newest_whole_copy() {
    let world = World::new();
    for id in 1..=2 {
        world.change(id).await;
        world.pass(HOUR_MS).await;
    }
    world.store.close().await.unwrap();
    // One that a stop cut off is newer, and must not win.
    std::fs::create_dir(world.backups_dir().join("auto-9999999999999-9.unfinished")).unwrap();
    let db = world.dir.path().join("store").join("db");
    let length = std::fs::metadata(&db).unwrap().len();
    std::fs::write(&db, vec![0xa5; usize::try_from(length).unwrap()]).unwrap();
    let options = SledOptions { backups: Some(world.backups_dir()), ..SledOptions::default() };
    let opened = SledStore::open(&world.dir.path().join("store"), options).unwrap();
    let salvaged = opened.report.salvage.expect("it was damaged");
    let newest = copies(&world.backups_dir()).unwrap().pop().unwrap().path;
    assert_eq!((salvaged.source, salvaged.sessions), (SalvageSource::Backup(newest), 2));
}

#[test]
fn only_whole_copies_of_the_daemons_own_count() {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "auto-0000000002000-9",
        "auto-0000000010000-12",
        "auto-0000000011000-13.unfinished",
        "auto-x-1",
        "before-the-move",
    ] {
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    let found = copies(dir.path()).unwrap();
    let found: Vec<_> = found.iter().map(|copy| (copy.at.0, copy.commits)).collect();
    assert_eq!(found, [(2_000, 9), (10_000, 12)]);
    assert_eq!(copies(&dir.path().join("none")).unwrap(), []);
}

#[test]
fn a_copy_leaves_room_on_the_disk() {
    let stats = |free_bytes| StoreStats { bytes_on_disk: 1_000, free_bytes, commits: 1 };
    assert!(check_space(&stats(None)).is_ok());
    assert!(check_space(&stats(Some(SPARE_BYTES + 1_000))).is_ok());
    let problem = check_space(&stats(Some(SPARE_BYTES + 999))).unwrap_err();
    assert!(problem.contains("make room"), "{problem}");
}

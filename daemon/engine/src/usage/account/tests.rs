use std::sync::atomic::{AtomicI64, Ordering};

use agentd_domain::{Clock, TimestampMs, Usage};
use agentd_llm::{Price, Prices};
use agentd_store::{Batch, MemoryStore, Store as _};
use tokio::sync::watch;

use super::*;
use crate::config::EngineConfig;
use crate::usage::{Budget, Limit, ledger};

/// A day and a half after the beginning of time.
const NOON: i64 = 36 * 3_600_000;
const DAY: i64 = 24 * 3_600_000;

#[derive(Debug)]
struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(self.0.load(Ordering::Relaxed))
    }
}

struct Bank {
    clock: Arc<SetClock>,
    config: watch::Sender<EngineConfig>,
    spending: Arc<Spending>,
}

impl Bank {
    fn new(budget: Budget) -> Self {
        let clock = Arc::new(SetClock(AtomicI64::new(NOON)));
        let config = watch::Sender::new(EngineConfig { budget, ..EngineConfig::default() });
        let spending = Arc::new(Spending::new(Arc::<SetClock>::clone(&clock), config.subscribe()));
        Self { clock, config, spending }
    }

    fn account(&self) -> Arc<Account> {
        Arc::new(Account::new(Arc::clone(&self.spending)))
    }
}

fn attempt(prompt_tokens: u64) -> Attempt {
    // A token costs one billionth of a dollar.
    let price = Price::from_usd_per_million(0.001).unwrap();
    let (cache_read, cache_write, long) = (None, None, None);
    Attempt {
        provider: "p",
        model: "m".to_owned(),
        prompt_tokens,
        max_output_tokens: Some(100),
        prices: Some(Prices { prompt: price, completion: price, cache_read, cache_write, long }),
    }
}

fn spent(prompt_tokens: u64, completion_tokens: u64) -> Spent {
    Spent {
        attempt: attempt(prompt_tokens),
        usage: Usage { prompt_tokens, completion_tokens, ..Usage::default() },
        first_byte_ms: 1,
        elapsed_ms: 2,
        error_code: None,
    }
}

/// Makes one request, if it may be made, and gives why not.
fn request(meter: &dyn Meter, prompt: u64, completion: u64) -> Option<String> {
    match meter.admit(&attempt(prompt)) {
        Ok(()) => {
            meter.record(spent(prompt, completion));
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

fn kinds(account: &Account) -> Vec<String> {
    let taken = account.take();
    account.recorded();
    let shown = |(_, body): &(UsagePurpose, EventBody)| match body {
        EventBody::Notice(notice) => notice.text.clone(),
        body => body.kind().to_owned(),
    };
    taken.iter().map(shown).collect()
}

fn tokens(tokens: u64) -> Limit {
    Limit { tokens, nano_usd: 0 }
}

#[test]
fn a_turn_stops_before_the_request_that_would_pass_its_limit() {
    let bank = Bank::new(Budget { turn: tokens(1_000), ..Budget::default() });
    let account = bank.account();
    let meter = account.meter(UsagePurpose::Turn);
    assert_eq!(request(&*meter, 400, 50), None);
    assert_eq!(request(&*meter, 400, 50), None);
    assert_eq!(
        request(&*meter, 400, 50).as_deref(),
        Some(
            "a limit is reached: budget.turn_tokens allows 1000 tokens in this turn, 900 tokens are used, and this request may use 500 tokens; raise budget.turn_tokens to go on"
        )
    );
    account.begin_turn(Used::default());
    assert_eq!(request(&*meter, 400, 50), None, "the next turn begins anew");
    account.begin_turn(Used { tokens: 900, nano_usd: 0 });
    assert!(request(&*meter, 400, 50).is_some(), "a turn that goes on does not");
}

#[test]
fn sessions_at_once_cannot_pass_the_limit_of_the_day_together() {
    let bank = Bank::new(Budget { day: tokens(1_000), ..Budget::default() });
    let (one, two, three) = (bank.account(), bank.account(), bank.account());
    let [one, two, three] = [one, two, three].map(|account| account.meter(UsagePurpose::Turn));
    assert!(one.admit(&attempt(400)).is_ok());
    assert!(two.admit(&attempt(400)).is_ok());
    let refused = three.admit(&attempt(1)).unwrap_err().to_string();
    assert!(refused.contains("requests under way may use 1000 tokens"), "{refused}");
    // What was set aside and not used is there for others.
    one.record(spent(400, 3));
    assert!(three.admit(&attempt(1)).is_err(), "403 used, 500 under way, 101 more");
    two.record(spent(400, 3));
    assert!(three.admit(&attempt(94)).is_ok());
}

#[test]
fn all_that_a_limited_answer_may_have_is_set_aside_where_there_is_room() {
    let bank = Bank::new(Budget { day: tokens(20_000), ..Budget::default() });
    let [one, two, three] =
        [(); 3].map(|()| bank.account()).map(|account| account.meter(UsagePurpose::Turn));
    let long = |max_output_tokens| Attempt { max_output_tokens, ..attempt(1_000) };
    assert!(one.admit(&long(Some(8_000))).is_ok(), "9,000 of 20,000");
    assert!(two.admit(&long(Some(64_000))).is_ok(), "the other 11,000");
    let refused = three.admit(&attempt(1)).unwrap_err().to_string();
    assert!(refused.contains("requests under way may use 20000 tokens"), "{refused}");
    drop((one, two));
    // Without a limit of its own, an answer has what answers usually have.
    let [one, two] =
        [(); 2].map(|()| bank.account()).map(|account| account.meter(UsagePurpose::Turn));
    assert!(one.admit(&long(None)).is_ok());
    drop(three);
    let refused = two.admit(&Attempt { prompt_tokens: 15_000, ..long(None) });
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("requests under way may use 5096 tokens"), "{refused}");
}

#[test]
fn it_is_said_once_a_session_that_a_model_without_prices_does_not_count_in_dollars() {
    let usd = Limit { tokens: 0, nano_usd: 1_000_000 };
    let unpriced = |account: &Arc<Account>| {
        let meter = account.meter(UsagePurpose::Turn);
        let attempt = Attempt { prices: None, ..attempt(10) };
        assert!(meter.admit(&attempt).is_ok());
        meter.record(Spent { attempt, ..spent(10, 1) });
        kinds(account)
    };
    let bank = Bank::new(Budget { day: usd, ..Budget::default() });
    let account = bank.account();
    let told = unpriced(&account);
    assert_eq!(told.len(), 2);
    assert!(told[1].starts_with("what m costs is not known"), "{told:?}");
    assert_eq!(unpriced(&account), ["usage_recorded"], "told already");
    assert_eq!(unpriced(&bank.account()).len(), 2, "another session");
    let free = Bank::new(Budget { day: tokens(1_000), ..Budget::default() });
    assert_eq!(unpriced(&free.account()), ["usage_recorded"], "no limit in dollars");
}

#[test]
fn what_is_set_aside_comes_back_when_a_request_is_never_told_of() {
    let bank = Bank::new(Budget { day: tokens(500), session: tokens(500), ..Budget::default() });
    let account = bank.account();
    let meter = account.meter(UsagePurpose::Turn);
    assert!(meter.admit(&attempt(400)).is_ok());
    assert!(account.meter(UsagePurpose::Turn).admit(&attempt(400)).is_err());
    drop(meter);
    assert!(account.meter(UsagePurpose::Turn).admit(&attempt(400)).is_ok());
}

#[test]
fn a_new_day_and_a_new_limit_count_at_once() {
    let bank = Bank::new(Budget { day: tokens(1_000), ..Budget::default() });
    let meter = bank.account().meter(UsagePurpose::Turn);
    assert_eq!(request(&*meter, 800, 50), None);
    assert!(request(&*meter, 800, 50).is_some());
    bank.clock.0.fetch_add(DAY / 2, Ordering::Relaxed);
    assert_eq!(request(&*meter, 800, 50), None, "it is midnight UTC");
    assert!(request(&*meter, 800, 50).is_some());
    bank.config.send_modify(|config| config.budget.day = tokens(2_000));
    assert_eq!(request(&*meter, 800, 50), None, "the limit was raised");
    bank.clock.0.fetch_sub(DAY, Ordering::Relaxed);
    assert_eq!(bank.spending.used_today(BudgetScope::Day).tokens, 850, "a clock set back");
}

#[test]
fn background_work_has_a_limit_of_its_own_and_counts_for_the_day() {
    let budget = Budget { background_day: tokens(200), day: tokens(10_000), ..Budget::default() };
    let bank = Bank::new(budget);
    let account = bank.account();
    let title = account.meter(UsagePurpose::Title);
    assert_eq!(request(&*title, 90, 10), None);
    let refused = request(&*title, 90, 10).expect("a refusal");
    assert!(refused.contains("raise budget.background_day_tokens"), "{refused}");
    assert_eq!(request(&*account.meter(UsagePurpose::Turn), 900, 100), None);
    assert_eq!(bank.spending.used_today(BudgetScope::Day).tokens, 1_100);
    assert_eq!(bank.spending.used_today(BudgetScope::BackgroundDay).tokens, 100);
}

#[test]
fn money_is_limited_as_tokens_are() {
    let session = Limit { tokens: 0, nano_usd: 1_000 };
    let account = Bank::new(Budget { session, ..Budget::default() }).account();
    let meter = account.meter(UsagePurpose::Turn);
    assert_eq!(request(&*meter, 700, 100), None);
    let refused = request(&*meter, 200, 0).expect("a refusal");
    assert!(refused.contains("budget.session_usd allows $0.0000010 in this session"), "{refused}");
}

#[test]
fn users_are_warned_once_at_four_fifths_of_each_limit() {
    let budget = Budget {
        turn: tokens(1_000),
        session: tokens(2_000),
        day: tokens(2_500),
        ..Budget::default()
    };
    let bank = Bank::new(budget);
    let account = bank.account();
    let meter = account.meter(UsagePurpose::Turn);
    let warning =
        |percent, used, of: &str| format!("{percent} % of a limit are used: {used} tokens of {of}");
    let turn = |used: u64, percent| {
        warning(percent, used, "1000 tokens in this turn (budget.turn_tokens)")
    };
    assert_eq!(request(&*meter, 799, 0), None);
    assert_eq!(kinds(&account), ["usage_recorded"]);
    assert_eq!(request(&*meter, 1, 0), None);
    assert_eq!(kinds(&account), ["usage_recorded".to_owned(), turn(800, 80)]);
    assert_eq!(request(&*meter, 50, 0), None);
    assert_eq!(kinds(&account), ["usage_recorded"], "told already");
    account.begin_turn(Used::default());
    assert_eq!(request(&*meter, 850, 0), None);
    let session = warning(85, 1_700, "2000 tokens in this session (budget.session_tokens)");
    assert_eq!(kinds(&account), ["usage_recorded".to_owned(), turn(850, 85), session]);
    let other = bank.account();
    let meter = other.meter(UsagePurpose::Turn);
    assert_eq!(request(&*meter, 400, 0), None);
    let day = warning(84, 2_100, "2500 tokens today (UTC) (budget.day_tokens)");
    assert_eq!(kinds(&other), ["usage_recorded".to_owned(), day]);
    assert_eq!(request(&*meter, 10, 0), None);
    assert_eq!(kinds(&other), ["usage_recorded"], "told already");
}

#[test]
fn what_could_not_be_recorded_is_recorded_the_next_time() {
    let account = Bank::new(Budget::default()).account();
    let meter = account.meter(UsagePurpose::Turn);
    request(&*meter, 1, 0);
    assert_eq!(account.take().len(), 1);
    request(&*meter, 2, 0);
    account.not_recorded();
    request(&*meter, 3, 0);
    let prompts: Vec<u64> = account
        .take()
        .iter()
        .map(|(_, body)| match body {
            EventBody::UsageRecorded(recorded) => recorded.usage.prompt_tokens,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(prompts, [1, 2, 3]);
    account.recorded();
    assert_eq!(account.take(), []);
}

#[test]
fn the_offline_engine_and_attempts_without_an_answer_use_nothing() {
    let account = Bank::new(Budget { day: tokens(1), ..Budget::default() }).account();
    let meter = account.meter(UsagePurpose::Turn);
    let offline = Attempt { provider: "offline", ..attempt(9) };
    assert!(meter.admit(&offline).is_ok());
    meter.record(Spent { attempt: offline, ..spent(9, 9) });
    let free = Bank::new(Budget::default()).account();
    request(&*free.meter(UsagePurpose::Turn), 0, 0);
    assert_eq!((account.take(), free.take()), (vec![], vec![]));
}

#[tokio::test]
async fn after_a_restart_the_day_begins_with_what_the_ledger_says() {
    let budget = Budget { day: tokens(1_000), ..Budget::default() };
    let bank = Bank::new(budget);
    let account = bank.account();
    assert_eq!(request(&*account.meter(UsagePurpose::Title), 10, 5), None);
    assert_eq!(request(&*account.meter(UsagePurpose::Turn), 850, 50), None);
    let store = MemoryStore::new();
    let at = bank.clock.now();
    for (seq, (_, body)) in account.take().into_iter().enumerate() {
        let seq = agentd_domain::Seq(seq as u64 + 1);
        let event = agentd_domain::Event { seq, at, turn_id: None, body };
        let writes: Vec<_> = ledger::writes(&[event]).collect();
        store.commit(Batch::from(writes)).await.unwrap();
    }

    let after = Bank::new(budget);
    after.spending.load(&store).await.unwrap();
    after.spending.load(&store).await.unwrap();
    assert_eq!(after.spending.used_today(BudgetScope::Day).tokens, 915);
    assert_eq!(after.spending.used_today(BudgetScope::BackgroundDay).tokens, 15);
    let account = after.account();
    let meter = account.meter(UsagePurpose::Turn);
    assert!(request(&*meter, 10, 0).is_some());
    let small = Attempt { max_output_tokens: Some(10), ..attempt(10) };
    assert!(meter.admit(&small).is_ok());
    meter.record(Spent { attempt: small, ..spent(10, 1) });
    assert_eq!(kinds(&account), ["usage_recorded"], "the warning was told before the restart");
}

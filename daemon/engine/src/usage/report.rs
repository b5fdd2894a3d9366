//! Reading the sums.

use std::collections::HashMap;

use agentd_domain::{Day, EventBody, SessionId, UsageSum};
use agentd_store::SessionCursor;

use super::{BudgetScope, Limit, Used, ledger};
use crate::engine::Engine;
use crate::error::CommandError;
use crate::session::for_each_event;

/// Most rows of a report.
pub const MAX_USAGE_ROWS: usize = 1_000;
/// Sessions that are read at once.
const SESSION_PAGE: usize = 500;

/// Which sums are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageQuery {
    /// What a row stands for.
    pub group_by: UsageGrouping,
    /// First day.
    pub from: Day,
    /// Last day.
    pub to: Day,
    /// Only this session's requests.
    pub session_id: Option<SessionId>,
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageGrouping {
    /// A day.
    Day,
    /// A model.
    Model,
    /// A session that changed on one of the days, with the sums of its whole life.
    Session,
    /// A purpose.
    Purpose,
}

/// Sums.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// At most [`MAX_USAGE_ROWS`]: days (the newest, in order), purposes by name, models and sessions by
    /// what they cost.
    pub rows: Vec<UsageRow>,
    /// The sum of all, also of rows that did not fit.
    pub total: UsageSum,
}

/// Sums of several requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// A date, a model, a session's id, or a purpose.
    pub key: String,
    /// The sums.
    pub sum: UsageSum,
    /// Title of the session, when a row stands for one.
    pub title: String,
}

/// A limit, and how far it is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetStatus {
    /// What it is for.
    pub scope: BudgetScope,
    /// The limit.
    pub limit: Limit,
    /// What is used today, where the scope is a day.
    pub used: Used,
}

impl Engine {
    /// Sums up what model requests used.
    ///
    /// # Errors
    /// When the session does not exist or the store cannot be read.
    pub async fn usage(&self, query: &UsageQuery) -> Result<UsageReport, CommandError> {
        let mut report = match (query.session_id, query.group_by) {
            (Some(id), UsageGrouping::Session) => self.one_session(id).await?,
            (Some(id), _) => self.of_log(id, query).await?,
            (None, UsageGrouping::Session) => self.by_session(query).await?,
            (None, _) => self.of_ledger(query).await?,
        };
        order(&mut report.rows, query.group_by);
        Ok(report)
    }

    /// The limits in force, and how far those of the day are used up.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn budgets(&self) -> Result<Vec<BudgetStatus>, CommandError> {
        let deps = self.deps();
        deps.spending.load(&*deps.store).await?;
        let budget = deps.spending.budget();
        let of_scope = |scope| BudgetStatus {
            scope,
            limit: budget.limit(scope),
            used: match scope {
                BudgetScope::Turn | BudgetScope::Session => Used::default(),
                BudgetScope::Day | BudgetScope::BackgroundDay => deps.spending.used_today(scope),
            },
        };
        Ok(BudgetScope::ALL.into_iter().map(of_scope).collect())
    }

    /// What the requests of today used, from the ledger.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn usage_today(&self) -> Result<UsageSum, CommandError> {
        let today = self.today();
        let query =
            UsageQuery { group_by: UsageGrouping::Day, from: today, to: today, session_id: None };
        Ok(self.usage(&query).await?.total)
    }

    /// The day that it is (UTC).
    pub fn today(&self) -> Day {
        self.deps().spending.today()
    }

    async fn of_ledger(&self, query: &UsageQuery) -> Result<UsageReport, CommandError> {
        let mut sums = Sums::default();
        ledger::read(&*self.deps().store, (query.from, query.to), |entry| {
            let key = match query.group_by {
                UsageGrouping::Day | UsageGrouping::Session => entry.day.to_string(),
                UsageGrouping::Model => entry.model,
                UsageGrouping::Purpose => entry.purpose,
            };
            sums.add(key, &entry.sum);
        })
        .await?;
        Ok(sums.report())
    }

    /// The requests of one session, from its log.
    async fn of_log(&self, id: SessionId, query: &UsageQuery) -> Result<UsageReport, CommandError> {
        let store = &*self.deps().store;
        if store.session(id).await?.is_none() {
            return Err(CommandError::NoSession(id));
        }
        let mut sums = Sums::default();
        for_each_event(store, id, agentd_domain::Seq(1), |event| {
            let EventBody::UsageRecorded(recorded) = &event.body else { return };
            let day = Day::of(event.at);
            if day < query.from || day > query.to {
                return;
            }
            let key = match query.group_by {
                UsageGrouping::Day | UsageGrouping::Session => day.to_string(),
                UsageGrouping::Model => recorded.model.clone(),
                UsageGrouping::Purpose => recorded.purpose.as_str().to_owned(),
            };
            let mut sum = UsageSum::default();
            sum.add(&recorded.usage, &recorded.cost);
            sums.add(key, &sum);
        })
        .await?;
        Ok(sums.report())
    }

    /// One session, with the turn that runs.
    async fn one_session(&self, id: SessionId) -> Result<UsageReport, CommandError> {
        let record = self.view(id).await?.record;
        let total = record.usage_sum();
        let row = UsageRow { key: id.to_string(), sum: total, title: record.title };
        Ok(UsageReport { rows: vec![row], total })
    }

    /// The index is in the order of the last change, so it is read from the newest down to the range.
    async fn by_session(&self, query: &UsageQuery) -> Result<UsageReport, CommandError> {
        let mut report = UsageReport::default();
        let mut from: Option<SessionCursor> = None;
        loop {
            let page = self.deps().store.sessions(from, SESSION_PAGE).await?;
            for record in &page.sessions {
                let day = Day::of(record.updated_at);
                let sum = record.usage_sum();
                if day < query.from || day > query.to || sum == UsageSum::default() {
                    continue;
                }
                report.total.add_all(&sum);
                let (key, title) = (record.session_id.to_string(), record.title.clone());
                report.rows.push(UsageRow { key, sum, title });
            }
            if report.rows.len() > 2 * MAX_USAGE_ROWS {
                order(&mut report.rows, UsageGrouping::Session);
            }
            let is_past =
                page.sessions.last().is_some_and(|record| Day::of(record.updated_at) < query.from);
            match page.next {
                Some(next) if !is_past => from = Some(next),
                _ => return Ok(report),
            }
        }
    }
}

/// Sums by key.
#[derive(Default)]
struct Sums {
    by_key: HashMap<String, UsageSum>,
    total: UsageSum,
}

impl Sums {
    fn add(&mut self, key: String, sum: &UsageSum) {
        self.by_key.entry(key).or_default().add_all(sum);
        self.total.add_all(sum);
    }

    fn report(self) -> UsageReport {
        let rows = self.by_key.into_iter();
        let row = |(key, sum)| UsageRow { key, sum, title: String::new() };
        UsageReport { rows: rows.map(row).collect(), total: self.total }
    }
}

/// Puts rows in order and leaves out those that do not fit.
fn order(rows: &mut Vec<UsageRow>, group_by: UsageGrouping) {
    match group_by {
        UsageGrouping::Day => {
            rows.sort_by(|a, b| a.key.cmp(&b.key));
            let old = rows.len().saturating_sub(MAX_USAGE_ROWS);
            rows.drain(..old);
        }
        UsageGrouping::Purpose => rows.sort_by(|a, b| a.key.cmp(&b.key)),
        UsageGrouping::Model | UsageGrouping::Session => rows.sort_by(|a, b| {
            let weight = |row: &UsageRow| (row.sum.cost.nano_usd, row.sum.tokens());
            weight(b).cmp(&weight(a)).then_with(|| a.key.cmp(&b.key))
        }),
    }
    rows.truncate(MAX_USAGE_ROWS);
}

//! The limits, and what passing one means.

use std::fmt;

use agentd_domain::{Cost, Usage, UsagePurpose, UsageSum};

/// What may be used. All zeros: as much as wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Each turn.
    pub turn: Limit,
    /// Each session, over its whole life.
    pub session: Limit,
    /// Each day (UTC), all sessions together.
    pub day: Limit,
    /// Background work of each day, such as titles. It counts for the day as well.
    pub background_day: Limit,
}

impl Budget {
    /// Whether a limit in US dollars holds for requests of this purpose.
    pub(crate) fn limits_cost(&self, purpose: UsagePurpose) -> bool {
        BudgetScope::ALL
            .into_iter()
            .any(|scope| scope.covers(purpose) && self.limit(scope).nano_usd > 0)
    }

    /// The limit for something.
    pub fn limit(&self, scope: BudgetScope) -> Limit {
        match scope {
            BudgetScope::Turn => self.turn,
            BudgetScope::Session => self.session,
            BudgetScope::Day => self.day,
            BudgetScope::BackgroundDay => self.background_day,
        }
    }
}

/// What a limit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BudgetScope {
    /// Each turn.
    Turn,
    /// Each session.
    Session,
    /// Each day (UTC).
    Day,
    /// Background work of each day.
    BackgroundDay,
}

impl BudgetScope {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 4] = [Self::Turn, Self::Session, Self::Day, Self::BackgroundDay];

    /// True when requests of this purpose count for it.
    pub(crate) fn covers(self, purpose: UsagePurpose) -> bool {
        match self {
            Self::Turn => !purpose.is_background(),
            Self::Session | Self::Day => true,
            Self::BackgroundDay => purpose.is_background(),
        }
    }

    /// The beginning of its keys in the configuration.
    fn key(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
            Self::Day => "day",
            Self::BackgroundDay => "background_day",
        }
    }

    fn period(self) -> &'static str {
        match self {
            Self::Turn => "in this turn",
            Self::Session => "in this session",
            Self::Day => "today (UTC)",
            Self::BackgroundDay => "by background work today (UTC)",
        }
    }
}

/// A limit. Zeros: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limit {
    /// Most tokens of requests and answers together.
    pub tokens: u64,
    /// Most cost, in billionths of a US dollar.
    pub nano_usd: u64,
}

/// What was used, or will be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Tokens of requests and answers together.
    pub tokens: u64,
    /// Cost in billionths of a US dollar. Models without known prices add nothing.
    pub nano_usd: u64,
}

impl Used {
    pub(crate) fn of(usage: &Usage, cost: &Cost) -> Self {
        Self { tokens: usage.tokens(), nano_usd: cost.nano_usd }
    }

    pub(crate) fn of_sum(sum: &UsageSum) -> Self {
        Self { tokens: sum.tokens(), nano_usd: sum.cost.nano_usd }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.nano_usd = self.nano_usd.saturating_add(other.nano_usd);
    }

    pub(crate) fn release(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.nano_usd = self.nano_usd.saturating_sub(other.nano_usd);
    }

    fn in_unit(self, unit: Unit) -> u64 {
        match unit {
            Unit::Usd => self.nano_usd,
            Unit::Tokens => self.tokens,
        }
    }
}

/// What a request may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needed {
    /// There must be room for it.
    pub(crate) least: Used,
    /// It is set aside as far as there is room.
    pub(crate) most: Used,
}

impl Needed {
    /// The same where no more than that is left.
    pub(crate) fn within(self, left: Used) -> Self {
        let clip = |most: u64, left: u64, least: u64| most.min(left).max(least);
        let most = Used {
            tokens: clip(self.most.tokens, left.tokens, self.least.tokens),
            nano_usd: clip(self.most.nano_usd, left.nano_usd, self.least.nano_usd),
        };
        Self { most, ..self }
    }
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Usd,
    Tokens,
}

impl Unit {
    const ALL: [Self; 2] = [Self::Usd, Self::Tokens];

    fn shown(self, amount: u64) -> String {
        match self {
            Self::Usd => usd(amount),
            Self::Tokens => format!("{amount} tokens"),
        }
    }
}

/// An amount of money, to the cent where that shows something, else to the second digit that counts.
fn usd(nano_usd: u64) -> String {
    let (whole, rest) = (nano_usd / 1_000_000_000, nano_usd % 1_000_000_000);
    let digits = format!("{rest:09}");
    let first = digits.find(|digit| digit != '0').filter(|_| whole == 0).unwrap_or(0);
    let shown = digits.get(..(first + 2).clamp(2, 9)).unwrap_or_default();
    format!("${whole}.{shown}")
}

impl Limit {
    fn in_unit(self, unit: Unit) -> Option<u64> {
        let max = match unit {
            Unit::Usd => self.nano_usd,
            Unit::Tokens => self.tokens,
        };
        (max > 0).then_some(max)
    }

    /// Says why a request may not be made, or what may be set aside for it within this limit.
    pub(crate) fn room(
        self,
        scope: BudgetScope,
        used: Used,
        under_way: Used,
        needed: Needed,
    ) -> Result<Needed, Passed> {
        self.check(scope, used, under_way, needed.least)?;
        let left = |unit| {
            let taken = used.in_unit(unit).saturating_add(under_way.in_unit(unit));
            self.in_unit(unit).map_or(u64::MAX, |max| max.saturating_sub(taken))
        };
        Ok(needed.within(Used { tokens: left(Unit::Tokens), nano_usd: left(Unit::Usd) }))
    }

    /// Says why a request may not be made: with what is used, what other requests under way may still
    /// use, and what this one may, the limit would be passed.
    pub(crate) fn check(
        self,
        scope: BudgetScope,
        used: Used,
        under_way: Used,
        needed: Used,
    ) -> Result<(), Passed> {
        for unit in Unit::ALL {
            let Some(max) = self.in_unit(unit) else { continue };
            let [used, under_way, needed] = [used, under_way, needed].map(|of| of.in_unit(unit));
            let after = used.saturating_add(under_way).saturating_add(needed);
            // A request that costs nothing is still refused where everything is used up.
            if after > max || used >= max {
                return Err(Passed { scope, unit, max, used, under_way, needed });
            }
        }
        Ok(())
    }

    /// The limits of which four fifths are used.
    pub(crate) fn nearly_used(self, scope: BudgetScope, used: Used) -> Vec<Nearly> {
        Unit::ALL
            .into_iter()
            .filter_map(|unit| {
                let (max, used) = (self.in_unit(unit)?, used.in_unit(unit));
                let is_near = u128::from(used) * 100 >= u128::from(max) * WARN_PERCENT;
                is_near.then_some(Nearly { scope, unit, max, used })
            })
            .collect()
    }
}

/// The share of a limit at which users are warned.
const WARN_PERCENT: u128 = 80;

/// A limit that a request would pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passed {
    scope: BudgetScope,
    unit: Unit,
    max: u64,
    used: u64,
    under_way: u64,
    needed: u64,
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, unit, max, used, under_way, needed } = *self;
        let [max, used, needed] = [max, used, needed].map(|amount| unit.shown(amount));
        write!(f, "{} allows {max} {}, {used} are used", key(scope, unit), scope.period())?;
        if under_way > 0 {
            write!(f, ", requests under way may use {}", unit.shown(under_way))?;
        }
        write!(f, ", and this request may use {needed}; raise {} to go on", key(scope, unit))
    }
}

/// A limit of which little is left. Equal ones are told once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nearly {
    scope: BudgetScope,
    unit: Unit,
    max: u64,
    used: u64,
}

impl Nearly {
    /// What makes two of them the same: not how much is used.
    pub(crate) fn identity(self) -> (BudgetScope, Unit, u64) {
        (self.scope, self.unit, self.max)
    }
}

impl fmt::Display for Nearly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, unit, max, used } = *self;
        let percent = u128::from(used) * 100 / u128::from(max);
        write!(
            f,
            "{percent} % of a limit are used: {} of {} {} ({})",
            unit.shown(used),
            unit.shown(max),
            scope.period(),
            key(scope, unit)
        )
    }
}

/// The key of the configuration that holds a limit.
fn key(scope: BudgetScope, unit: Unit) -> String {
    let unit = match unit {
        Unit::Usd => "usd",
        Unit::Tokens => "tokens",
    };
    format!("budget.{}_{unit}", scope.key())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { tokens: 1_000, nano_usd: 2_000_000_000 };

    fn used(tokens: u64, nano_usd: u64) -> Used {
        Used { tokens, nano_usd }
    }

    #[test]
    fn a_request_that_would_pass_a_limit_is_refused_with_the_figures_and_the_key() {
        let check = |used, under_way, needed, expect: Result<(), &str>| {
            let result = LIMIT.check(BudgetScope::Day, used, under_way, needed);
            assert_eq!(result.map_err(|passed| passed.to_string()), expect.map_err(str::to_owned));
        };
        check(used(0, 0), used(0, 0), used(1_000, 2_000_000_000), Ok(()));
        check(used(400, 0), used(300, 0), used(300, 0), Ok(()));
        check(
            used(400, 0),
            used(300, 0),
            used(301, 0),
            Err(
                "budget.day_tokens allows 1000 tokens today (UTC), 400 tokens are used, requests under way may use 300 tokens, and this request may use 301 tokens; raise budget.day_tokens to go on",
            ),
        );
        check(
            used(0, 1_990_000_000),
            used(0, 0),
            used(0, 10_000_001),
            Err(
                "budget.day_usd allows $2.00 today (UTC), $1.99 are used, and this request may use $0.010; raise budget.day_usd to go on",
            ),
        );
        let free = LIMIT.check(BudgetScope::Turn, used(1_000, 0), used(0, 0), used(0, 0));
        assert!(free.is_err(), "nothing is left");
    }

    #[test]
    fn without_limits_everything_is_allowed() {
        let most = used(u64::MAX, u64::MAX);
        for scope in BudgetScope::ALL {
            let none = Budget::default().limit(scope);
            assert_eq!(none.check(scope, most, most, most), Ok(()));
            assert!(none.nearly_used(scope, most).is_empty());
        }
    }

    #[test]
    fn a_limit_is_nearly_used_from_four_fifths_on() {
        let check = |tokens, nano_usd, expect: &[&str]| {
            let nearly = LIMIT.nearly_used(BudgetScope::Session, used(tokens, nano_usd));
            let texts: Vec<_> = nearly.iter().map(ToString::to_string).collect();
            assert_eq!(texts, expect);
        };
        check(799, 1_599_999_999, &[]);
        check(
            800,
            0,
            &[
                "80 % of a limit are used: 800 tokens of 1000 tokens in this session (budget.session_tokens)",
            ],
        );
        check(
            0,
            1_700_000_000,
            &["85 % of a limit are used: $1.70 of $2.00 in this session (budget.session_usd)"],
        );
    }

    #[test]
    fn small_amounts_show_what_counts() {
        let check = |nano_usd, expect: &str| assert_eq!(usd(nano_usd), expect);
        check(0, "$0.00");
        check(12_345_678_901, "$12.34");
        check(340_000_000, "$0.34");
        check(34_567_000, "$0.034");
        check(56_789, "$0.000056");
        check(5, "$0.000000005");
    }
}

//! `[budget]`: what may be used before requests are refused.

use agentd_engine::{Budget, Limit};
use serde::{Deserialize, Serialize};

/// `[budget]`. 0 means no limit everywhere. Money is in US dollars; models without known prices add
/// nothing to it, so limit their tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetConfig {
    /// Most cost of a turn.
    pub turn_usd: f64,
    /// Most tokens of a turn, requests and answers together.
    pub turn_tokens: u64,
    /// Most cost of a session over its whole life.
    pub session_usd: f64,
    /// Most tokens of a session over its whole life.
    pub session_tokens: u64,
    /// Most cost of a day (UTC), all sessions together.
    pub day_usd: f64,
    /// Most tokens of a day.
    pub day_tokens: u64,
    /// Most cost of background work, such as titles, on a day.
    pub background_day_usd: f64,
    /// Most tokens of background work on a day.
    pub background_day_tokens: u64,
}

/// The largest amount of money that is a limit.
const MAX_USD: f64 = 1_000_000.0;

impl BudgetConfig {
    /// The first amount of money that is none, with its key.
    pub(super) fn bad_amount(&self) -> Option<(&'static str, String)> {
        [
            ("budget.turn_usd", self.turn_usd),
            ("budget.session_usd", self.session_usd),
            ("budget.day_usd", self.day_usd),
            ("budget.background_day_usd", self.background_day_usd),
        ]
        .into_iter()
        .find(|(_, usd)| !(0.0..=MAX_USD).contains(usd))
        .map(|(key, usd)| (key, format!("{usd} is not between 0 and {MAX_USD}")))
    }

    /// The engine's part.
    pub(super) fn engine(&self) -> Budget {
        let Self {
            turn_usd,
            turn_tokens,
            session_usd,
            session_tokens,
            day_usd,
            day_tokens,
            background_day_usd,
            background_day_tokens,
        } = self;
        let limit = |usd: &f64, tokens: &u64| Limit { tokens: *tokens, nano_usd: nano_usd(*usd) };
        Budget {
            turn: limit(turn_usd, turn_tokens),
            session: limit(session_usd, session_tokens),
            day: limit(day_usd, day_tokens),
            background_day: limit(background_day_usd, background_day_tokens),
        }
    }
}

/// US dollars in billionths. A limit that is too small to be one is the smallest there is: 0 would mean
/// that there is none.
fn nano_usd(usd: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked: between 0 and 10^15"
    )]
    let nano_usd = (usd.clamp(0.0, MAX_USD) * 1e9).round() as u64;
    if usd > 0.0 { nano_usd.max(1) } else { nano_usd }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_become_billionths() {
        let check = |usd: f64, expect: u64| assert_eq!(nano_usd(usd), expect, "{usd}");
        check(0.0, 0);
        check(0.1, 100_000_000);
        check(2.5, 2_500_000_000);
        check(1e-12, 1);
        check(MAX_USD, 1_000_000_000_000_000);
    }

    #[test]
    fn each_key_becomes_its_limit() {
        let config = BudgetConfig {
            turn_usd: 1.0,
            turn_tokens: 2,
            session_usd: 3.0,
            session_tokens: 4,
            day_usd: 5.0,
            day_tokens: 6,
            background_day_usd: 7.0,
            background_day_tokens: 8,
        };
        let limit = |usd: u64, tokens| Limit { tokens, nano_usd: usd * 1_000_000_000 };
        let budget = Budget {
            turn: limit(1, 2),
            session: limit(3, 4),
            day: limit(5, 6),
            background_day: limit(7, 8),
        };
        assert_eq!(config.engine(), budget);
        assert_eq!(BudgetConfig::default().engine(), Budget::default());
    }

    #[test]
    fn impossible_amounts_are_named() {
        for usd in [-0.01, f64::NAN, f64::INFINITY, 1e7] {
            let config = BudgetConfig { day_usd: usd, ..BudgetConfig::default() };
            assert_eq!(config.bad_amount().map(|(key, _)| key), Some("budget.day_usd"), "{usd}");
        }
        let config = BudgetConfig { day_usd: 0.01, turn_usd: 1e6, ..BudgetConfig::default() };
        assert_eq!(config.bad_amount(), None);
    }
}

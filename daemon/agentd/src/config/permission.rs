//! `[permission]`: what agents may do without asking.

use agentd_domain::{
    PermissionMode, PermissionRule, RuleEffect, RuleMatcher, RuleScope, TimestampMs,
};
use serde::{Deserialize, Serialize};

use super::schema::BadValue;

/// `[permission]`: what agents may do without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionConfig {
    /// How much, in sessions that are created without saying so.
    pub mode: PermissionMode,
    /// How long a call waits until somebody says whether it may run.
    pub approval_timeout_ms: u64,
    /// Rules that hold in all sessions, beside those that users make.
    pub rules: Vec<ConfiguredRule>,
}

/// A rule of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfiguredRule {
    /// What it says.
    pub effect: RuleEffect,
    /// What about.
    pub about: RuleMatcher,
}

impl Default for PermissionConfig {
    fn default() -> Self {
        Self { mode: PermissionMode::Ask, approval_timeout_ms: 600_000, rules: Vec::new() }
    }
}

impl PermissionConfig {
    pub(super) fn check(&self) -> Result<(), BadValue> {
        for (number, rule) in self.rules.iter().enumerate() {
            agentd_tools::check_rule(&rule.about).map_err(|problem| {
                BadValue::new(format!("permission.rules[{number}].about"), problem)
            })?;
        }
        Ok(())
    }

    /// The rules as the engine knows them.
    pub(super) fn engine_rules(&self) -> Vec<PermissionRule> {
        let rule = |(number, rule): (usize, &ConfiguredRule)| PermissionRule {
            rule_id: format!("config-{number}"),
            effect: rule.effect,
            matcher: rule.about.clone(),
            scope: RuleScope::User,
            by: None,
            at: TimestampMs(0),
        };
        self.rules.iter().enumerate().map(rule).collect()
    }
}

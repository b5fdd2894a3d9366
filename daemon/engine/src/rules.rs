//! Rules of users and workspaces: what holds in more than one session.
//!
//! They are few and asked about before every call, so all of them are in memory. Each change is
//! durable before it holds.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use agentd_domain::{
    Author, PermissionRule, RuleEffect, RuleMatcher, RuleScope, SessionId, TimestampMs,
};
use agentd_store::{Batch, Write};

use crate::engine::Engine;
use crate::error::CommandError;

/// Most rules of users and workspaces together.
pub const MAX_RULES: usize = 1000;

/// A rule to be made.
#[derive(Debug, Clone)]
pub struct NewRule {
    /// What it says.
    pub effect: RuleEffect,
    /// What about.
    pub matcher: RuleMatcher,
    /// Directory of the workspace in which it holds; none: everywhere.
    pub workspace: Option<String>,
    /// Who makes it.
    pub by: Author,
}

/// Which rules are wanted.
#[derive(Debug, Clone, Default)]
pub enum RuleFilter {
    /// All but those of sessions.
    #[default]
    All,
    /// Those that hold in a workspace, by its directory.
    Workspace(String),
    /// Those that hold in a session, its own among them.
    Session(SessionId),
}

/// The rules in memory.
#[derive(Debug, Default)]
pub(crate) struct RuleBook(RwLock<Arc<Vec<PermissionRule>>>);

impl RuleBook {
    pub(crate) fn all(&self) -> Arc<Vec<PermissionRule>> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<PermissionRule>)) {
        let mut rules = self.0.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut rules));
    }

    pub(crate) fn insert(&self, new: Vec<PermissionRule>) {
        self.change(|rules| rules.extend(new));
    }

    /// Those of `matchers` that no rule of the workspace says already, as rules.
    ///
    /// # Errors
    /// When there are too many rules.
    pub(crate) fn missing(
        &self,
        matchers: &[RuleMatcher],
        root: &str,
        by: &Author,
        at: TimestampMs,
        mut id: impl FnMut() -> String,
    ) -> Result<Vec<PermissionRule>, CommandError> {
        let known = self.all();
        let scope = RuleScope::Workspace { root: root.to_owned() };
        let is_known = |matcher: &RuleMatcher| {
            known.iter().any(|rule| {
                rule.effect == RuleEffect::Allow && rule.matcher == *matcher && rule.scope == scope
            })
        };
        let new: Vec<PermissionRule> = matchers
            .iter()
            .filter(|matcher| !is_known(matcher))
            .map(|matcher| PermissionRule {
                rule_id: id(),
                effect: RuleEffect::Allow,
                matcher: matcher.clone(),
                scope: scope.clone(),
                by: Some(by.clone()),
                at,
            })
            .collect();
        if known.len() + new.len() > MAX_RULES {
            return Err(CommandError::TooManyRules { max: MAX_RULES });
        }
        Ok(new)
    }
}

/// True for a rule that holds in the workspace with this root.
pub(crate) fn holds_in(rule: &PermissionRule, root: &str) -> bool {
    match &rule.scope {
        RuleScope::User => true,
        RuleScope::Workspace { root: of } => of == root,
        RuleScope::Session { .. } => false,
    }
}

/// The absolute path without links by which rules know a workspace. One that is gone keeps the path
/// it was given: no rule of another directory holds in it.
pub(crate) async fn root_of(workspace: &Path) -> String {
    let path =
        tokio::fs::canonicalize(workspace).await.unwrap_or_else(|_gone| workspace.to_owned());
    path.to_string_lossy().into_owned()
}

impl Engine {
    /// Reads the rules that were made before.
    pub(crate) async fn load_rules(&self) -> Result<(), CommandError> {
        let stored = self.deps().store.rules().await?;
        self.deps().rules.change(|rules| *rules = stored);
        Ok(())
    }

    /// The rules that hold, those of the configuration first.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be read.
    pub async fn rules(&self, filter: &RuleFilter) -> Result<Vec<PermissionRule>, CommandError> {
        let (root, own) = match filter {
            RuleFilter::All => (None, Vec::new()),
            RuleFilter::Workspace(directory) => {
                (Some(root_of(Path::new(directory)).await), Vec::new())
            }
            RuleFilter::Session(id) => {
                let view = self.view(*id).await?;
                (Some(root_of(Path::new(&view.record.workspace)).await), view.rules)
            }
        };
        let configured = Arc::clone(&self.deps().config.borrow().rules);
        let stored = self.deps().rules.all();
        let wanted = |rule: &&PermissionRule| root.as_ref().is_none_or(|root| holds_in(rule, root));
        Ok(configured.iter().chain(stored.iter()).filter(wanted).cloned().chain(own).collect())
    }

    /// Makes a rule, or returns the one that says the same already.
    ///
    /// # Errors
    /// When the workspace is no directory, there are too many rules, or the store fails.
    pub async fn add_rule(&self, new: NewRule) -> Result<PermissionRule, CommandError> {
        let NewRule { effect, matcher, workspace, by } = new;
        let scope = match workspace {
            None => RuleScope::User,
            Some(directory) => {
                crate::engine::check_workspace(&directory).await?;
                RuleScope::Workspace { root: root_of(Path::new(&directory)).await }
            }
        };
        let deps = self.deps();
        let known = deps.rules.all();
        let same = |rule: &&PermissionRule| {
            rule.effect == effect && rule.matcher == matcher && rule.scope == scope
        };
        if let Some(rule) = known.iter().find(same) {
            return Ok(rule.clone());
        }
        if known.len() >= MAX_RULES {
            return Err(CommandError::TooManyRules { max: MAX_RULES });
        }
        let at = deps.clock.now();
        let rule_id = deps.ids.item_id(at).to_string();
        let rule = PermissionRule { rule_id, effect, matcher, scope, by: Some(by), at };
        deps.store.commit(Batch::of(Write::PutRule(rule.clone()))).await?;
        deps.rules.insert(vec![rule.clone()]);
        Ok(rule)
    }

    /// Takes a rule back: one of users and workspaces, or one of the session named.
    ///
    /// # Errors
    /// When there is no such rule, it belongs to the configuration, or the store fails.
    pub async fn delete_rule(
        &self,
        rule_id: &str,
        session: Option<SessionId>,
        by: &Author,
    ) -> Result<(), CommandError> {
        let deps = self.deps();
        if deps.config.borrow().rules.iter().any(|rule| rule.rule_id == rule_id) {
            return Err(CommandError::ConfiguredRule(rule_id.to_owned()));
        }
        if deps.rules.all().iter().any(|rule| rule.rule_id == rule_id) {
            let delete = Write::DeleteRule { rule_id: rule_id.to_owned() };
            deps.store.commit(Batch::of(delete)).await?;
            deps.rules.change(|rules| rules.retain(|rule| rule.rule_id != rule_id));
            return Ok(());
        }
        match session {
            Some(id) => self.revoke_rule(id, rule_id, by).await,
            None => Err(CommandError::NoRule(rule_id.to_owned())),
        }
    }
}

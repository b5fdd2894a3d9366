//! Rules of users and workspaces: what holds in more than one session.
//!
//! They are few and asked about before every call, so all of them are in memory. Each change is
//! durable before it holds.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use agentd_domain::{
    Author, PermissionRule, RuleEffect, RuleMatcher, RuleScope, SessionId, TimestampMs,
};
use agentd_store::{Batch, ReadError, Store, Write};
use tokio::sync::{Semaphore, SemaphorePermit};

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
#[derive(Debug)]
pub(crate) struct RuleBook {
    /// None until they have been read.
    known: RwLock<Option<Arc<Vec<PermissionRule>>>>,
    /// One permit: held from the look at the rules to the change in memory, so that neither two
    /// changes nor a change and the first reading come between each other.
    changing: Semaphore,
}

impl Default for RuleBook {
    fn default() -> Self {
        Self { known: RwLock::default(), changing: Semaphore::new(1) }
    }
}

/// What is known while nobody else changes it.
pub(crate) struct Change<'a> {
    pub(crate) known: Arc<Vec<PermissionRule>>,
    // None only of a semaphore that was closed, which nobody does.
    _alone: Option<SemaphorePermit<'a>>,
}

impl RuleBook {
    /// All of them, read from the store the first time.
    ///
    /// # Errors
    /// When they cannot be read. No rule is known then, those that forbid among them.
    pub(crate) async fn all(
        &self,
        store: &dyn Store,
    ) -> Result<Arc<Vec<PermissionRule>>, ReadError> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        Ok(self.begin_change(store).await?.known)
    }

    /// The same, for whoever changes them: nobody else does until it is dropped.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) async fn begin_change(&self, store: &dyn Store) -> Result<Change<'_>, ReadError> {
        let alone = self.changing.acquire().await.ok();
        let known = if let Some(known) = self.known() {
            known
        } else {
            let stored = Arc::new(store.rules().await?);
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.insert(stored))
        };
        Ok(Change { known, _alone: alone })
    }

    fn known(&self) -> Option<Arc<Vec<PermissionRule>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut Vec<PermissionRule>)) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known.as_mut() {
            change(Arc::make_mut(rules));
        }
    }

    /// Adds rules that are durable. The caller has begun the change.
    pub(crate) fn insert(&self, new: Vec<PermissionRule>) {
        self.change(|rules| rules.extend(new));
    }
}

/// Those of `matchers` that no rule of the workspace says already, as rules that allow.
///
/// # Errors
/// When there are too many rules.
pub(crate) fn missing(
    known: &[PermissionRule],
    matchers: &[RuleMatcher],
    root: &str,
    by: &Author,
    at: TimestampMs,
    mut id: impl FnMut() -> String,
) -> Result<Vec<PermissionRule>, CommandError> {
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

/// True for a rule that holds in the workspace with this root. What a workspace forbids or asks for
/// holds below it too, so that a session there does not get round it; globs are about the paths of
/// their own workspace.
pub(crate) fn holds_in(rule: &PermissionRule, root: &str) -> bool {
    match &rule.scope {
        RuleScope::User => true,
        RuleScope::Workspace { root: of } => {
            let is_strict = rule.effect != RuleEffect::Allow
                && !matches!(rule.matcher, RuleMatcher::Path { .. });
            of == root || (is_strict && Path::new(root).starts_with(of))
        }
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
    /// The rules that hold, those of the configuration first.
    ///
    /// # Errors
    /// When there is no such session or directory, or the rules cannot be read.
    pub async fn rules(&self, filter: &RuleFilter) -> Result<Vec<PermissionRule>, CommandError> {
        let (root, own) = match filter {
            RuleFilter::All => (None, Vec::new()),
            RuleFilter::Workspace(directory) => {
                crate::engine::check_workspace(directory).await?;
                (Some(root_of(Path::new(directory)).await), Vec::new())
            }
            RuleFilter::Session(id) => {
                let view = self.view(*id).await?;
                (Some(root_of(Path::new(&view.record.workspace)).await), view.rules)
            }
        };
        let configured = Arc::clone(&self.deps().config.borrow().rules);
        let stored = self.deps().rules.all(&*self.deps().store).await?;
        let wanted = |rule: &&PermissionRule| root.as_ref().is_none_or(|root| holds_in(rule, root));
        Ok(configured.iter().chain(stored.iter()).filter(wanted).cloned().chain(own).collect())
    }

    /// Makes a rule, or returns the one that says the same already.
    ///
    /// # Errors
    /// When the workspace is no directory, there are too many rules, or the store fails.
    ///
    /// # Cancel safety
    /// None: a rule may be durable and not hold. Run it in a task of its own.
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
        let change = deps.rules.begin_change(&*deps.store).await?;
        let same = |rule: &&PermissionRule| {
            rule.effect == effect && rule.matcher == matcher && rule.scope == scope
        };
        if let Some(rule) = change.known.iter().find(same) {
            return Ok(rule.clone());
        }
        if change.known.len() >= MAX_RULES {
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
    ///
    /// # Cancel safety
    /// As of [`Self::add_rule`].
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
        let change = deps.rules.begin_change(&*deps.store).await?;
        if change.known.iter().any(|rule| rule.rule_id == rule_id) {
            let delete = Write::DeleteRule { rule_id: rule_id.to_owned() };
            deps.store.commit(Batch::of(delete)).await?;
            deps.rules.change(|rules| rules.retain(|rule| rule.rule_id != rule_id));
            return Ok(());
        }
        drop(change);
        match session {
            Some(id) => self.revoke_rule(id, rule_id, by).await,
            None => Err(CommandError::NoRule(rule_id.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use agentd_domain::PathAccess;

    use super::*;

    #[test]
    fn what_a_workspace_forbids_holds_below_it_and_what_it_allows_does_not() {
        let check = |effect, matcher: RuleMatcher, of: &str, root: &str, expect: bool| {
            let scope = RuleScope::Workspace { root: of.to_owned() };
            let at = TimestampMs(0);
            let rule =
                PermissionRule { rule_id: "r".to_owned(), effect, matcher, scope, by: None, at };
            assert_eq!(holds_in(&rule, root), expect, "{rule:?} in {root}");
        };
        let tool = || RuleMatcher::Tool { name: "t".to_owned() };
        let glob = || RuleMatcher::Path { glob: "a/**".to_owned(), access: PathAccess::Write };
        check(RuleEffect::Deny, tool(), "/p", "/p", true);
        check(RuleEffect::Deny, tool(), "/p", "/p/sub", true);
        check(RuleEffect::Ask, tool(), "/p", "/p/sub/deep", true);
        check(RuleEffect::Deny, tool(), "/p", "/project", false);
        check(RuleEffect::Deny, tool(), "/p/sub", "/p", false);
        check(RuleEffect::Allow, tool(), "/p", "/p/sub", false);
        check(RuleEffect::Deny, glob(), "/p", "/p/sub", false);
        check(RuleEffect::Deny, glob(), "/p", "/p", true);
    }
}

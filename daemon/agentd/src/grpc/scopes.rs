//! What each call needs: the one table.

use crate::access::Scope;

/// The scope of each method by its path. A method without a line is for nobody but the local user, and
/// a test fails.
const SCOPES: &[(&str, Scope)] = &[
    ("/agentd.v1.SessionService/CreateSession", Scope::Chat),
    ("/agentd.v1.SessionService/GetSession", Scope::Read),
    ("/agentd.v1.SessionService/ListSessions", Scope::Read),
    ("/agentd.v1.SessionService/UpdateSession", Scope::Chat),
    // What is deleted is gone for everybody.
    ("/agentd.v1.SessionService/DeleteSession", Scope::Admin),
    ("/agentd.v1.SessionService/ForkSession", Scope::Chat),
    ("/agentd.v1.SessionService/ExportSession", Scope::Read),
    ("/agentd.v1.SessionService/ImportSession", Scope::Chat),
    ("/agentd.v1.SessionService/WatchSessions", Scope::Read),
    ("/agentd.v1.TurnService/SubmitMessage", Scope::Chat),
    ("/agentd.v1.TurnService/WithdrawMessage", Scope::Chat),
    ("/agentd.v1.TurnService/InterruptTurn", Scope::Chat),
    ("/agentd.v1.TurnService/AnswerQuestion", Scope::Chat),
    ("/agentd.v1.ApprovalService/ListApprovals", Scope::Read),
    ("/agentd.v1.ApprovalService/AnswerApproval", Scope::Chat),
    ("/agentd.v1.PermissionService/ListRules", Scope::Read),
    // They hold for the turns of others too.
    ("/agentd.v1.PermissionService/AddRule", Scope::Admin),
    ("/agentd.v1.PermissionService/DeleteRule", Scope::Admin),
    ("/agentd.v1.GoalService/ListGoals", Scope::Read),
    // Notes, which permit nothing; who may talk may have a model make them.
    ("/agentd.v1.GoalService/AddGoal", Scope::Chat),
    ("/agentd.v1.GoalService/FinishGoal", Scope::Chat),
    ("/agentd.v1.GoalService/DropGoal", Scope::Chat),
    ("/agentd.v1.ToolService/ListTools", Scope::Read),
    ("/agentd.v1.ToolService/GetTool", Scope::Read),
    // Who may talk may have a model do the same.
    ("/agentd.v1.ToolService/RunTool", Scope::Chat),
    ("/agentd.v1.ToolService/ListChanges", Scope::Read),
    ("/agentd.v1.EventService/Attach", Scope::Read),
    ("/agentd.v1.EventService/ListEvents", Scope::Read),
    // One's own place in a session.
    ("/agentd.v1.EventService/SetReadCursor", Scope::Read),
    ("/agentd.v1.SearchService/SearchMessages", Scope::Read),
    ("/agentd.v1.ContextService/GetContext", Scope::Read),
    ("/agentd.v1.ContextService/ExpandSummary", Scope::Read),
    // Who may talk may have the same done by talking long enough, or by saying it.
    ("/agentd.v1.ContextService/CompactContext", Scope::Chat),
    ("/agentd.v1.ContextService/PinText", Scope::Chat),
    ("/agentd.v1.ContextService/UnpinText", Scope::Chat),
    ("/agentd.v1.UsageService/GetUsage", Scope::Read),
    ("/agentd.v1.ModelService/ListModels", Scope::Read),
    ("/agentd.v1.MemoryService/ListMemories", Scope::Read),
    ("/agentd.v1.MemoryService/GetMemory", Scope::Read),
    ("/agentd.v1.MemoryService/GetMemoryStats", Scope::Read),
    ("/agentd.v1.MemoryService/ExportMemories", Scope::Read),
    // Who may talk may have a model do the same. To erase needs more.
    ("/agentd.v1.MemoryService/AddMemory", Scope::Chat),
    ("/agentd.v1.MemoryService/UpdateMemory", Scope::Chat),
    ("/agentd.v1.MemoryService/ForgetMemory", Scope::Chat),
    ("/agentd.v1.MemoryService/ConfirmMemory", Scope::Chat),
    ("/agentd.v1.MemoryService/UndoMemoryChange", Scope::Chat),
    ("/agentd.v1.MemoryService/ImportMemories", Scope::Chat),
    // Time does it anyway.
    ("/agentd.v1.MemoryService/SweepMemories", Scope::Chat),
    ("/agentd.v1.MemoryService/ConsolidateMemories", Scope::Chat),
    ("/agentd.v1.AdminService/GetStatus", Scope::Read),
    ("/agentd.v1.AdminService/Shutdown", Scope::Admin),
    ("/agentd.v1.AdminService/ReloadConfig", Scope::Admin),
    ("/agentd.v1.AdminService/BackupStore", Scope::Admin),
    ("/agentd.v1.AdminService/Upgrade", Scope::Admin),
    ("/agentd.v1.AccessService/CreateToken", Scope::Admin),
    ("/agentd.v1.AccessService/ListTokens", Scope::Admin),
    ("/agentd.v1.AccessService/RevokeToken", Scope::Admin),
    ("/agentd.v1.DiagnosticsService/RunChecks", Scope::Admin),
    ("/agentd.v1.SandboxService/GetSandbox", Scope::Read),
    // It runs programs.
    ("/agentd.v1.SandboxService/TestSandbox", Scope::Admin),
    // Logs tell what others do.
    ("/agentd.v1.DiagnosticsService/TailLogs", Scope::Admin),
    ("/grpc.health.v1.Health/Check", Scope::Read),
    ("/grpc.health.v1.Health/Watch", Scope::Read),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Scope::Read),
];

/// The scope that a call of `path` needs; none: there is no such method.
pub(super) fn scope_of(path: &str) -> Option<Scope> {
    SCOPES.iter().find(|(known, _)| *known == path).map(|(_, scope)| *scope)
}

/// All of the table, for tests of the whole.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = (&'static str, Scope)> {
    SCOPES.iter().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost::Message as _;
    use prost_types::FileDescriptorSet;

    use super::*;

    fn methods(descriptors: &[u8]) -> BTreeSet<String> {
        let set = FileDescriptorSet::decode(descriptors).unwrap();
        let mut found = BTreeSet::new();
        for file in &set.file {
            for service in &file.service {
                for method in &service.method {
                    let (service, method) = (service.name(), method.name());
                    found.insert(format!("/{}.{service}/{method}", file.package()));
                }
            }
        }
        found
    }

    #[test]
    fn every_method_has_a_scope_and_every_scope_a_method() {
        let mut methods = methods(agentd_proto::FILE_DESCRIPTOR_SET);
        methods.extend(self::methods(tonic_health::pb::FILE_DESCRIPTOR_SET));
        methods.extend(self::methods(tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET));
        let table: BTreeSet<String> = all().map(|(path, _)| path.to_owned()).collect();
        assert_eq!(table, methods);
        assert_eq!(table.len(), SCOPES.len(), "a method has two lines");
    }

    #[test]
    fn what_ends_or_opens_the_daemon_is_for_admins() {
        for path in ["AdminService/Shutdown", "AccessService/CreateToken"] {
            assert_eq!(scope_of(&format!("/agentd.v1.{path}")), Some(Scope::Admin));
        }
        assert_eq!(scope_of("/agentd.v1.AdminService/Nonsense"), None);
    }
}

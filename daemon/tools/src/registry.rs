//! All tools by name, and the checks before a call.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, SessionId, ToolResult, ToolSpec, cut_line};
use futures_util::future::join_all;
use serde_json::Value;

use crate::catalogue::{CALL_TOOL, CallTool, FIND_TOOLS, FindTools, Inner};
use crate::fs::{
    FileChanges, NetDiff, Protected, WorkspaceDocument, first_document, net_diffs, sha256,
};
use crate::nearest::{did_you_mean, nearest};
use crate::old_names::{self, Meaning};
use crate::{BuiltinSettings, Rank, Tool, ToolContext, arguments, builtin, schema};

/// How many names are suggested for a wrong one.
const SUGGESTIONS: usize = 2;

/// How much of a wrong name is shown, in characters.
const MAX_NAME: usize = 64;

/// The tools of a daemon.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// Other names, and whose they are.
    aliases: BTreeMap<&'static str, String>,
    /// Paths that file tools refuse.
    protected: Protected,
    /// Tools that this daemon does not have, and why.
    missing: BTreeMap<&'static str, String>,
}

/// Why a tool was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There is one with this name.
    #[error("there are two tools named '{0}'")]
    Duplicate(String),
    /// The name is not one that providers take.
    #[error("'{0}' is not a name for a tool: use 1 to 64 letters, digits, '_' or '-'")]
    Name(String),
}

/// A call of a tool by its own name.
#[derive(Debug, Clone)]
pub struct ResolvedCall<'a> {
    /// The tool.
    pub tool: &'a Arc<dyn Tool>,
    /// Its arguments as JSON text.
    pub arguments_json: Cow<'a, str>,
}

impl ResolvedCall<'_> {
    /// Converts the arguments to the schema.
    ///
    /// # Errors
    /// The result to give the model, when they do not fit.
    pub fn prepare(&self) -> Result<PreparedCall, ToolResult> {
        let spec = self.tool.spec();
        let arguments = arguments::prepare(spec, &self.arguments_json).map_err(|mut refused| {
            if self.tool.rank() == Rank::Second {
                // No request has told the model what they should be.
                refused.output += "\nThey are: ";
                refused.output += &spec.parameters.to_string();
            }
            refused
        })?;
        Ok(PreparedCall { tool: Arc::clone(self.tool), capabilities: spec.capabilities, arguments })
    }
}

/// A call whose arguments passed the schema.
#[derive(Debug, Clone)]
pub struct PreparedCall {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// What it may do, and how it may be run.
    pub capabilities: Capabilities,
    /// The converted arguments.
    pub arguments: Value,
}

impl PreparedCall {
    /// Says what the call will do.
    ///
    /// # Errors
    /// The result of the call, when it is clear already that it cannot be carried out.
    pub async fn plan(&self, ctx: &ToolContext) -> Result<Action, ToolResult> {
        self.tool.plan(ctx, &self.arguments).await
    }

    /// Names this call with what it will do: another tool, other arguments or another action have
    /// another one. SHA-256 in hex.
    pub fn fingerprint(&self, action: &Action) -> String {
        let name = &self.tool.spec().name;
        sha256(serde_json::json!([name, self.arguments, action]).to_string().as_bytes())
    }
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// The built-in tools with the usual settings.
    pub fn builtin() -> Self {
        Self::builtin_with(BuiltinSettings::default())
    }

    /// The built-in tools, of which those that open files refuse everything under `private`.
    pub fn builtin_keeping_private(private: Vec<PathBuf>) -> Self {
        Self::builtin_with(BuiltinSettings { private, ..BuiltinSettings::default() })
    }

    /// The built-in tools. A daemon names its own configuration and data as private.
    pub fn builtin_with(settings: BuiltinSettings) -> Self {
        let protected = Protected::new(settings.private.clone());
        let mut registry = Self { protected, ..Self::new() };
        for tool in builtin::tools(settings) {
            if let Err(error) = registry.register(tool) {
                // A test registers each of them.
                tracing::error!(%error, "a built-in tool is left out");
            }
        }
        registry
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// When there is one with this name.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegisterError> {
        let name = tool.spec().name.clone();
        if !is_name(&name) {
            return Err(RegisterError::Name(cut_line(&name, MAX_NAME)));
        }
        if let Some(taken) = [name.as_str()].iter().chain(tool.aliases()).find(|name| {
            [FIND_TOOLS, CALL_TOOL].contains(name)
                || self.tools.contains_key(**name)
                || self.aliases.contains_key(**name)
        }) {
            return Err(RegisterError::Duplicate((*taken).to_owned()));
        }
        self.aliases.extend(tool.aliases().iter().map(|alias| (*alias, name.clone())));
        let rank = tool.rank();
        self.tools.insert(name, tool);
        if rank == Rank::Second {
            let second = self.specs_of(Rank::Second);
            self.tools.insert(FIND_TOOLS.to_owned(), Arc::new(FindTools::among(second)));
            self.tools.insert(CALL_TOOL.to_owned(), Arc::new(CallTool::new()));
        }
        Ok(())
    }

    /// The tool of this name or alias.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).or_else(|| self.tools.get(self.aliases.get(name)?))
    }

    /// What the model should know when a turn of the session begins, each told once.
    pub fn session_notes(&self, session: SessionId) -> Vec<String> {
        self.tools.values().filter_map(|tool| tool.session_note(session)).collect()
    }

    /// Ends what a session keeps running; none: what all of them do, since the daemon stops.
    pub async fn end_session(&self, session: Option<SessionId>) {
        join_all(self.tools.values().map(|tool| tool.end_session(session))).await;
    }

    /// Descriptions of all tools, sorted by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }

    /// All tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// Says why a tool is not there, for people.
    pub fn note_missing(&mut self, name: &'static str, why: impl Into<String>) {
        self.missing.insert(name, why.into());
    }

    /// The tools that are not there, and why, by name.
    pub fn missing(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.missing.iter().map(|(name, why)| (*name, why.as_str()))
    }

    /// What the changes of a session come to, by path: from what a file held before the first of
    /// them to what it holds now. It reads files.
    ///
    /// # Errors
    /// A refusal when the workspace or the changes cannot be read.
    pub fn net_diffs(
        &self,
        workspace: &Path,
        further_roots: &Arc<[PathBuf]>,
        changes: &FileChanges,
    ) -> Result<Vec<NetDiff>, ToolResult> {
        net_diffs(workspace, &self.protected.beside(further_roots), changes)
    }

    /// Reads the first of `names` that is there in a workspace, as file tools read: at most its first
    /// MiB, of which `max_bytes` are given, head and tail. `None`: none is there.
    ///
    /// # Errors
    /// Why the first that is there is not to be read, in a sentence.
    pub async fn first_document(
        &self,
        workspace: PathBuf,
        names: Arc<[String]>,
        max_bytes: usize,
    ) -> Result<Option<WorkspaceDocument>, String> {
        if names.is_empty() {
            return Ok(None);
        }
        let protected = self.protected.clone();
        let read = tokio::task::spawn_blocking(move || {
            first_document(&workspace, &protected, &names, max_bytes)
        });
        match read.await {
            Ok(read) => read.map_err(|refused| refused.output),
            Err(error) => Err(format!("reading it broke off: {error}")),
        }
    }

    /// True for a directory, without links, in which file tools open nothing.
    pub fn keeps_private(&self, directory: &Path) -> bool {
        self.protected.keeps(directory)
    }

    /// What each request tells the model, sorted by name: the tools of the first rank, as short as
    /// they can be told. It changes only when a tool is registered.
    pub fn offered(&self) -> Vec<ToolSpec> {
        let mut offered = self.specs_of(Rank::First);
        for spec in &mut offered {
            spec.parameters = schema::told(&spec.parameters);
        }
        offered
    }

    fn specs_of(&self, rank: Rank) -> Vec<ToolSpec> {
        let tools = self.tools.values().filter(|tool| tool.rank() == rank);
        tools.map(|tool| tool.spec().clone()).collect()
    }

    /// Finds the tool that a call means: by its name, an alias, a name that such tools have elsewhere,
    /// or through `call_tool`.
    ///
    /// # Errors
    /// The result to give the model: unknown tool, or arguments from which it is not clear.
    pub fn resolve<'a>(
        &'a self,
        name: &str,
        arguments_json: &'a str,
    ) -> Result<ResolvedCall<'a>, ToolResult> {
        let tool = match self.tools.get(name) {
            Some(tool) if tool.spec().name == CALL_TOOL => tool,
            _ => return self.resolve_name(name, Cow::Borrowed(arguments_json)),
        };
        let Inner { name, arguments_json } = CallTool::inner(tool.as_ref(), arguments_json)?;
        self.resolve_name(&name, Cow::Owned(arguments_json))
    }

    fn resolve_name<'a>(
        &'a self,
        name: &str,
        arguments_json: Cow<'a, str>,
    ) -> Result<ResolvedCall<'a>, ToolResult> {
        let meaning = if self.tools.contains_key(name) { None } else { old_names::meaning(name) };
        let (tool, arguments_json) = match meaning {
            None => (self.known(name)?, arguments_json),
            Some(Meaning::Is(tool)) => (self.known(tool)?, arguments_json),
            Some(Meaning::Depends(shape)) => {
                let mut fields = arguments::fields(&arguments_json)?;
                let tool = shape(&mut fields).map_err(|instead| gone(name, &instead))?;
                (self.known(tool)?, Cow::Owned(Value::Object(fields).to_string()))
            }
            Some(Meaning::Nothing(instead)) => return Err(gone(name, instead)),
        };
        let arguments_json = old_names::renamed(tool.spec(), arguments_json);
        Ok(ResolvedCall { tool, arguments_json })
    }

    /// Finds the tool and converts the arguments to its schema.
    ///
    /// # Errors
    /// The result to give the model: unknown tool, or arguments that do not fit.
    pub fn prepare(&self, name: &str, arguments_json: &str) -> Result<PreparedCall, ToolResult> {
        self.resolve(name, arguments_json)?.prepare()
    }

    fn known(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolResult> {
        self.find(name).ok_or_else(|| {
            let near = nearest(name, self.tools.keys().map(String::as_str), SUGGESTIONS);
            let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            ToolResult::fatal(
                "UNKNOWN_TOOL",
                format!(
                    "There is no tool '{}'{} The tools are: {}.",
                    cut_line(name, MAX_NAME),
                    if near.is_empty() { ".".to_owned() } else { did_you_mean(&near) },
                    names.join(", ")
                ),
            )
        })
    }
}

/// The result of a call by a name that means no tool, or not with these arguments.
fn gone(name: &str, instead: &str) -> ToolResult {
    ToolResult::fatal("UNKNOWN_TOOL", format!("There is no tool '{name}': {instead}."))
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_built_in_tool_is_registered_under_a_name_of_its_own() {
        let names: Vec<String> =
            Registry::builtin().specs().into_iter().map(|spec| spec.name).collect();
        assert_eq!(
            names,
            [
                "apply_patch",
                "ask_user",
                "calculator",
                "call_tool",
                "date_math",
                "edit_file",
                "fetch_url",
                "find_tools",
                "glob_files",
                "grep_files",
                "hash_file",
                "history_query",
                "ip_location",
                "list_archive",
                "list_dir",
                "lunar_date",
                "manage_goals",
                "manage_memory",
                "manage_plan",
                "manage_todo_list",
                "notify",
                "os_info",
                "query_packages",
                "query_sqlite",
                "read_file",
                "recall_output",
                "search_web",
                "text_length",
                "time",
                "undo_edit",
                "view_image",
                "weather",
                "write_file"
            ]
        );
        // Two more lead to those that requests do not describe.
        assert_eq!(builtin::tools(BuiltinSettings::default()).len() + 2, names.len());
    }

    #[test]
    fn a_second_tool_of_the_same_name_is_refused() {
        let mut registry = Registry::builtin();
        for tool in builtin::tools(BuiltinSettings::default()) {
            let name = tool.spec().name.clone();
            assert_eq!(registry.register(tool), Err(RegisterError::Duplicate(name)));
        }
    }

    #[test]
    fn requests_describe_the_first_rank_only_and_every_other_tool_can_be_called() {
        let registry = Registry::builtin();
        let offered: Vec<String> = registry.offered().into_iter().map(|spec| spec.name).collect();
        assert!(offered.is_sorted());
        for (name, tool) in &registry.tools {
            assert_eq!(offered.contains(name), tool.rank() == Rank::First, "{name}");
            let call = json!({ "name": name }).to_string();
            let resolved = registry.resolve(CALL_TOOL, &call);
            assert_eq!(
                resolved.map(|call| call.tool.spec().name.clone()).ok(),
                (name != CALL_TOOL).then(|| name.clone())
            );
        }
    }

    #[test]
    fn a_call_through_call_tool_is_a_call_of_the_real_tool() {
        let registry = Registry::builtin();
        let resolve = |arguments: &str| {
            let call = registry.resolve(CALL_TOOL, arguments)?;
            Ok((call.tool.spec().name.clone(), call.arguments_json.into_owned()))
        };
        let check = |arguments: &str, name: &str, inner: &str| {
            let expect = (name.to_owned(), inner.to_owned());
            assert_eq!(resolve(arguments), Ok::<_, ToolResult>(expect), "{arguments}");
        };
        let inner = r#"{"path":"a"}"#;
        check(r#"{"name":"hash_file","arguments":{"path":"a"}}"#, "hash_file", inner);
        check(r#"{"name":"hash_file","arguments":"{\"path\":\"a\"}"}"#, "hash_file", inner);
        check(r#"{"name":"toolkit_os_info"}"#, "os_info", "{}");
        check(r#"{"name":"os_info","arguments":null}"#, "os_info", "{}");
        let refused = |arguments: &str| resolve(arguments).expect_err(arguments);
        assert_eq!(refused(r#"{"name":"hash_fil"}"#).error_code, "UNKNOWN_TOOL");
        assert!(refused(r#"{"name":"hash_fil"}"#).output.contains("'hash_file'"));
        for wrong in ["{}", "[]", r#"{"name":"call_tool"}"#, r#"{"name":"time","timezone":"UTC"}"#]
        {
            assert_eq!(refused(wrong).error_code, "TOOL_ARGUMENT_VALIDATION_FAILED", "{wrong}");
        }
    }

    #[test]
    fn wrong_arguments_of_a_tool_that_no_request_describes_are_answered_with_its_schema() {
        let registry = Registry::builtin();
        let call = r#"{"name":"hash_file","arguments":{"file":"a"}}"#;
        let refused = registry.prepare(CALL_TOOL, call).expect_err("a wrong field");
        assert!(refused.output.contains("there is no such field"), "{refused:?}");
        assert!(refused.output.contains(r#""algorithm":{"#), "{refused:?}");
        let refused = registry.prepare("read_file", r#"{"file":"a"}"#).expect_err("a wrong field");
        assert!(!refused.output.contains('{'), "{refused:?}");
    }

    #[test]
    fn an_unknown_tool_is_answered_with_near_names() {
        let names: Vec<String> =
            Registry::builtin().specs().into_iter().map(|spec| spec.name).collect();
        let check = |name: &str, expect: &str| {
            let refused = Registry::builtin().prepare(name, "{}").expect_err(name);
            assert_eq!(refused.error_code, "UNKNOWN_TOOL");
            assert_eq!(
                refused.output,
                format!("There is no tool {expect} The tools are: {}.", names.join(", "))
            );
        };
        check("readfile", "'readfile'; did you mean 'read_file'?");
        check("Calculator", "'Calculator'; did you mean 'calculator'?");
        check("browse", "'browse'.");
        check("", "''.");
    }
}

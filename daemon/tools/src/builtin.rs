//! The tools that every daemon has. Adding one is its file and a line here.

use std::path::PathBuf;
use std::sync::Arc;

use agentd_sandbox::Programs;

use crate::compute::{
    calculator::Calculator, date_math::DateMath, lunar_date::LunarDate, text_length::TextLength,
};
use crate::data::{
    hash_file::HashFile, list_archive::ListArchive, query_sqlite::QuerySqlite,
    view_image::ViewImage,
};
use crate::dev::check_project::CheckProject;
use crate::dialogue::{Surroundings, ask_user::AskUser, notify::Notify};
use crate::fs::{
    Protected, apply_patch::ApplyPatch, edit_file::EditFile, glob_files::GlobFiles,
    grep_files::GrepFiles, list_dir::ListDir, read_file::ReadFile, undo_edit::UndoEdit,
    write_file::WriteFile,
};
use crate::memory::{
    history_query::QueryHistory, manage_memory::ManageMemory, recall_output::RecallOutput,
};
use crate::net::{
    NetSettings, fetch_url::FetchUrl, ip_location::IpLocation, render_page::RenderPage,
    search_web::SearchWeb, weather::Weather,
};
use crate::pdf::PdfReader;
use crate::planning::{
    manage_goals::ManageGoals, manage_plan::ManagePlan, manage_todo_list::ManageTodoList,
};
use crate::process::{self, ProcessLimits, ocr_image::OcrImage};
use crate::system::{os_info::OsInfo, query_packages::QueryPackages, time::Time};
use crate::vcs::{git::GitRead, git_commit::GitCommit, user_settings};
use crate::{Tool, tool};

/// What the owner of a daemon says of its tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuiltinSettings {
    /// Paths under which file tools open nothing, wherever the workspace is.
    pub private: Vec<PathBuf>,
    /// Of the tools that read from the network.
    pub net: NetSettings,
    /// The daemon's binary, which reads documents in a process of its own; none: nothing does.
    pub helper: Option<PathBuf>,
}

/// All built-in tools.
pub(crate) fn tools(settings: BuiltinSettings) -> Vec<Arc<dyn Tool>> {
    let BuiltinSettings { private, net, helper } = settings;
    let pdf = PdfReader { helper };
    let protected = Protected::new(private);
    vec![
        tool(ApplyPatch { protected: protected.clone() }),
        tool(AskUser),
        tool(Calculator::new()),
        tool(DateMath),
        tool(EditFile { protected: protected.clone() }),
        tool(FetchUrl::new(&net.fetch, pdf.clone())),
        tool(GlobFiles { protected: protected.clone() }),
        tool(GrepFiles { protected: protected.clone() }),
        tool(HashFile { protected: protected.clone() }),
        tool(IpLocation::new(net.ip_location)),
        tool(ListArchive { protected: protected.clone() }),
        tool(ListDir { protected: protected.clone() }),
        tool(LunarDate),
        tool(ManageGoals),
        tool(ManageMemory),
        tool(ManagePlan),
        tool(ManageTodoList),
        tool(Notify { surroundings: Surroundings::of_process() }),
        tool(OsInfo),
        tool(QueryHistory),
        tool(QueryPackages { protected: protected.clone() }),
        tool(QuerySqlite { protected: protected.clone() }),
        tool(ReadFile { protected: protected.clone(), pdf }),
        tool(RecallOutput),
        tool(SearchWeb::new(net.search)),
        tool(TextLength),
        tool(Time),
        tool(UndoEdit { protected: protected.clone() }),
        tool(ViewImage { protected: protected.clone() }),
        tool(Weather::new(net.weather)),
        tool(WriteFile { protected }),
    ]
}

/// Names of [`process_tools`].
pub const PROCESS_TOOLS: [&str; 9] = [
    "check_project",
    "git",
    "git_commit",
    "job",
    "ocr_image",
    "render_page",
    "run_command",
    "run_python",
    "terminal",
];

/// The tools that run programs, for a daemon that can. Of paths under `private` they are not told.
pub fn process_tools(
    programs: &Arc<Programs>,
    limits: ProcessLimits,
    private: Vec<PathBuf>,
) -> Vec<Arc<dyn Tool>> {
    let programs = || Arc::clone(programs);
    let protected = Protected::new(private);
    let mut tools = vec![
        tool(CheckProject { programs: programs(), protected: protected.clone(), limits }),
        tool(GitCommit {
            programs: programs(),
            protected: protected.clone(),
            limits: limits.command,
            user_settings: user_settings(),
        }),
        tool(GitRead {
            programs: programs(),
            protected: protected.clone(),
            limits: limits.command,
        }),
        tool(OcrImage { programs: programs(), limits, protected }),
        tool(RenderPage { programs: programs(), limits }),
    ];
    tools.extend(process::tools(&programs(), limits));
    tools
}

#[cfg(test)]
mod tests {
    use agentd_sandbox::{AllowList, Choice, Policy};

    use super::*;
    use crate::Registry;
    use crate::old_names::is_old;

    fn all() -> Vec<Arc<dyn Tool>> {
        let policy = Policy {
            helper: PathBuf::new(),
            readable: Vec::new(),
            hidden: Vec::new(),
            path: None,
            allow_hosts: AllowList::default(),
            container: None,
        };
        let programs = Arc::new(Programs::new(Choice::Auto, policy));
        process_tools(&programs, ProcessLimits::default(), Vec::new())
    }

    #[test]
    fn the_tools_that_run_programs_are_those_that_are_named() {
        let mut names: Vec<String> = all().iter().map(|tool| tool.spec().name.clone()).collect();
        names.sort_unstable();
        assert_eq!(names, PROCESS_TOOLS);
    }

    #[test]
    fn no_old_name_is_an_alias_too() {
        let mut registry = Registry::builtin();
        for tool in all() {
            for alias in tool.aliases() {
                assert!(!is_old(alias), "{alias}");
            }
            registry.register(tool).unwrap();
        }
    }
}

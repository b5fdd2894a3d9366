//! Calls that may not run.

use std::sync::Arc;

use agentd_domain::{EventBody, PermissionMode, ToolCallFinished, ToolEffect};

use crate::tools::{Behaviour, Probe};
use crate::world::{Step, Terminal, World};

/// Error code and output of each result.
fn results(terminal: &Terminal) -> Vec<(String, String)> {
    terminal
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolCallFinished(ToolCallFinished { error_code, output, .. }) => {
                Some((error_code.clone(), output.clone()))
            }
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_not_permitted_does_not_run() {
    for (mode, because) in [
        (PermissionMode::Ask, "it may change something"),
        (PermissionMode::Plan, "the session is in mode 'plan', which changes nothing"),
    ] {
        let mut world = World::new();
        world.configure(|config| config.permission_mode = mode);
        let read = Probe::new("read", ToolEffect::WorkspaceRead, Behaviour::Say("seen"));
        world.tools.register(Arc::new(read)).unwrap();
        let probe = Probe::new("probe", ToolEffect::Exclusive, Behaviour::Say("done"));
        let probe = Arc::new(probe);
        world.tools.register(Arc::<Probe>::clone(&probe)).unwrap();
        let engine = world.engine();
        let id = world.session(&engine).await;
        world.script(vec![Step::Call(vec![("read", "{}"), ("probe", "{}")])]);
        world.send(&engine, id, "go").await;
        let mut terminal = Terminal::attach(&engine, id, "ann").await;
        terminal.until_kind("turn_completed", 1).await;
        let [(none, seen), (code, output)] = &results(&terminal)[..] else { panic!() };
        assert_eq!((none.as_str(), seen.as_str()), ("", "seen"));
        assert_eq!(code, "PERMISSION_DENIED");
        assert!(output.contains(because), "{output}");
        assert_eq!((probe.runs(), terminal.count("tool_call_started")), (0, 1));
    }
}

//! Keys and commands, from the tables that drive them.

use agentd_shared::format::Role;
use agentd_shared::input::slash::{self, Surface};

use super::State;
use super::overlay::{Body, Overlay, TextLine, TextOverlay};
use crate::input::keymap::TABLE;

impl State {
    /// Shows keys and commands.
    pub(super) fn show_help(&mut self) {
        let mut lines = vec![TextLine::of(Role::Heading, "keys")];
        for binding in TABLE {
            let keys = self.keymap.names(binding.action);
            let keys = if keys.is_empty() { "(no key)".to_owned() } else { keys };
            let about = format!("{} ({})", binding.about, binding.name);
            lines.push(TextLine::pair(&keys, 24, &about));
        }
        lines.push(TextLine::of(Role::Heading, "commands"));
        for entry in slash::offered(Surface::FullScreen) {
            lines.push(TextLine::pair(&entry.usage(), 24, entry.about));
        }
        lines.push(TextLine::of(Role::Heading, "also"));
        for (what, about) in [
            ("> TEXT", "tell the running turn"),
            ("! TEXT", "cancel the running turn, then send TEXT"),
            ("// TEXT", "a message that begins with a slash"),
            ("@FILE", "name a file of the workspace"),
            ("wheel", "scroll"),
            (
                "y a w n d",
                "answer an approval: once, in this session, in this workspace, no, no with a reason",
            ),
        ] {
            lines.push(TextLine::pair(what, 24, about));
        }
        self.overlay = Some(Overlay::Text(TextOverlay::new("help", Body::Lines(lines))));
    }
}

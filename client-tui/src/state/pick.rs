//! Lists to choose from, and what follows from a choice.

use agentd_proto::v1;
use agentd_shared::format::names::{EFFORTS, PERMISSION_MODES, WORK_MODES, names_of};
use agentd_shared::text::one_line;

use super::overlay::{Item, Overlay, Picker, Picks};
use super::{Effect, State, Tone, models};
use crate::conn::Command;
use crate::theme::Theme;

impl State {
    pub(super) fn pick_session(&mut self) -> Vec<Effect> {
        let here = self.open.as_ref().map_or("", |open| open.session_id.as_str());
        let items = self.sessions.all().iter().map(|session| {
            let title = if session.title.is_empty() { "(no title yet)" } else { &session.title };
            let state = match session.status() {
                v1::SessionStatus::Running => "running · ",
                v1::SessionStatus::Waiting => "waits for you · ",
                v1::SessionStatus::Idle | v1::SessionStatus::Unspecified => "",
            };
            Item {
                value: session.session_id.clone(),
                label: one_line(title, 200),
                detail: one_line(&format!("{state}{}", session.workspace), 200),
                is_current: session.session_id == here,
            }
        });
        let picker = Picker::new("sessions", Picks::Session, Some(items.collect()));
        self.overlay = Some(Overlay::Picker(picker));
        vec![Effect::Send(Command::ListSessions(v1::ListSessionsRequest::default()))]
    }

    pub(super) fn pick_model(&mut self) -> Vec<Effect> {
        self.overlay = Some(Overlay::Picker(Picker::new("model", Picks::Model, None)));
        self.fill_models();
        vec![Effect::Send(Command::ListModels(v1::ListModelsRequest::default()))]
    }

    /// Fills the picker of models with what is known of them.
    pub(super) fn fill_models(&mut self) {
        let Some(known) = &self.models else { return };
        let chosen = self.open.as_ref().map_or("", |open| open.transcript.model());
        let main = known.roles.iter().find(|role| role.role == "main");
        let main = main.map_or("", |role| role.model.as_str());
        let default = Item {
            value: "default".to_owned(),
            label: "default".to_owned(),
            detail: format!("the daemon's: {main}"),
            is_current: chosen.is_empty(),
        };
        let models = known.models.iter().filter(|model| model.available).map(|model| Item {
            value: model.name.clone(),
            label: one_line(&model.name, 100),
            detail: models::detail(model),
            is_current: model.name == chosen,
        });
        let items: Vec<Item> = std::iter::once(default).chain(models).collect();
        if let Some(Overlay::Picker(picker)) = &mut self.overlay
            && picker.picks == Picks::Model
            && picker.waits()
        {
            picker.fill(items);
        }
    }

    pub(super) fn pick_effort(&mut self) -> Vec<Effect> {
        let requested = self.open.as_ref().map(|open| open.transcript.effort());
        let current = models::effort_name(requested.unwrap_or_default());
        let offered = self.offered_efforts();
        let items = EFFORTS.iter().map(|(level, _)| Item {
            value: (*level).to_owned(),
            label: (*level).to_owned(),
            detail: match (*level, &offered) {
                ("default", _) => "what the model does unasked".to_owned(),
                (level, Some(offered)) if !offered.contains(&level) => {
                    "not offered by the model, which is given the nearest".to_owned()
                }
                _ => String::new(),
            },
            is_current: *level == current,
        });
        let items = items.collect();
        self.overlay = Some(Overlay::Picker(Picker::new("effort", Picks::Effort, Some(items))));
        Vec::new()
    }

    /// The levels of effort that the model is known to have.
    fn offered_efforts(&self) -> Option<Vec<&'static str>> {
        let known = self.models.as_ref()?;
        let chosen = self.open.as_ref().map_or("", |open| open.transcript.model());
        let main = known.roles.iter().find(|role| role.role == "main");
        let name = if chosen.is_empty() { &main?.model } else { chosen };
        let model = known.models.iter().find(|model| model.name == *name)?;
        Some(model.efforts().map(models::effort_name).collect())
    }

    pub(super) fn pick_mode(&mut self) -> Vec<Effect> {
        let current = self.open.as_ref().map(|open| open.transcript.permission_mode());
        let current = models::mode_name(current.unwrap_or_default());
        let about = [
            "reads and plans, changes nothing",
            "asks before it changes or runs anything",
            "changes files of the workspace unasked",
            "asks for nothing that rules do not forbid",
        ];
        let items = PERMISSION_MODES.iter().zip(about).map(|((mode, _), about)| Item {
            value: (*mode).to_owned(),
            label: (*mode).to_owned(),
            detail: about.to_owned(),
            is_current: *mode == current,
        });
        let picker = Picker::new("what it may do unasked", Picks::Mode, Some(items.collect()));
        self.overlay = Some(Overlay::Picker(picker));
        Vec::new()
    }

    pub(super) fn pick_work(&mut self) -> Vec<Effect> {
        let current = self.open.as_ref().map(|open| open.transcript.work_mode());
        let current = models::work_name(current.unwrap_or_default());
        let items = WORK_MODES.iter().map(|(work, _)| Item {
            value: (*work).to_owned(),
            label: (*work).to_owned(),
            detail: String::new(),
            is_current: *work == current,
        });
        let picker = Picker::new("what it works on", Picks::Work, Some(items.collect()));
        self.overlay = Some(Overlay::Picker(picker));
        Vec::new()
    }

    pub(super) fn pick_theme(&mut self) {
        let current = self.settings.theme.name();
        let items = Theme::NAMES.iter().map(|name| Item {
            value: (*name).to_owned(),
            label: (*name).to_owned(),
            detail: String::new(),
            is_current: *name == current,
        });
        let picker = Picker::new("theme", Picks::Theme, Some(items.collect()));
        self.overlay = Some(Overlay::Picker(picker));
    }

    /// Does what was chosen in a list, or written as an argument.
    pub(super) fn choose(&mut self, picks: Picks, value: &str) -> Vec<Effect> {
        let unset = v1::UpdateSessionRequest::default();
        match picks {
            Picks::Model => {
                // A provider may take models that it does not list: a strange one is set all the same.
                let model = if value == "default" { "" } else { value };
                if let Some(known) = &self.models
                    && !model.is_empty()
                    && !known.models.iter().any(|known| known.name == model && known.available)
                {
                    let text = format!("no endpoint lists \"{}\"", one_line(model, 40));
                    self.notices.say(Tone::Warn, &text);
                }
                self.update(v1::UpdateSessionRequest { model: Some(model.to_owned()), ..unset })
            }
            Picks::Effort => match models::effort(value) {
                Some(effort) => {
                    let effort = Some(effort.into());
                    self.update(v1::UpdateSessionRequest { effort, ..unset })
                }
                None => self.no_such("effort", value, &names_of(&EFFORTS)),
            },
            Picks::Mode => match models::mode(value) {
                Some(mode) => {
                    let permission_mode = Some(mode.into());
                    self.update(v1::UpdateSessionRequest { permission_mode, ..unset })
                }
                None => self.no_such("mode", value, &names_of(&PERMISSION_MODES)),
            },
            Picks::Work => match models::work(value) {
                Some(work) => {
                    let work_mode = Some(work.into());
                    self.update(v1::UpdateSessionRequest { work_mode, ..unset })
                }
                None => self.no_such("work mode", value, &names_of(&WORK_MODES)),
            },
            Picks::Session => self.open_session(value),
            Picks::Theme => {
                self.set_theme(value);
                Vec::new()
            }
            Picks::History => {
                self.composer.set(value);
                Vec::new()
            }
            Picks::Waiting => self.take_back(value),
        }
    }

    fn no_such(&mut self, what: &str, value: &str, known: &[&str]) -> Vec<Effect> {
        let value = one_line(value, 40);
        let text = format!("\"{value}\" is no {what}: use {}", known.join(", "));
        self.notices.say(Tone::Warn, &text);
        Vec::new()
    }

    pub(super) fn set_theme(&mut self, name: &str) {
        if let Some(theme) = Theme::named(name) {
            self.settings.theme = theme;
        } else {
            let name = one_line(name, 40);
            let names = Theme::NAMES.join(", ");
            let text = format!("there is no theme {name}; there are {names}");
            self.notices.say(Tone::Warn, &text);
        }
    }
}

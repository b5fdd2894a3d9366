//! Short texts above the status bar that go away by themselves.

use std::collections::VecDeque;

use agentd_shared::RpcError;
use agentd_shared::text::one_line;

/// Notices that wait to be shown.
const WAITING: usize = 8;
/// Ticks that one is shown.
const SHOWN: u32 = 50;
/// Columns of a notice.
const WIDTH: usize = 500;

/// How grave a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Something to know.
    Info,
    /// Something to look at.
    Warn,
    /// Something that went wrong.
    Error,
}

/// A notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// How grave.
    pub tone: Tone,
    /// One inert line.
    pub text: String,
    ticks: u32,
    /// It is true only until the connection is back.
    is_of_loss: bool,
}

/// Notices, of which the oldest is shown.
#[derive(Debug, Default)]
pub struct Notices {
    waiting: VecDeque<Notice>,
}

impl Notices {
    /// Adds a notice; the oldest goes when there are too many.
    pub fn say(&mut self, tone: Tone, text: &str) {
        self.add(tone, text, false);
    }

    /// Says that the connection is lost, until it is back.
    pub fn lost(&mut self, text: &str) {
        self.add(Tone::Warn, text, true);
    }

    /// Says that the connection is back, in place of its loss.
    pub fn restored(&mut self) {
        self.waiting.retain(|notice| !notice.is_of_loss);
        self.say(Tone::Info, "connected again");
    }

    fn add(&mut self, tone: Tone, text: &str, is_of_loss: bool) {
        if self.waiting.len() >= WAITING {
            self.waiting.pop_front();
        }
        let text = one_line(text, WIDTH);
        if self.waiting.back().is_none_or(|last| last.text != text) {
            self.waiting.push_back(Notice { tone, text, ticks: 0, is_of_loss });
        }
    }

    /// Says that something was refused, why, and what to do.
    pub fn refused(&mut self, purpose: &str, error: &RpcError) {
        let hint = error.hint.as_ref().map_or(String::new(), |hint| format!(" · {hint}"));
        self.say(Tone::Error, &format!("cannot {purpose}: {}{hint}", error.message));
    }

    /// The one that is shown.
    pub fn current(&self) -> Option<&Notice> {
        self.waiting.front()
    }

    /// Puts the one that is shown away.
    pub fn dismiss(&mut self) {
        self.waiting.pop_front();
    }

    /// Lets time pass.
    pub fn age(&mut self) {
        if let Some(notice) = self.waiting.front_mut() {
            notice.ticks += 1;
            if notice.ticks >= SHOWN {
                self.dismiss();
            }
        }
    }
}

//! Pictures: only where the model sees, and no more than it takes.

use super::Capabilities;
use super::text::join;
use crate::Message;

/// Leaves out pictures that the model does not take and says so in their place.
///
/// Beyond the limit the oldest go, in steps of half the limit, so that the cut moves rarely and the
/// prefix stays the same in between.
pub(super) fn leave_out(messages: &mut [Message], capabilities: Capabilities) {
    let most = if capabilities.vision { capabilities.max_images } else { 0 };
    let all: usize = messages.iter().map(count).sum();
    let step = (most / 2).max(1);
    let mut excess = all.saturating_sub(most).div_ceil(step).saturating_mul(step).min(all);
    for message in messages {
        if excess == 0 {
            return;
        }
        let Message::User { text, images } = message else { continue };
        let left_out = images.len().min(excess);
        if left_out == 0 {
            continue;
        }
        images.drain(..left_out);
        excess -= left_out;
        join(text, &note(left_out, capabilities.vision));
    }
}

pub(super) fn count(message: &Message) -> usize {
    match message {
        Message::User { images, .. } => images.len(),
        _ => 0,
    }
}

fn note(left_out: usize, vision: bool) -> String {
    let what =
        if left_out == 1 { "an image was".to_owned() } else { format!("{left_out} images were") };
    let why = if vision { "there are newer ones" } else { "this model sees no images" };
    format!("[{what} left out: {why}]")
}

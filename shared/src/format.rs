//! What every client shows, as styled text: answers, tool cards, changes, approvals.
//!
//! A client that has a terminal turns [`Row`]s into escape sequences or cells of a screen; nothing
//! here knows which. All text in a [`Row`] is inert: only [`Span::new`] makes one, and it cleans what
//! it is given.
//! Lines of text ([`notes`], [`plan`], [`turn`], [`approval`]) are put into rows by the client, which
//! cleans them on the way.

pub mod approval;
pub mod card;
pub mod context;
pub mod daemon;
pub mod diff;
pub mod facts;
pub mod markdown;
pub mod memory;
pub mod names;
pub mod notes;
pub mod plan;
pub mod session;
pub mod stream_text;
pub mod styled;
pub mod tools;
pub mod trace;
pub mod turn;
pub mod usage;
mod wrap;

pub use markdown::{Look, Markdown};
pub use notes::Tone;
pub use stream_text::StreamText;
pub use styled::{Colors, Ink, Role, Row, Span};
pub use wrap::{hanging_rows, prefixed_rows, quoted_rows};

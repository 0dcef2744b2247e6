//! The parts of the program that each stop shows, after `set context`.

use crate::commands::info_views;
use crate::inspect::frames;
use crate::session::Session;
use juror_view::{ContextPart, ContextView, Outcome, StopView};

/// Adds the parts that the user wants to see to a stop. A part that the program does not have here
/// is left out.
pub(crate) fn add_context(session: &mut Session, stop: &mut StopView) {
    for part in session.user.presentation.context.clone() {
        let shown = match part {
            ContextPart::Source => stop.source.is_some().then_some(Outcome::Done),
            ContextPart::Backtrace => (!stop.backtrace.is_empty()).then_some(Outcome::Done),
            ContextPart::Locals => frames::variables(session, false).ok(),
            ContextPart::Registers => info_views::registers(session, "").ok(),
            ContextPart::Monitors => info_views::session_monitors(session, "").ok(),
        };
        stop.context
            .extend(shown.map(|shown| ContextView { part, shown }));
    }
}

//! Threads that do not go on, under a schedule.

use crate::escape::safe;
use juror_view::{StandstillKind, WaitingThreadView};

/// Returns the rest of the title of a standstill.
pub fn explanation(kind: StandstillKind) -> &'static str {
    match kind {
        StandstillKind::Deadlock => "",
        StandstillKind::PartialDeadlock => "of some threads; others go on",
        StandstillKind::Endless => "within the limits of the run",
        StandstillKind::Diverged => {
            "than the one that is repeated: the program depends on more than the order of its threads"
        }
    }
}

/// Returns the threads of a standstill, a line for each.
pub fn lines(kind: StandstillKind, waiting: &[WaitingThreadView]) -> String {
    let mut text = String::new();
    for thread in waiting {
        let WaitingThreadView {
            number,
            place,
            object,
            holder,
        } = thread;
        text += &format!("thread {number}");
        if !place.is_empty() {
            text += &format!(" ({})", safe(place));
        }
        if let Some(object) = object {
            text += &format!(" waits for {}", safe(object));
        }
        if let Some(holder) = holder {
            text += &format!(", which thread {holder} has");
        }
        text.push('\n');
    }
    if text.is_empty() {
        text += explanation(kind);
    }
    text
}

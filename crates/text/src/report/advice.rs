//! What one may type next, below a stop that a person has not asked for.

use crate::escape::safe;
use crate::page::{NAME, Page};
use juror_view::{StopReason, StopView};

/// Says what to type at a stop that asks for an explanation.
pub fn write_advice(page: &mut Page, view: &StopView) {
    let mut advice: Vec<String> = Vec::new();
    match &view.source_frame {
        Some(frame) if frame.level > 1 => {
            advice.push(format!("{NAME}frame {}{NAME:#} to go there", frame.level));
        }
        _ if view.backtrace.len() > 1 => {
            advice.push(format!("{NAME}up{NAME:#} to see the caller"));
        }
        _ => {}
    }
    if let Some(pointer) = pointer_argument(view) {
        advice.push(format!("{NAME}print *{}{NAME:#}", safe(pointer)));
    }
    if let StopReason::Violation { .. } | StopReason::MonitorError { .. } = view.reason {
        advice.push(format!("{NAME}monitor{NAME:#} to see the monitor"));
    }
    advice.push(format!("{NAME}continue{NAME:#}"));
    advice.push(format!("{NAME}help{NAME:#}"));
    page.gap();
    writeln!(page, "Type {}.", advice.join(", "));
}

/// An argument of the innermost frame that is worth looking into: the slice's
/// own, or the first pointer.
fn pointer_argument(view: &StopView) -> Option<&str> {
    if view.source_frame.is_some() {
        // It is another frame that one will look into.
        return None;
    }
    let arguments = &view.backtrace.first()?.arguments;
    let mut pointers = arguments
        .iter()
        .filter(|argument| argument.type_name.ends_with('*'))
        .map(|argument| argument.name.as_str());
    let StopReason::Violation { violations } = &view.reason else {
        return pointers.next();
    };
    let sliced = |name: &&str| {
        violations
            .iter()
            .flat_map(|violation| &violation.slice)
            .any(|parameter| parameter.name == **name)
    };
    pointers.clone().find(sliced).or_else(|| pointers.next())
}

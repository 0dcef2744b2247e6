//! The suggested commands below a stop that the user did not ask for.

use crate::escape::safe;
use crate::page::{NAME, Page};
use juror_view::{StopReason, StopView};

/// Writes the suggested commands at a stop.
pub fn write_advice(page: &mut Page, view: &StopView) {
    let mut advice: Vec<String> = Vec::new();
    match &view.source_frame {
        Some(_) if view.selects_caller() => {
            advice.push(format!("{NAME}frame 0{NAME:#} for the innermost frame"));
        }
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
    match &view.reason {
        // It cannot continue.
        StopReason::CoreFile { .. } => advice.push(format!("{NAME}info threads{NAME:#}")),
        _ => advice.push(format!("{NAME}continue{NAME:#}")),
    }
    advice.push(format!("{NAME}help{NAME:#}"));
    page.gap();
    writeln!(page, "Type {}.", advice.join(", "));
}

/// Returns a pointer among the arguments of the innermost frame: a parameter of the
/// slice, or else the first one.
fn pointer_argument(view: &StopView) -> Option<&str> {
    if view.source_frame.is_some() {
        // The user will inspect another frame.
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

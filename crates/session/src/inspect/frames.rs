//! The selected frame and its variables.

use crate::inspect::source::source_of;
use crate::session::Session;
use juror_fault::CommandError;
use juror_program::locations;
use juror_program::stack::frames::Frame;
use juror_values::format::{Radix, format, pretty};
use juror_values::typed::Typed;
use juror_view::{EmptyView, FrameView, Listed, Outcome, VariableView};

/// Returns the view of a frame.
pub(crate) fn frame_view(session: &Session, level: usize, frame: &Frame) -> FrameView {
    let Some(program) = &session.processes.program else {
        return FrameView {
            level: level as u32,
            ..FrameView::default()
        };
    };
    let parameters = program
        .variables(frame)
        .into_iter()
        .filter(|(_, parameter)| *parameter);
    FrameView {
        level: level as u32,
        location: locations::location_of(program, frame),
        arguments: parameters
            .map(|(variable, _)| {
                let value = program.value_of(frame, &variable);
                variable_view(session, &variable.name, &value)
            })
            .collect(),
        inlined: frame.is_inlined(),
        tail_call: frame.is_tail_call(),
        signal: frame.is_of_signal,
        guess: frame.guess,
        cut: frame.is_cut && !frame.is_inlined(),
        evaluation: frame.called_by_juror,
        locals: None,
    }
}

pub(crate) fn variable_view(session: &Session, name: &str, value: &Typed) -> VariableView {
    let text = match &session.processes.program {
        Some(program) => format(value, program, program, Radix::Natural),
        None => String::new(),
    };
    VariableView {
        name: name.to_owned(),
        type_name: value.r#type.name(),
        value: text,
    }
}

/// `frame`, `up`, `down`
pub(crate) fn select_frame(session: &mut Session, level: usize) -> Result<Outcome, CommandError> {
    let frames = session.frames_to(level.saturating_add(1))?;
    let Some(frame) = frames.get(level).cloned() else {
        let last = frames.len().saturating_sub(1);
        return Err(CommandError::new(match frames.last() {
            Some(frame) if frame.is_cut => {
                format!("the backtrace ends at frame {last}: its caller cannot be found")
            }
            _ => format!("the outermost frame is number {last}"),
        }));
    };
    session.processes.selection.level = level;
    session.processes.selection.listed = None;
    session.processes.selection.of_caller = None;
    let view = frame_view(session, level, &frame);
    let source = source_of(session, &frame, 7);
    Ok(Outcome::Frame(Box::new(view), source))
}

/// Returns the selected frame.
pub(crate) fn selected_frame(session: &mut Session) -> Result<Frame, CommandError> {
    let level = session.processes.selection.level;
    let frames = session.frames()?;
    frames
        .get(level)
        .cloned()
        .ok_or_else(|| CommandError::new("the thread has no stack"))
}

/// `info locals`, `info args`
pub(crate) fn variables(session: &mut Session, parameters: bool) -> Result<Outcome, CommandError> {
    let frame = selected_frame(session)?;
    let program = session.running()?;
    let has_debug_info = frame
        .module
        .as_ref()
        .is_some_and(|m| m.symbols.has_debug_info());
    let mut seen = Vec::new();
    let mut views = Vec::new();
    let is_pretty = session.user.settings.is_pretty;
    for (variable, parameter) in program.variables(&frame) {
        // An inner variable hides an outer one of its name.
        if parameter != parameters || seen.contains(&variable.name) {
            continue;
        }
        seen.push(variable.name.clone());
        let mut view = variable_view(
            session,
            &variable.name,
            &program.value_of(&frame, &variable),
        );
        if is_pretty {
            view.value = pretty(&view.value);
        }
        views.push(view);
    }
    if views.is_empty() {
        return Ok(Outcome::Empty(EmptyView {
            listed: if parameters {
                Listed::Arguments
            } else {
                Listed::Locals
            },
            pattern: None,
            has_debug_info: Some(has_debug_info),
        }));
    }
    Ok(Outcome::Variables(views))
}

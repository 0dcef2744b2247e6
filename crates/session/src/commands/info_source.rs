//! `info source`: the source file of the selected frame, and what the compiler says of it.

use crate::commands::info_views;
use crate::inspect::{frames, source};
use crate::session::Session;
use juror_program::stack::frames::Frame;
use juror_view::Outcome;
use juror_view::error::CommandError;
use std::path::Path;

/// `info source`
pub(crate) fn source_info(session: &mut Session) -> Result<Outcome, CommandError> {
    let Outcome::Message(place) = info_views::line_info(session, true)? else {
        return Err(CommandError::new("the place of the frame is not known"));
    };
    let frame = frames::selected_frame(session)?;
    let mut lines = vec![place];
    if let Some((file, line, _)) = source::line_of(session, &frame) {
        lines.push(state_of_source(session, &frame, &file, line));
    }
    lines.extend(unit_lines(&frame));
    Ok(Outcome::Message(lines.join("\n")))
}

/// Whether the file is there, and is what was compiled.
fn state_of_source(session: &mut Session, frame: &Frame, file: &Path, line: u32) -> String {
    let view = source::text_around(session, frame, file, line, 1);
    let count = session.user.sources.line_count(file);
    let Some(count) = count else {
        return "the file is not there; set substitute-path FROM TO says where it is now"
            .to_owned();
    };
    let plural = if count == 1 { "" } else { "s" };
    match view.and_then(|view| view.remark) {
        Some(remark) => format!("{count} line{plural}; {remark}"),
        None => format!("{count} line{plural}"),
    }
}

/// What the compiler says of the unit that a frame stands in.
fn unit_lines(frame: &Frame) -> Vec<String> {
    let unit = frame.module.as_ref().and_then(|module| {
        let address = module.to_file(frame.lookup);
        module.symbols.unit_description(address)
    });
    let Some(unit) = unit else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    match (&unit.name, &unit.directory) {
        (Some(name), Some(directory)) => {
            lines.push(format!("compiled as {name} in {}", directory.display()));
        }
        (Some(name), None) => lines.push(format!("compiled as {name}")),
        (None, _) => {}
    }
    let language = unit.language.as_deref().unwrap_or("unknown");
    lines.push(format!("language {language}, DWARF {}", unit.dwarf_version));
    lines.extend(unit.producer.map(|it| format!("compiler {it}")));
    lines
}

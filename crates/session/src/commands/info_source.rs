//! `info source`: the source file of the selected frame, and its compilation unit.

use crate::commands::info_views;
use crate::inspect::{frames, source};
use crate::session::Session;
use juror_fault::CommandError;
use juror_program::stack::frames::Frame;
use juror_view::{CompilationUnitView, Outcome, SourceFileView};

/// `info source`
pub(crate) fn source_info(session: &mut Session) -> Result<Outcome, CommandError> {
    let line = info_views::line_of_frame(session)?;
    let frame = frames::selected_frame(session)?;
    let (line_count, remark) = match source::line_of(session, &frame) {
        Some((file, line, _)) => {
            let view = source::text_around(session, &frame, &file, line, 1);
            let remark = view.and_then(|view| view.remark);
            (session.user.sources.line_count(&file), remark)
        }
        None => (None, None),
    };
    Ok(Outcome::SourceFile(Box::new(SourceFileView {
        line,
        line_count,
        remark,
        unit: unit_of(&frame),
    })))
}

/// Returns the compilation unit of a frame's code.
fn unit_of(frame: &Frame) -> Option<CompilationUnitView> {
    let module = frame.module.as_ref()?;
    let address = module.to_file(frame.lookup);
    let unit = module.symbols.unit_description(address)?;
    Some(CompilationUnitView {
        name: unit.name.map(String::from),
        directory: unit.directory.map(|it| it.display().to_string()),
        language: unit.language,
        dwarf_version: unit.dwarf_version,
        producer: unit.producer.map(String::from),
    })
}

//! Views of machine instructions.

use crate::session::Session;
use juror_fault::CommandError;
use juror_values::format::Names as _;
use juror_view::{AssemblyLine, AssemblyView};
use std::ops::Range;

/// The limit of bytes shown at once.
pub(crate) const SIZE_MAX: u64 = 1 << 20;

/// Returns the instructions that begin in a range, with their bytes.
pub(crate) fn assembly(session: &Session, range: Range<u64>) -> Result<AssemblyView, CommandError> {
    let program = session.running()?;
    let size = (range.end - range.start).min(SIZE_MAX);
    let mut bytes = vec![0; size as usize];
    let read = program.debuggee.read_up_to(range.start, &mut bytes);
    bytes.truncate(read);
    let selected = session.processes.selection.frames.as_ref();
    let selected = selected.and_then(|frames| frames.get(session.processes.selection.level));
    let current = selected.map(|frame| frame.pc);
    let lines =
        juror_symbols::disassemble(&bytes, range.start, &|address| program.name_of(address));
    Ok(AssemblyView {
        function: None,
        lines: lines
            .into_iter()
            .map(|line| AssemblyLine {
                address: line.address,
                name: program.name_of(line.address),
                bytes: line
                    .bytes
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect(),
                text: line.text,
                current: current == Some(line.address),
                source: None,
            })
            .collect(),
        unreadable: ((read as u64) < size).then(|| {
            let end = range.start.wrapping_add(read as u64);
            format!("the memory at {end:#x} cannot be read")
        }),
    })
}
